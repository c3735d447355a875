//go:build hadoop

package driver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

const (
	// beforeLimit is the time in which the driver must refuse a run that cannot succeed,
	// duringLimit the time in which it must report an error during a run.
	beforeLimit = 3 * time.Minute
	duringLimit = 15 * time.Minute
	// silentLimit is longer than the time after which driver status calls a silent run dead.
	silentLimit = 65 * time.Second
)

// A site is a cluster and the driver that uses it.
type site struct {
	*minicluster.Cluster
	fs  *hadoop.FS
	bin string
}

// TestHadoopDiagnosis makes the mistakes of users, and causes failures, on a real cluster. The
// driver must report the cause each time in one line.
func TestHadoopDiagnosis(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	defer cancel()
	s := up(ctx, t)
	before := s.applications(t)
	t.Run("before", func(t *testing.T) { testBefore(ctx, t, s) })
	if n := s.applications(t) - before; n != 0 {
		t.Errorf("%d applications were submitted by drivers that refused to begin", n)
	}
	t.Run("safe mode", func(t *testing.T) { testSafeMode(ctx, t, s) })
	t.Run("during", func(t *testing.T) {
		for name, test := range map[string]func(context.Context, *testing.T, *site){
			"status":         testStatus,
			"missing values": testMissingValues,
			"damaged block":  testDamagedBlock,
			"missing block":  testMissingBlock,
			"quota":          testQuota,
		} {
			t.Run(name, func(t *testing.T) {
				longtest.Share(t)
				t.Parallel()
				test(ctx, t, s)
			})
		}
	})
	// These stop parts of the cluster.
	t.Run("resource manager", func(t *testing.T) { testResourceManager(ctx, t, s) })
	t.Run("name node", func(t *testing.T) { testNameNode(ctx, t, s) })
}

// up returns a running cluster.
func up(ctx context.Context, t *testing.T) *site {
	t.Helper()
	c := clustertest.Shared(ctx, t)
	f, _, err := hadoop.Dial(c.DefaultFS() + "/x")
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return &site{c, f, builtPrograms(t)}
}

// builtPrograms returns a directory with the programs. A driver looks for a hadoop command next to
// itself; there is none.
func builtPrograms(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"driver", "mapper", "reducer"} {
		program, err := os.ReadFile(filepath.Join("..", "..", "bin", name)) // make test-hadoop builds it
		must.OK(t, err)
		must.OK(t, os.WriteFile(filepath.Join(bin, name), program, 0o755))
	}
	return bin
}

// driver returns the driver as a process, with additional environment variables.
func (s *site) driver(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "driver"), args...)
	cmd.Env = append(s.Env(), env...)
	return cmd
}

// solve returns the command line of a solve in a directory of HDFS, with every job on the
// cluster.
func (s *site) solve(dir string, more ...string) []string {
	return append([]string{"solve", "connectn", "--width", "4", "--height", "4", "--connect", "3",
		"--data", s.DefaultFS() + dir, "--runner", "hadoop", "--cluster-above", "0"}, more...)
}

// solveHere is solve with every job in the driver.
func (s *site) solveHere(dir string, more ...string) []string {
	return append(s.solve(dir, more...), "--cluster-above", "1000000")
}

// runs runs the driver, which must succeed, and returns its output.
func (s *site) runs(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	return process.Output(t, s.driver(ctx, nil, args...))
}

// fails runs the driver, which must fail within a time, with one line on stderr (as well as
// lines of progress) that contains
// some words. It returns the line.
func (s *site) fails(ctx context.Context, t *testing.T, limit time.Duration, words, env, args []string) string {
	t.Helper()
	return s.failed(t, s.driver(ctx, env, args...), (*exec.Cmd).Run, limit, words)
}

// journalLine is a warning of a run that is slow enough to write its journal again after the failure of HDFS that a test causes.
var journalLine = regexp.MustCompile(`(?m)^driver: journal: .*\n`)

