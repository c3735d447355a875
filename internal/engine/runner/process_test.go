package runner

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// TestWait wants a process that died of a signal to stop to be waited for until
// the driver knows of that signal too, and any other one not longer than it lives.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		script string
		told   bool // at the end of Wait
	}{
		{"kill -INT $$", true},
		{"kill -TERM $$", true},
		{"kill -KILL $$", false},
		{"exit 2", false},
		{"exit 0", false},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.Command("sh", "-c", test.script)
		cmd.SysProcAttr = OwnGroup()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if test.told {
			time.AfterFunc(time.Second, cancel)
		}
		err := Wait(ctx, cmd)
		if told := ctx.Err() != nil; told != test.told || (err == nil) != (test.script == "exit 0") {
			t.Errorf("%s: told %v, %v", test.script, told, err)
		}
		cancel()
	}
}
