//go:build hadoop

package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/kerberos"
	"github.com/treereduce/treereduce/internal/testing/kinit"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// ticketTime is the lifetime of tickets that are renewed.
const ticketTime = 2 * time.Minute

// home is the directory of the user.
const home = "/user/alice"

// A realm is a cluster with Kerberos, and a directory for files.
type realm struct {
	*site
	dir string
}

// upSecure starts a cluster with Kerberos. It is never the one that tests share.
func upSecure(ctx context.Context, t *testing.T, config minicluster.Config) *realm {
	t.Helper()
	config.Secure = true
	c := clustertest.Up(ctx, t, config)
	for _, v := range c.Env() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "KRB5") || name == "HADOOP_CONF_DIR" {
			t.Setenv(name, value)
		}
	}
	t.Setenv(kerberos.Keytab, c.Keytab())
	t.Setenv(kerberos.Principal, c.Principal())
	f, _, err := hadoop.Dial(c.DefaultFS() + "/x")
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	for _, name := range []string{kerberos.Keytab, kerberos.Principal} { // the processes that the test starts do not have them
		must.OK(t, os.Unsetenv(name))
	}
	return &realm{&site{c, f, builtPrograms(t)}, t.TempDir()}
}

// kinit writes a ticket cache, and returns its environment variable.
func (r *realm) kinit(t *testing.T) string {
	t.Helper()
	file := filepath.Join(r.dir, "cache")
	must.OK(t, r.save(file))
	return "KRB5CCNAME=FILE:" + file
}

// save writes a ticket cache.
func (r *realm) save(file string) error {
	return kinit.LogIn(os.Getenv("KRB5_CONFIG"), r.Keytab(), r.Principal(), file)
}

// keytab returns the options of a login with the keytab.
func (r *realm) keytab() []string {
	return []string{"--keytab", r.Keytab(), "--principal", r.Principal()}
}

// runs runs the driver with an environment variable.
func (r *realm) runs(ctx context.Context, t *testing.T, env string, args ...string) {
	t.Helper()
	process.Output(t, r.driver(ctx, []string{env}, args...))
}

// same checks that the table and the final positions in a directory of HDFS are those that inline
// writes for the game.
func (r *realm) same(ctx context.Context, t *testing.T, dir string, game ...string) {
	t.Helper()
	here := t.TempDir()
	r.runs(ctx, t, "", append(append([]string{"solve"}, game...), "--data", here)...)
	solved.SameText(t, r.fs, dir, here)
}