// failed is fails for a driver that finish runs.
func (s *site) failed(t *testing.T, driver *exec.Cmd, finish func(*exec.Cmd) error, limit time.Duration, words []string) string {
	t.Helper()
	var stderr bytes.Buffer
	driver.Stderr = &stderr
	begun := time.Now()
	err := finish(driver)
	took := time.Since(begun)
	output := journalLine.ReplaceAllString(progressLine.ReplaceAllString(stderr.String(), ""), "")
	t.Logf("%.1f s: %s", took.Seconds(), strings.TrimSuffix(output, "\n"))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
	if took > limit {
		t.Errorf("it took %v, %v at most were allowed", took, limit)
	}
	if strings.Count(output, "\n") != 1 || !strings.HasPrefix(output, "driver: ") {
		t.Errorf("output %q, want one line", output)
	}
	for _, w := range words {
		if !strings.Contains(output, w) {
			t.Errorf("expected %q in %q", w, output)
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(output, "driver: "), "\n")
}

// exists reports whether a file is in HDFS.
func (s *site) exists(t *testing.T, name string) bool {
	t.Helper()
	_, err := s.fs.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// read reads a file in HDFS.
func (s *site) read(t *testing.T, name string) []byte {
	t.Helper()
	f := must.Get(s.fs.Open(name))(t)
	defer f.Close()
	return must.Get(io.ReadAll(f))(t)
}

// write writes a file in HDFS.
func (s *site) write(t *testing.T, name string, content []byte) {
	t.Helper()
	f, err := s.fs.Create(name)
	must.OK(t, err)
	_, err = f.Write(content)
	must.OK(t, errors.Join(err, f.Close()))
}

// make creates a directory in HDFS with a mode.
func (s *site) make(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	client := must.Get(hdfs.New(s.NameNode()))(t)
	defer client.Close()
	must.OK(t, errors.Join(client.MkdirAll(name, mode), client.Chmod(name, mode)))
}

// dfsadmin runs hdfs dfsadmin.
func (s *site) dfsadmin(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	process.Output(t, s.Command(ctx, append([]string{"dfsadmin"}, args...)...))
}

// applications returns the number of applications that the resource manager knows.
func (s *site) applications(t *testing.T) int {
	t.Helper()
	answer := must.Get(http.Get(s.Web(minicluster.ResourceManager) + "/ws/v1/cluster/apps"))(t)
	defer answer.Body.Close()
	var known struct {
		Apps struct{ App []json.RawMessage }
	}
	must.OK(t, json.NewDecoder(answer.Body).Decode(&known))
	return len(known.Apps.App)
}

// script writes a shell script.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.OK(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	return path
}

// held creates a directory of programs with a mapper that waits until the test ends.
func (s *site) held(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const step = "name=${0##*/}\nexec '%s/%s' ${name%%_*}\n"
	script(t, dir, "mapper", fmt.Sprintf("while [ -e '%s' ]; do sleep 0.1; done\n"+step, dir, s.bin, "mapper"))
	script(t, dir, "reducer", fmt.Sprintf(step, s.bin, "reducer"))
	return dir
}

// hadoopWith returns a hadoop command that uses another Java.
func (s *site) hadoopWith(t *testing.T, java string) string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(s.Dir(), "bin", "hadoop")))(t)
	own := regexp.MustCompile(`exec '[^']*/bin/java'`)
	if !own.Match(text) {
		t.Fatal("the script hadoop does not begin Java as it did")
	}
	return script(t, t.TempDir(), "hadoop", own.ReplaceAllString(string(text), "exec '"+java+"'"))
}

// newestJava returns a Java on this machine that is too new for Hadoop; "" if there is none.
func newestJava(t *testing.T) string {
	t.Helper()
	found := must.Get(filepath.Glob("/usr/lib/jvm/*/bin/java"))(t)
	version := regexp.MustCompile(`version "(\d+)`)
	for _, java := range found {
		out, err := exec.Command(java, "-version").CombinedOutput()
		if m := version.FindSubmatch(out); err == nil && m != nil {
			if n, err := strconv.Atoi(string(m[1])); err == nil && n >= 24 {
				return java
			}
		}
	}
	return ""
}

// oldJava prints the error of Java 8 for a Hadoop that was compiled for Java 11.
const oldJava = `echo 'Error: A JNI error has occurred, please check your installation and try again' >&2
echo 'Exception in thread "main" java.lang.UnsupportedClassVersionError: org/apache/hadoop/fs/FsShell has been compiled by a more recent version of the Java Runtime (class file version 55.0), this version of the Java Runtime only recognizes class file versions up to 52.0' >&2
echo '	at java.lang.ClassLoader.defineClass1(Native Method)' >&2
exit 1
`

