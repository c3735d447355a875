package emrtest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestInterruptedCopy presses Ctrl-C while a run waits for its copy, and checks that the copy
// stays consistent: its journal reports that the run was stopped, no driver owns it, and
// another machine can resume it to the same bytes.
func TestInterruptedCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const board = "driver-aws solve connectn --width 4 --height 3 --connect 3"
	if status, _, stderr := process.Run(command(dir, board+" --data whole")); status != 0 {
		t.Fatal(stderr)
	}
	want := must.Get(os.ReadFile(filepath.Join(dir, "whole/final/part-r-00000")))(t)
	fake := s3test.StartFake(t, "bucket")
	for name, at := range map[string]int64{"early": 5, "middle": 40, "late": 110} {
		t.Run(name, func(t *testing.T) {
			copied := " --copy s3://bucket/" + name
			held := make(chan struct{})
			var writes atomic.Int64
			fake.Set(func(r *http.Request) *faults.Fault {
				if r.Method != http.MethodGet && r.Method != http.MethodHead && writes.Add(1) == at {
					close(held)
					io.Copy(io.Discard, r.Body) // the server notices a closed connection only after the body
					<-r.Context().Done()
					return faults.Throttled // the body is lost, so the request must not be performed
				}
				return nil
			})
			run := command(dir, board+copied+" --data "+name)
			run.Env = fake.Env()
			var stderr strings.Builder
			run.Stderr = &stderr
			must.OK(t, run.Start())
			<-held
			run.Process.Signal(os.Interrupt)
			run.Wait()
			fake.Set(nil)
			// If interrupted late, the driver may have nothing left to do except copy.
			if status := process.ExitStatus(run); status != 130 || !regexp.MustCompile(`driver-aws: stopped; (the copy is incomplete: )?--resume continues\n$`).MatchString(stderr.String()) {
				t.Errorf("%s: status %d, %s", name, status, stderr.String())
			}
			if fake.Get("bucket", name+"/_owner") != nil || fake.Uploads() > 0 {
				t.Errorf("%s: left behind: %v", name, fake.Keys("bucket"))
			}
			state := command(dir, "driver-aws status s3://bucket/"+name)
			state.Env = fake.Env()
			if status, stdout, stderr := process.Run(state); status != 0 || !regexp.MustCompile(`: stopped( in | after |; )`).MatchString(stdout) { // in or after a job, or before the first one
				t.Errorf("%s: status %d, %s%s", name, status, stdout, stderr)
			}
			again := command(dir, board+copied+" --resume --data again-"+name)
			again.Env = fake.Env()
			if status, _, stderr := process.Run(again); status != 0 || !regexp.MustCompile(`: fetched \d+ director(y|ies), .* from s3://bucket/`+name+"\n").MatchString(stderr) {
				t.Errorf("%s: status %d, %s", name, status, stderr)
			}
			if got := fake.Get("bucket", name+"/final/part-r-00000"); string(got) != string(want) {
				t.Errorf("%s: the text in the copy has %d bytes, expected %d", name, len(got), len(want))
			}
		})
	}
}
