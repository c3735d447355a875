//go:build linux && !race

package driver_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestResultAtOnce does not read the result of a run for a while, and then reads only its first
// piece. The result must come in one write, after the lock is released, so that it does not
// matter when the reader ends, as with head -1.
func TestResultAtOnce(t *testing.T) {
	for _, line := range []string{
		"driver solve connectn --data d",
		"driver solve connectn --data d --until-tier 3",
		"driver solve quickcross --width 2 --height 3 --connect 2 --data d",
	} {
		// A full pipe whose reader gets each write separately.
		var ends [2]int
		if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC|syscall.O_DIRECT|syscall.O_NONBLOCK); err != nil {
			t.Skip(err)
		}
		pieces := 0
		for ; ; pieces++ {
			if _, err := syscall.Write(ends[1], []byte{'x'}); errors.Is(err, syscall.EAGAIN) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		for _, end := range ends {
			must.OK(t, syscall.SetNonblock(end, false))
		}
		r, w := os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe")
		defer r.Close()

		dir := t.TempDir()
		cmd := programs.Command(dir, line)
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = w, &stderr
		programs.Start(t, cmd)
		w.Close()
		status, output := -1, ""
		programs.WaitFor(t, filepath.Join(dir, "d", "jobs.json")) // it has taken the lock
		must.Until(t, func() bool {
			status, _, output = process.Run(programs.Command(dir, line+" --resume"))
			return status == 0
		}, func() string {
			return fmt.Sprintf("%s: while its result is not read, --resume: exit status %d, %s", line, status, output)
		})
		buf := make([]byte, 4096)
		n := 0
		for range pieces + 1 {
			n = must.Get(r.Read(buf))(t)
		}
		r.Close()
		cmd.Wait()
		if status := process.ExitStatus(cmd); status != 0 || stderr.Len() > 0 {
			t.Errorf("%s: exit status %d, %s", line, status, &stderr)
		}
		want := "final: d/final\n"
		if strings.Contains(line, "--until-tier") {
			want = "tier 3: 24 positions\n"
		}
		if !strings.HasSuffix(string(buf[:n]), want) {
			t.Errorf("%s: its first piece is %q, want all to %q", line, buf[:n], want)
		}
	}
}