// testBefore checks that runs that are known to fail are refused before anything starts.
func testBefore(ctx context.Context, t *testing.T, s *site) {
	s.make(t, "/owned", 0o755)
	s.make(t, "/owned/secret", 0o700)
	s.make(t, "/owned/open", 0o755)
	s.make(t, "/foreign", 0o755)
	s.write(t, "/foreign/notes", []byte("somebody's\n"))
	s.runs(ctx, t, s.solveHere("/begun", "--until-tier", "3")...)
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	unused := free.Addr().String()
	free.Close()
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { silent.Close() })
	web := strings.TrimPrefix(s.Web(minicluster.NameNode), "http://")
	kerberos := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(kerberos, "core-site.xml"), []byte(`<configuration>
		<property><name>hadoop.security.authentication</name><value>kerberos</value></property>
	</configuration>`), 0o644))
	other := []string{"HADOOP_USER_NAME=nobody"}
	words := func(w ...string) []string { return w }
	cases := []struct {
		name  string
		words []string
		env   []string
		args  []string
	}{
		{"no listener", words("name node "+unused, "connection refused"), nil, s.solve("/x", "--data", "hdfs://"+unused+"/x")},
		{"the listener sends nothing", words("name node "+silent.Addr().String(), "no answer from name node", "within 20s"), nil, s.solve("/x", "--data", "hdfs://"+silent.Addr().String()+"/x")},
		{"the port of its web pages", words("name node " + web), nil, s.solve("/x", "--data", "hdfs://"+web+"/x")},
		{"may not make", words("/owned/x", "permission denied to nobody"), other, s.solve("/owned/x")},
		{"may not write", words("/owned/open/_lock", "permission denied to nobody"), other, s.solve("/owned/open")},
		{"may not read", words("/owned/secret", "permission denied"), other, s.solve("/owned/secret")},
		{"begun", words("/begun", "already contains a run of this game", "--resume", "--overwrite"), nil, s.solve("/begun")},
		{"foreign", words("/foreign", "not empty, and not treereduce's"), nil, s.solve("/foreign")},
		{"no such jar", words("streaming jar", "/no/such.jar", "no such file"), nil, s.solve("/x", "--streaming-jar", "/no/such.jar")},
		{"no jar", words("no streaming jar", "HADOOP_STREAMING_JAR", "--streaming-jar"), words("HADOOP_HOME=", "PATH="), s.solve("/x", "--hadoop", filepath.Join(s.Dir(), "bin", "hadoop"))},
		{"no such hadoop", words("hadoop command /no/such", "no such file"), nil, s.solve("/x", "--hadoop", "/no/such")},
		{"no hadoop", words("no hadoop command", "PATH", "HADOOP_HOME", "--hadoop"), words("HADOOP_HOME=", "PATH="), s.solve("/x")},
		{"no Java", words("/no/such/java"), nil, s.solve("/x", "--hadoop", s.hadoopWith(t, "/no/such/java"))},
		{"old Java", words("UnsupportedClassVersionError", "wants another Java", "JAVA_HOME"), nil,
			s.solve("/x", "--hadoop", s.hadoopWith(t, script(t, t.TempDir(), "java", oldJava)))},
		{"no binaries", words("mapper", "make build", "--cluster-bin"), nil, s.solve("/x", "--cluster-bin", t.TempDir())},
		{"no name for Hadoop", words("data directory /x,y", "','"), nil, s.solve("/x,y")},
		{"Kerberos", words("Kerberos"), words("HADOOP_CONF_DIR=" + kerberos), s.solve("/x")},
	}
	if java := newestJava(t); java != "" {
		cases = append(cases, cases[0])
		last := &cases[len(cases)-1]
		last.name, last.words = "new Java", words("java.lang.UnsupportedOperationException", "wants another Java", "JAVA_HOME")
		last.args = s.solve("/x", "--hadoop", s.hadoopWith(t, java))
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s.fails(ctx, t, beforeLimit, test.words, test.env, test.args)
			if s.exists(t, "/x") || s.exists(t, "/owned/x") {
				t.Error("a data directory was made")
			}
		})
	}
}

