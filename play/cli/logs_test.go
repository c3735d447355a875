package play

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLogs checks that each player has a file that only its owner can read, that it is in the directory
// whatever the name of the player is, and that it is begun again unless a tournament goes on.
func TestLogs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	write := func(resume bool, text string) {
		t.Helper()
		d := must.Get(openLogs(dir, resume, t.Log))(t)
		must.Get(d.begin(2, "../a/b"))(t)([]byte(text))
	}
	name := filepath.Join(dir, "3-.._a_b.log")
	for _, tt := range []struct {
		resume     bool
		text, want string
	}{{false, "one\n", "one\n"}, {true, "two\n", "one\ntwo\n"}, {false, "three\n", "three\n"}} {
		write(tt.resume, tt.text)
		if text := must.Get(os.ReadFile(name))(t); string(text) != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
	if info := must.Get(os.Stat(name))(t); info.Mode() != 0o600 {
		t.Error(info.Mode())
	}
	if info := must.Get(os.Stat(dir))(t); info.Mode().Perm() != 0o700 {
		t.Error(info.Mode())
	}
	if _, err := openLogs(filepath.Join(name, "x"), false, t.Log); err == nil {
		t.Error("a file was taken for a directory")
	}
}
