//go:build emr

package amazon

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestMotoCopy copies a run to a real server, reads and fetches it from there, and removes it
// with Amazon's own tool, which must find the expected files.
func TestMotoCopy(t *testing.T) {
	server := s3test.Start(t)
	s3test.Use(t, server.Env())
	aws := func(words ...string) string {
		cmd := exec.Command(filepath.Join(s3test.Bin(t), "aws"), words...)
		cmd.Env = server.Env()
		return process.Output(t, cmd)
	}
	aws("s3", "mb", "s3://bucket")
	for game, board := range boards {
		dir := filepath.Join(t.TempDir(), "data")
		there := "s3://bucket/" + game
		runs(t, "solve "+game+" "+board+" --data "+dir+" --copy "+there)
		for _, line := range []string{"stats --data DIR", "verify --data DIR", "export --data DIR", "status --data DIR"} {
			if got, want := runs(t, strings.ReplaceAll(line, "DIR", there)), runs(t, strings.ReplaceAll(line, "DIR", dir)); got != want {
				t.Errorf("%s: %s\nexpected\n%s", line, got, want)
			}
		}
		again := filepath.Join(t.TempDir(), "again")
		if status, out, stderr := runLine("solve " + game + " " + board + " --resume --data " + again + " --copy " + there); status != 0 || !strings.Contains(stderr, ": fetched ") || !strings.Contains(stderr, ", from "+there) {
			t.Errorf("status %d, %s%s", status, out, stderr)
		}
		synced := t.TempDir()
		aws("s3", "sync", there, synced)
		here, fetched := files(t, again), files(t, synced)
		if len(here) != len(fetched) {
			t.Errorf("%s: %d files here, %d there", game, len(here), len(fetched))
		}
		for name, content := range here {
			if fetched[name] != content {
				t.Errorf("%s: %s is another in the copy", game, name)
			}
		}
		aws("s3", "rm", "--recursive", there)
	}
}
