package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
)

// TestFullDisk solves on a file system of a megabyte, with both runners. It checks that there
// is one clear error, that no partial file is taken for a complete one, and that with more
// space the run resumes to the right bytes. Mounting requires root, which CI has.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	fullDisk(t, []onFullDisk{
		{board, "--runner=inline", "200k"},
		{board, "--runner=pipe --reducers=3", "300k"},
		{cyclic, "--runner=inline --final=no", "300k"},
	})
}

// TestLongFullDisk does the same with other flags.
func TestLongFullDisk(t *testing.T) {
	longtest.Skip(t)
	fullDisk(t, []onFullDisk{
		{board, "--runner=inline --keep=all", "1m"},
		{board, "--runner=pipe --keep=all", "1m"},
		{board, "--runner=inline --final=no", "100k"},
		{cyclic, "--runner=inline --keep=all", "1m"},
		{cyclic, "--runner=pipe --reducers=3", "600k"},
	})
}

// An onFullDisk is a run on a disk that is too small.
type onFullDisk struct {
	board       []string
	flags, size string
}

func fullDisk(t *testing.T, tests []onFullDisk) {
	for _, test := range tests {
		t.Run(test.board[1]+" "+test.flags, func(t *testing.T) {
			board := test.board
			plain := filepath.Join(t.TempDir(), "plain")
			drive(t, board, plain)
			want := result(t, plain)
			flags := strings.Fields(test.flags)
			small := t.TempDir()
			if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size="+test.size); err != nil {
				t.Skipf("no file system of its own can be mounted: %v", err)
			}
			defer syscall.Unmount(small, syscall.MNT_DETACH)
			dir := filepath.Join(small, "d")
			out, err := driver(board, dir, append(flags, "--yes")...).CombinedOutput()
			if err == nil {
				t.Fatal("solved on a disk that is too small")
			}
			if text := string(out); strings.Count(text, "\n") != 1 || !strings.Contains(text, "no space left on device") && !strings.Contains(text, "No space left on device") {
				t.Errorf("want one line about the missing space, got %q", text)
			}
			for _, part := range []string{"final", "table"} {
				if _, err := os.Stat(filepath.Join(dir, part, "_SUCCESS")); err == nil {
					t.Errorf("%s is marked as whole", part)
				}
			}
			if err := syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
				t.Fatal(err)
			}
			drive(t, board, dir, append(flags, "--yes", "--resume", "--final=yes")...)
			if got := result(t, dir); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestDiskAsk checks that, at a terminal, the driver asks before it starts a run for which the
// disk may be too small. Ctrl-C is a valid answer.
func TestDiskAsk(t *testing.T) {
	for answer, want := range map[string]int{"no\r": 1, "\x03": 130} {
		dir := t.TempDir()
		term := inTerminal(t, dir, "driver solve connectn --width 7 --height 6 --connect 4 --memory 70G --data disk", 200, 40)
		term.shows(`TB of disk space, and .*B are free in disk\. Start, yes or no\?`)
		term.types(answer)
		term.ends(want)
		if _, err := os.Stat(filepath.Join(dir, "disk")); err == nil {
			t.Errorf("%q: the data directory is there", answer)
		}
	}
}