// testSafeMode uses a name node that does not accept files yet, as after its start.
func testSafeMode(ctx context.Context, t *testing.T, s *site) {
	s.dfsadmin(ctx, t, "-safemode", "enter")
	defer s.dfsadmin(ctx, t, "-safemode", "leave")
	s.fails(ctx, t, beforeLimit, []string{"safe mode"}, nil, s.solve("/x"))
}

// testStatus reads the status of a run from another process while a job runs, kills the driver,
// and reads the status again, at once and after a long silence.
func testStatus(ctx context.Context, t *testing.T, s *site) {
	const dir = "/killed"
	cmd := s.driver(ctx, nil, s.solve(dir, "--cluster-bin", s.held(t))...)
	must.OK(t, cmd.Start())
	running := regexp.MustCompile(`: running\n\d+\.\d% done; at data_first1: possible, tier 1 of 16, map \d+%, reduce \d+%, http://\S+/proxy/application_\d+_\d+/`)
	if output := s.until(ctx, t, dir, running); output != "" {
		t.Logf("while it runs: %s", output)
	}
	must.OK(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Error("a driver that was killed ended well")
	}
	output := s.runs(ctx, t, "status", "--all", "--data", s.DefaultFS()+dir)
	if strings.Contains(output, "it was killed") {
		t.Errorf("a moment later: %s", output)
	}
	time.Sleep(silentLimit)
	output = s.runs(ctx, t, "status", "--all", "--data", s.DefaultFS()+dir)
	t.Log(output)
	if strings.Contains(output, " left\n") || !strings.Contains(output, "no update for") || !strings.Contains(output, "it was killed, or its machine failed") || !strings.Contains(output, "--resume") {
		t.Errorf("status: %s", output)
	}
}

// until reads the status of a directory until it matches form.
func (s *site) until(ctx context.Context, t *testing.T, dir string, form *regexp.Regexp) string {
	t.Helper()
	output := []byte(nil)
	for begun := time.Now(); time.Since(begun) < duringLimit; time.Sleep(200 * time.Millisecond) {
		output, _ = s.driver(ctx, nil, "status", "--all", "--data", s.DefaultFS()+dir).CombinedOutput()
		if m := form.Find(output); m != nil {
			return string(m)
		}
	}
	t.Errorf("after %v the status is %s, want %s", duringLimit, output, form)
	return ""
}

// reseal makes the seal of a directory match its files: the driver, which verifies the
// directory against its seal, must not detect the damage before a task does.
func (s *site) reseal(t *testing.T, dir, name string) {
	t.Helper()
	files, err := jobdir.SealAll(s.fs, dir+"/"+name)
	if err == nil {
		err = (&store.Seal{Game: "connectn width=4 height=4 connect=3", Job: name, Files: files}).Write(s.fs, dir+"/"+name)
	}
	must.OK(t, err)
}

// testMissingValues removes the values of all positions of a tier except one, which only a reducer can detect.
func testMissingValues(ctx context.Context, t *testing.T, s *site) {
	const dir, part = "/values", "/values/data_second6/_part-00000.pack"
	s.runs(ctx, t, s.solveHere(dir, "--keep", "all", "--final", "no")...)
	seal := must.Get(store.ReadSeal(s.fs, dir+"/table"))(t)
	removed := []string{"jobs.json", "table/" + store.Success}
	for tier := range 6 {
		seal.Files = slices.DeleteFunc(seal.Files, func(f store.SealedFile) bool { return "table/"+f.Name == table.TierFile(tier) })
		removed = append(removed, fmt.Sprintf("data_second%d", tier))
	}
	must.OK(t, seal.Replace(s.fs, dir+"/table", solve.TiersSeal))
	for _, name := range removed {
		must.OK(t, s.fs.RemoveAll(dir+"/"+name))
	}
	line, _, _ := bytes.Cut(s.read(t, dir+"/data_second6/part-00000"), []byte("\n"))
	w := blocks.NewWriter(must.Get(s.fs.Create(part))(t), must.Get(connectn.New(4, 4, 3))(t), 6)
	must.OK(t, w.Finish(w.AppendLines(bytes.NewReader(append(line, '\n')), "a position")))
	s.reseal(t, dir, "data_second6")
	s.fails(ctx, t, duringLimit, []string{"data_second5: application_", "reduce 0 on ", ": solve_reduce: ", " is not terminal, but received no message from a successor"},
		nil, s.solve(dir, "--resume", "--keep", "all", "--final", "no"))
	if s.exists(t, dir+"/data_second5") {
		t.Error("data_second5 is there")
	}
}

