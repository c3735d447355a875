package runner

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestWait checks that for a process that died of an interrupt or termination signal, Wait
// waits until the driver has received the signal too, and for any other process only until it
// ends.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		script   string
		canceled bool // whether ctx has ended when Wait returns
	}{
		{"kill -INT $$", true},
		{"kill -TERM $$", true},
		{"kill -KILL $$", false},
		{"exit 2", false},
		{"exit 0", false},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.Command("sh", "-c", test.script)
		group := must.Get(system.Start(t.Context(), cmd))(t)
		if test.canceled {
			time.AfterFunc(time.Second, cancel)
		}
		err := Wait(ctx, cmd)
		if canceled := ctx.Err() != nil; canceled != test.canceled || (err == nil) != (test.script == "exit 0") {
			t.Errorf("%s: canceled %v, %v", test.script, canceled, err)
		}
		cancel()
		group.Kill()
	}
}
