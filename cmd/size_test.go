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

// TestSize checks that driver, mapper and reducer are small programs, and that only driver-aws contains the
// client of Amazon's services.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	process.Output(t, exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", dir+"/", "./driver", "./mapper", "./reducer"))
	const most = 20_000_000 // bytes
	for _, name := range []string{"driver", "mapper", "reducer"} {
		if info := must.Get(os.Stat(filepath.Join(dir, name)))(t); info.Size() > most {
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), most)
		}
	}
	out := must.Get(exec.Command("go", "list", "-deps", "./driver", "./play", "./mapper", "./reducer").Output())(t)
	if strings.Contains(string(out), "/aws") {
		t.Error("a program besides driver-aws imports the client of Amazon's services")
	}
}
