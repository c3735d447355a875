//go:build linux

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// bin is the directory of the real commands, which the tests run as processes.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "treereduce-bin-")
		if err == nil {
			defer os.RemoveAll(dir)
			bin = filepath.Join(dir, "bin")
			err = build(bin)
			os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// build builds the commands and links the names of the steps, as make build does.
func build(dir string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", "./cmd/driver", "./cmd/driver-aws", "./cmd/play", "./cmd/mapper", "./cmd/reducer")
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	for _, name := range step.AllNames() {
		for side, binary := range map[string]string{"map": "mapper", "reduce": "reducer"} {
			if err := os.Link(filepath.Join(dir, binary), filepath.Join(dir, name+"_"+side)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestScripts runs the command lines of testdata/script, which use several commands.
func TestScripts(t *testing.T) { programs.Scripts(t) }
