//go:build hadoop

package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopSecure uses a cluster with Kerberos as a user does: with and without a keytab. It kills
// and restarts the KDC, which then has new keys.
func TestHadoopSecure(t *testing.T) {
	longtest.Share(t)
	u := newUser(t)
	const (
		up    = "make -s cluster-up CLUSTER=$CLUSTER FREE_PORTS=1"
		login = ". $CLUSTER/env.sh && export KRB5PRINCIPAL=alice@TREEREDUCE.TEST KRB5KEYTAB=$CLUSTER/alice.keytab && "
	)
	u.wants(t, up+" SECURE=1 | tail -1", "log in:      export KRB5PRINCIPAL=alice@TREEREDUCE.TEST KRB5KEYTAB=CLUSTER/alice.keytab\n")
	stdout, stderr, code := u.does(t, "make -s cluster-status CLUSTER=$CLUSTER")
	if code != 0 || !regexp.MustCompile(`^KDC +running +\d+ +localhost:\d+\nNameNode +running `).MatchString(stdout) {
		t.Errorf("status: exit status %d\n%s%s", code, stdout, stderr)
	}
	name := regexp.MustCompile(`NameNode +running +\d+ +(\S+)`).FindStringSubmatch(stdout)
	if name == nil {
		t.Fatalf("status: no address of the name node\n%s", stdout)
	}
	answer := must.Get(http.Get(name[1] + "/webhdfs/v1/?op=LISTSTATUS&user.name=hdfs"))(t)
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("WebHDFS without a ticket: %s", answer.Status)
	}
	u.wants(t, login+`printf 'b\na\nb\n' | hadoop fs -put - in && hadoop jar $CLUSTER/bin/hadoop-streaming.jar \
		-mapper cat -reducer uniq -input in -output out >&2 && hadoop fs -cat 'out/part-*'`, "a\t\nb\t\n")
	for _, test := range []struct{ what, line, want string }{
		{"no ticket", ". $CLUSTER/env.sh && KRB5CCNAME=$CLUSTER/none hadoop fs -ls /", "Client cannot authenticate via:[TOKEN, KERBEROS]"},
		{"superuser", login + "hadoop fs -mkdir /private", "Permission denied: user="},
		{"without SECURE", up, "was formatted with Kerberos, and that cannot change"},
	} {
		if stdout, stderr, code := u.does(t, test.line); code == 0 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit status %d\n%s%s", test.what, code, stdout, stderr)
		}
	}
	if _, stderr, code := u.does(t, `kill -9 $(bin/cluster status --dir $CLUSTER | awk '/^KDC/ { print $3 }') && `+up+" SECURE=1"); code != 0 || stderr != "starting KDC\n" {
		t.Errorf("up with KDC dead: exit status %d\n%s", code, stderr)
	}
	u.wants(t, login+"hadoop fs -cat in", "b\na\nb\n")
	u.wants(t, "make -s cluster-down CLUSTER=$CLUSTER", "")
	u.wantNone(t)
}