// testDamagedBlock damages a block of a file, for a job whose tasks run in the application
// master, and for one with tasks in containers, and reads the status of the failed runs.
func testDamagedBlock(ctx context.Context, t *testing.T, s *site) {
	const dir, part = "/block", "/block/data_first4/_part-00000.pack"
	s.runs(ctx, t, s.solveHere(dir, "--until-tier", "4", "--keep", "all", "--compress")...)
	content := s.read(t, part)
	f := must.Get(streamfmt.OpenFile(bytes.NewReader(content), int64(len(content)), part))(t)
	blocks := must.Get(f.Cells(4))(t)
	damaged := blocks[len(blocks)-2]
	var out bytes.Buffer
	w := streamfmt.NewWriter(&out, f.Spec, f.Kind, nil)
	c := f.Cursor(4, 0)
	for i, e := range blocks {
		raw := must.Get(c.Raw(e))(t)
		if e == damaged {
			raw = raw[:len(raw)/2]
		}
		e.Offset, e.Length, e.Sum = 0, uint32(len(raw)), crc32.Checksum(raw, crc32.MakeTable(crc32.Castagnoli))
		p := streamfmt.Packer{Bytes: raw, Cells: []streamfmt.Cell{e}}
		if i == 0 {
			p.Counts.Add(f.Counts)
		}
		must.OK(t, w.Append(&p))
	}
	must.OK(t, w.Close())
	s.write(t, part, out.Bytes())
	s.reseal(t, dir, "data_first4")
	for _, uber := range []bool{true, false} {
		line := s.fails(ctx, t, duringLimit, []string{"data_first5: application_", ": possible_map: " + part + ": ", fmt.Sprintf("keys from %#x", damaged.First)},
			nil, s.solve(dir, "--until-tier", "5", "--keep", "all", "--compress", "--resume", "-D", fmt.Sprintf("mapreduce.job.ubertask.enable=%v", uber)))
		if output := s.runs(ctx, t, "status", "--all", "--data", s.DefaultFS()+dir); !strings.Contains(output, ": failed\nerror: "+line+"\n") {
			t.Errorf("status: %s", output)
		}
	}
	if s.exists(t, dir+"/data_first5") {
		t.Error("data_first5 is there")
	}
}

// middles are positions after 21 moves on 4×7. The file of the next tier is larger than those that a client
// reads completely when it opens them, and most of these positions need a part that it has not read.
const middles = `100111122110302202200 113013210321313323122 222322210321311133311 223213221112323033310
	322011311103110002020 033230112023230202023 213003120130321301321 333331230203212110012
	321300120002303301113 133320030131003113101 223312232011300001110 033002332001131102013`

