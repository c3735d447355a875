//go:build hadoop

package hadoop_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// testPaused stops a driver process at work until its lease has ended and a second driver has
// taken over and finished, and then continues it. It must exit without changing anything.
func testPaused(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	const board = "connectn --width 5 --height 4 --connect 4 --runner hadoop --data "
	first := driver(ctx, c, "solve "+board+c.DefaultFS()+"/paused")
	var said bytes.Buffer
	first.Stdout, first.Stderr = &said, &said
	must.OK(t, first.Start())
	defer first.Process.Kill()
	for {
		if _, err := f.Stat("/paused/data_second18"); err == nil {
			break
		}
		if ctx.Err() != nil || first.ProcessState != nil {
			t.Fatalf("%v: %s", ctx.Err(), said.String())
		}
		time.Sleep(time.Millisecond)
	}
	must.OK(t, first.Process.Signal(syscall.SIGSTOP))
	if _, err := f.Stat("/paused/table/" + store.Success); err == nil {
		t.Fatal("it was done before it was paused")
	}
	begun := time.Now()
	for {
		out, err := driverOn(ctx, c, "solve "+board+c.DefaultFS()+"/paused --resume")
		if err == nil {
			break
		}
		if !strings.Contains(out, store.ErrLocked.Error()) || time.Since(begun) > 10*time.Minute {
			t.Fatalf("%v: %s", err, out)
		}
		time.Sleep(time.Second)
	}
	list := func() (names string) {
		for _, dir := range []string{"/paused", "/paused/table", "/paused/final"} {
			entries, err := f.ReadDir(dir)
			must.OK(t, err)
			for _, e := range entries {
				info, err := e.Info()
				must.OK(t, err)
				switch {
				case strings.HasPrefix(e.Name(), "_attempt-"):
					continue // incomplete output of the first driver, which does not count
				case e.Name() == "table" || e.Name() == "final":
					continue // such output changes the time of its directory; its files are listed
				}
				names += e.Name() + " " + info.ModTime().String() + "\n"
			}
		}
		return names
	}
	before := list()
	must.OK(t, first.Process.Signal(syscall.SIGCONT))
	err := first.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.String(), store.ErrTakenOver.Error()) {
		t.Errorf("%v: %s", err, said.String())
	}
	if after := list(); after != before {
		t.Errorf("there was\n%s\nand is\n%s", before, after)
	}
	if out, err := driverOn(ctx, c, "verify --data "+c.DefaultFS()+"/paused"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