// TestHadoopKerberos makes the mistakes of users, and then solves a game on a cluster with Kerberos:
// forward with a keytab, and backward with a ticket cache.
func TestHadoopKerberos(t *testing.T) {
	longtest.Share(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	r := upSecure(ctx, t, minicluster.Config{})
	t.Run("refused", func(t *testing.T) { testRefused(ctx, t, r) })

	game := []string{"connectn", "--width", "2", "--height", "2", "--connect", "2"}
	solve := append(append([]string{"solve"}, game...), "--runner", "hadoop", "--data", r.DefaultFS()+home+"/both", "--cluster-above")
	r.runs(ctx, t, "", append(append(solve, "0", "--until-tier", "2"), r.keytab()...)...)
	r.runs(ctx, t, r.kinit(t), append(solve, "3", "--reducers", "1", "--resume")...) // data_first3, data_first4, data_second2 and data_second1
	r.same(ctx, t, home+"/both", game...)
	status, err := r.driver(ctx, nil, append([]string{"status", "--all", "--data", r.DefaultFS() + home + "/both"}, r.keytab()...)...).Output()
	apps := regexp.MustCompile(`application_\d+_\d+`).FindAllString(string(status), -1)
	slices.Sort(apps)
	if apps = slices.Compact(apps); err != nil || len(apps) != 6 {
		t.Errorf("%d jobs on the cluster, want 6, %v\n%s", len(apps), err, status)
	}

	web := &http.Client{Transport: r.fs.Transport(http.DefaultTransport)}
	answer := must.Get(web.Get(r.Web(minicluster.NameNode) + "/webhdfs/v1" + home + "/both?op=GETFILESTATUS"))(t)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK { // without SPNEGO: 401
		t.Errorf("WebHDFS: %s", answer.Status)
	}
}

// testRefused checks that each login that cannot succeed is reported in one line.
func testRefused(ctx context.Context, t *testing.T, r *realm) {
	krb5 := func(from, to string) string { // the krb5.conf, in which to replaces what matches from
		b := must.Get(os.ReadFile(filepath.Join(r.Dir(), "krb5.conf")))(t)
		text := regexp.MustCompile(from).ReplaceAllString(string(b), to)
		f, err := os.CreateTemp(r.dir, "krb5-")
		if err == nil {
			_, err = io.WriteString(f, text)
			f.Close()
		}
		if err != nil || text == string(b) {
			t.Fatalf("krb5.conf without %q, %v", from, err)
		}
		return "KRB5_CONFIG=" + f.Name()
	}
	closed := must.Get(net.Listen("tcp", "localhost:0"))(t)
	closed.Close()
	wrong := filepath.Join(r.dir, "wrong")
	keys := must.Get(keytab.Load(r.Keytab()))(t)
	for _, e := range keys.Entries {
		e.Key.KeyValue[0] ^= 1
	}
	b := must.Get(keys.Marshal())(t)
	must.OK(t, os.WriteFile(wrong, b, 0o600))
	conf := t.TempDir()
	hdfsSite := must.Get(os.ReadFile(filepath.Join(r.Dir(), "conf", "hdfs-site.xml")))(t)
	must.OK(t, os.CopyFS(conf, os.DirFS(filepath.Join(r.Dir(), "conf"))))
	hdfsSite = bytes.Replace(hdfsSite, []byte("<value>authentication</value>"), []byte("<value>integrity</value>"), 1)
	must.OK(t, os.WriteFile(filepath.Join(conf, "hdfs-site.xml"), hdfsSite, 0o644))
	for _, test := range []struct {
		name, want, env string
		args            []string
	}{
		{"no ticket", "no ticket: ", "KRB5CCNAME=/no/such", nil},
		{"no configuration", "no configuration: ", "KRB5_CONFIG=/no/such", r.keytab()},
		{"not in the keytab", "has no key of bob@TREEREDUCE.TEST", "", []string{"--keytab", r.Keytab(), "--principal", "bob"}},
		{"wrong realm", "has no key of alice@ELSEWHERE.TEST", "", []string{"--keytab", r.Keytab(), "--principal", "alice@ELSEWHERE.TEST"}},
		{"old key", "the key of alice@TREEREDUCE.TEST in " + wrong + " is not the one that the KDC has", "", []string{"--keytab", wrong, "--principal", r.Principal()}},
		{"no KDC", "no KDC of TREEREDUCE.TEST answers", krb5(`\bkdc = .*`, "kdc = "+closed.Addr().String()), r.keytab()},
		{"unknown realm", "krb5.conf has no KDC of the realm TREEREDUCE.TEST", krb5("TREEREDUCE.TEST = {", "ELSEWHERE.TEST = {"), r.keytab()},
		{"integrity", "treereduce cannot read with dfs.data.transfer.protection=integrity; it can with dfs.data.transfer.protection=authentication", "HADOOP_CONF_DIR=" + conf, r.keytab()},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := r.driver(ctx, []string{test.env}, append(r.solve(home+"/refused"), test.args...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("%v: %s\nwant %s", err, out, test.want)
			}
		})
	}
}

// TestLongHadoopKerberos solves a game in a run that takes longer than a ticket, with tasks in
// containers of their own, on a cluster that encrypts: with a keytab, and with a ticket cache that
// cron renews.
func TestLongHadoopKerberos(t *testing.T) {
	longtest.Skip(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	defer cancel()
	r := upSecure(ctx, t, minicluster.Config{Protection: minicluster.PrivacyAES, TicketLifetime: ticketTime})
	game := []string{"connectn", "--width", "2", "--height", "2", "--connect", "2", "--reducers", "2"}
	solve := append(append([]string{"solve"}, game...), "--runner", "hadoop", "--cluster-above", "0", "--cluster-bin", r.slowPrograms(t))
	longer := func(env, dir string, args ...string) {
		begun := time.Now()
		r.runs(ctx, t, env, append(append(solve, "--data", r.DefaultFS()+dir), args...)...)
		if took := time.Since(begun); took < ticketTime {
			t.Errorf("%s: the run took only %v", dir, took)
		}
		r.same(ctx, t, dir, game...)
	}
	longer("", home+"/keytab", r.keytab()...)
	stop, ended := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-ended }()
	env := r.kinit(t)
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(ticketTime / 4):
				if err := r.save(strings.TrimPrefix(env, "KRB5CCNAME=FILE:")); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	longer(env, home+"/cache")
}

// slowPrograms returns a directory of programs for the nodes. A map waits so long that seven jobs
// take longer than a ticket.
func (r *realm) slowPrograms(t *testing.T) string {
	dir := t.TempDir()
	for name, wait := range map[string]time.Duration{"mapper": ticketTime / 6, "reducer": 0} {
		text := fmt.Sprintf("#!/bin/bash\nsleep %v\nexec -a $0 %s\n", wait.Seconds(), filepath.Join(r.bin, name))
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	return dir
}