// testMissingBlock deletes the only replica of a tier of a table that play web serves. The
// positions that need it have an error that names the file, the others their values.
func testMissingBlock(ctx context.Context, t *testing.T, s *site) {
	const dir, tier = "/missing", "/missing/table/tier-22.pack"
	s.runs(ctx, t, "solve", "connectn", "--width", "4", "--height", "7", "--connect", "4", "--final", "no", "--data", s.DefaultFS()+dir)
	web := func() *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join("..", "..", "bin", "play"), "web", "--data", s.DefaultFS()+dir, "--listen", "127.0.0.1:0")
		cmd.Env = s.Env()
		return cmd
	}
	server := web()
	stdout := must.Get(server.StdoutPipe())(t)
	must.OK(t, server.Start())
	defer func() { server.Process.Kill(); server.Wait() }()
	address := must.Get(bufio.NewReader(stdout).ReadString('\n'))(t)
	// lost reports whether the answer is an error that names the file.
	lost := func(moves string) bool {
		t.Helper()
		answer := must.Get(http.Get(strings.TrimSpace(address) + "api/connectn/4-7-4/positions?p=" + moves))(t)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		is := answer.StatusCode == http.StatusInternalServerError && strings.Contains(string(body), tier)
		if err != nil || !is && (answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"remoteness"`)) {
			t.Errorf("moves %s: %v, status %d: %s", moves, err, answer.StatusCode, body)
		}
		return is
	}
	if lost("01") {
		t.Error("a file is lost before it is deleted")
	}

	out := process.Output(t, s.Command(ctx, "fsck", tier, "-files", "-blocks"))
	id := regexp.MustCompile(`blk_\d+`).FindString(out)
	replicas := 0
	if err := filepath.WalkDir(s.Dir(), func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(name), id) && id != "" {
			replicas++
			return os.Remove(name)
		}
		return nil // a file of the cluster that has just gone
	}); err != nil || replicas == 0 {
		t.Fatalf("%v, %d files of block %q in\n%s", err, replicas, id, out)
	}
	errs := 0
	for _, moves := range strings.Fields(middles) {
		if lost(moves) {
			errs++
		}
	}
	if errs == 0 || lost("01") {
		t.Errorf("%d positions of the lost file have an error", errs)
	}
	if out, err := web().CombinedOutput(); err == nil || bytes.Count(out, []byte("\n")) != 1 || !bytes.Contains(out, []byte(tier)) {
		t.Errorf("another server: %v: %s", err, out)
	}
}

// testQuota makes a reducer exceed a quota, which is set when the job is submitted.
func testQuota(ctx context.Context, t *testing.T, s *site) {
	const dir = "/quota"
	s.runs(ctx, t, s.solveHere(dir, "--until-tier", "4")...)
	own := filepath.Join(s.Dir(), "bin", "hadoop")
	late := script(t, t.TempDir(), "hadoop", fmt.Sprintf("if [ \"$1\" = jar ]; then '%s' dfsadmin -setSpaceQuota 1m %s || exit 1; fi\nexec '%s' \"$@\"\n", own, dir, own))
	s.fails(ctx, t, duringLimit, []string{"data_first5: application_", "reduce 0 on ", ": possible_reduce: ", "quota of " + dir},
		nil, s.solve(dir, "--resume", "--hadoop", late))
	s.recovers(ctx, t, dir)
}

// recovers clears a quota, and checks that the run can be resumed to a correct end.
func (s *site) recovers(ctx context.Context, t *testing.T, dir string, flags ...string) {
	t.Helper()
	if s.exists(t, dir+"/data_first5") {
		t.Error("data_first5 is there")
	}
	s.dfsadmin(ctx, t, "-clrSpaceQuota", dir)
	if out := s.runs(ctx, t, s.solveHere(dir, append(flags, "--resume")...)...); !strings.Contains(out, "X wins in") {
		t.Errorf("with room: %s", out)
	}
	s.runs(ctx, t, "verify", "--data", s.DefaultFS()+dir)
}

// testResourceManager kills the resource manager while a job runs, and starts another run
// without one.
func testResourceManager(ctx context.Context, t *testing.T, s *site) {
	const dir = "/no-manager"
	manager := s.Web(minicluster.ResourceManager)
	s.failed(t, s.driver(ctx, nil, s.solve(dir, "--cluster-bin", s.held(t))...), func(cmd *exec.Cmd) error {
		if err := cmd.Start(); err != nil {
			return err
		}
		s.until(ctx, t, dir, regexp.MustCompile(`: running\n.*map \d+%, reduce 0%, http://`))
		if err := s.Kill(minicluster.ResourceManager); err != nil {
			t.Error(err)
		}
		return cmd.Wait()
	}, duringLimit, []string{"data_first1: ", "resource manager " + manager, "connection refused"})
	if s.exists(t, dir+"/data_first1") {
		t.Error("data_first1 is there")
	}
	s.fails(ctx, t, beforeLimit, []string{"resource manager " + manager, "connection refused"}, nil, s.solve("/x"))
	if s.exists(t, "/x") {
		t.Error("a data directory was made")
	}
}

// testNameNode uses a name node that has been stopped.
func testNameNode(ctx context.Context, t *testing.T, s *site) {
	must.OK(t, s.Stop(ctx, minicluster.NameNode))
	for _, args := range [][]string{s.solve("/x"), {"status", "--data", s.DefaultFS() + "/line"}} {
		s.fails(ctx, t, beforeLimit, []string{"name node " + s.NameNode(), "connection refused"}, nil, args)
	}
}
