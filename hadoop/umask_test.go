//go:build hadoop

package hadoop

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopUmask compares the table of TestUmask with Hadoop's class FsPermission.
func TestHadoopUmask(t *testing.T) {
	longtest.Share(t)
	path, err := clustertest.Shared(t.Context(), t).Command(t.Context(), "classpath").Output()
	must.OK(t, err)
	args, want := []string{"-cp", strings.TrimSpace(string(path)), filepath.Join("conf", "testdata", "Compare.java"), "umask"}, ""
	for _, mask := range umasks {
		args = append(args, mask.value)
		result := mask.want
		if result == "" {
			result = "refused"
		}
		want += "== " + mask.value + "\n" + result + "\n"
	}
	java := exec.CommandContext(t.Context(), "java", args...)
	java.Stderr = t.Output()
	if out, err := java.Output(); err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out, want)
	}
}
