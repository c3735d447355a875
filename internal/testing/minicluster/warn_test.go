//go:build unix

package minicluster

import (
	"strings"
	"testing"
)

// TestWarnOpen checks that a cluster whose YARN has no login is reported when it starts.
func TestWarnOpen(t *testing.T) {
	for _, test := range []struct {
		secure bool
		which  []Daemon
		want   bool
	}{
		{false, []Daemon{NameNode, ResourceManager}, true},
		{true, []Daemon{NameNode, ResourceManager}, false},
		{false, []Daemon{NameNode, DataNode}, false},
	} {
		var out strings.Builder
		warnOpen(&out, test.secure, test.which)
		if got := strings.Contains(out.String(), "SECURE=1"); got != test.want || strings.Count(out.String(), "\n") > 1 {
			t.Errorf("secure %v, %v: %q", test.secure, test.which, out.String())
		}
	}
}
