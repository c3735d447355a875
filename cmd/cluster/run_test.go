package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"--help"}, exitDone, ""},
		{nil, exitUsage, "expected a command: up, down, status"},
		{[]string{"sideways"}, exitUsage, `unknown command "sideways"`},
		{[]string{"up", "--nonsense"}, exitUsage, "nonsense"},
		{[]string{"up", "now"}, exitUsage, `unexpected "now"`},
		{[]string{"status", "--dir", dir}, exitFailed, "no cluster here"},
		{[]string{"down", "--dir", dir}, exitDone, ""},
		{[]string{"up", "--dir", dir + "/a b"}, exitFailed, "Hadoop needs a path"},
	} {
		var stdout, stderr strings.Builder
		code := run(append([]string{"cluster"}, test.args...), &stdout, &stderr)
		if code != test.code || !strings.Contains(stderr.String(), test.stderr) || test.stderr == "" && stderr.Len() > 0 {
			t.Errorf("cluster %v: exit %d, stderr %q, want %d, %q", test.args, code, stderr.String(), test.code, test.stderr)
		}
	}
}
