//go:build linux

package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/treereduce/treereduce/internal/engine/step"
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
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cmd/driver", "./cmd/driver-aws", "./cmd/play", "./cmd/mapper", "./cmd/reducer")
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

// TestScripts runs the command lines of testdata/script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"events": events},
	})
}

// events is the command events FILE of scripts: it prints the event and the job of each line of a log, which must be
// JSON.
func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("expected events FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var e struct {
			Time       time.Time
			Level, Msg string
			Job        string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time.IsZero() || e.Level == "" {
			ts.Fatalf("%s: %v: %s", args[0], err, line)
		}
		fmt.Fprintln(ts.Stdout(), strings.TrimSpace(e.Msg+" "+e.Job))
	}
}
