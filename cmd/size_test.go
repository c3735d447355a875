//go:build linux

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestSize checks that driver is a small program, and that only driver-aws contains the client of
// Amazon's services.
func TestSize(t *testing.T) {
	const most = 14_900_000 // bytes: 4 % above the size today, because a version of Go may add some
	name := filepath.Join(t.TempDir(), "driver")
	process.Output(t, exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, "./driver"))
	if info, err := os.Stat(name); err != nil || info.Size() > most {
		t.Errorf("driver has %d bytes, %v, want at most %d", info.Size(), err, most)
	}
	out := must.Get(exec.Command("go", "list", "-deps", "./driver", "./play", "./mapper", "./reducer").Output())(t)
	if strings.Contains(string(out), "/aws") {
		t.Error("a program besides driver-aws imports the client of Amazon's services")
	}
}
