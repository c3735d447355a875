//go:build linux && !race

package driver_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/terminal"
)

// progressLine is what the driver prints every ten seconds where stderr is no terminal.
var progressLine = regexp.MustCompile(`(?m)^driver: \[[#.]+\] .*\n`)

// TestFullDisk solves on a file system of a megabyte, with both runners. It checks that there
// is one clear error, that no partial file is taken for a complete one, and that with more
// space the run resumes to the right bytes. Mounting requires root, which CI has.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	fullDisk(t, []onFullDisk{
		{board, "--runner=inline", "100k"},
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
		{board, "--runner=inline --final=no", "80k"},
		{cyclic, "--runner=inline --keep=all", "1m"},
		{cyclic, "--runner=pipe --reducers=3", "600k"},
		{mills, "--runner=inline", "140k"},
		{mills, "--runner=inline --keep=all", "400k"},
		{mills, "--runner=pipe --reducers=3", "550k"},
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
			flags := strings.Fields(test.flags)
			small := t.TempDir()
			if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size="+test.size); err != nil {
				t.Skipf("no file system of its own can be mounted: %v", err)
			}
			defer syscall.Unmount(small, syscall.MNT_DETACH)
			dir := filepath.Join(small, "d")
			out, err := onData(board, dir, append(flags, "--yes")...).CombinedOutput()
			if err == nil {
				t.Fatal("solved on a disk that is too small")
			}
			if text := progressLine.ReplaceAllString(string(out), ""); strings.Count(text, "\n") != 1 || !strings.Contains(text, "no space left on device") && !strings.Contains(text, "No space left on device") {
				t.Errorf("want one line about the missing space, got %q", text)
			}
			for _, part := range []string{"final", "table"} {
				if _, err := os.Stat(filepath.Join(dir, part, "_SUCCESS")); err == nil {
					t.Errorf("%s is marked as whole", part)
				}
			}
			if out := must.Get(onData([]string{"status"}, dir).Output())(t); !strings.Contains(string(out), ": failed\nerror: ") {
				t.Errorf("status: %s", out)
			}
			must.OK(t, syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
			drive(t, board, dir, append(flags, "--yes", "--resume", "--final=yes")...)
			same(t, dir, plain)
		})
	}
}

// TestFullDiskFinal solves a board on a file system with enough space for the table, but not for
// final: the driver must say so before it starts and when final fails, also in the status, and end the run without it.
func TestFullDiskFinal(t *testing.T) {
	t.Parallel()
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("no file system of its own can be mounted: %v", err)
	}
	defer syscall.Unmount(small, syscall.MNT_DETACH)
	dir := filepath.Join(small, "d")
	for _, test := range []struct{ flags, fails string }{
		{"", " MB are available in " + dir + "; --final no needs "},
		{"--yes", "final-*/part-00000: no space left on device: the table is complete; --resume --final no ends without this text"},
		{"--resume", "; --final no needs "},
		{"--resume --final no", ""},
	} {
		out, err := onData([]string{"solve", "connectn", "--width=4", "--height=4", "--connect=4"}, dir, strings.Fields(test.flags)...).CombinedOutput()
		text := regexp.MustCompile(`final-[0-9a-f]+`).ReplaceAllString(string(out), "final-*")
		if (err != nil) != (test.fails != "") || !strings.Contains(text, test.fails) {
			t.Errorf("%q: %v: %s, want %q", test.flags, err, text, test.fails)
		}
		status, _ := onData([]string{"status"}, dir).Output()
		if failed := strings.Contains(string(status), ": failed\nerror: final: "); failed != (test.flags == "--yes" || test.flags == "--resume") {
			t.Errorf("after %q: %s", test.flags, status)
		}
	}
}

// TestDiskAsk checks that, at a terminal, the driver asks before it starts a run for which the
// disk may be too small. An empty answer is no, and Ctrl-C is a valid one.
func TestDiskAsk(t *testing.T) {
	for answer, want := range map[string]int{"no\r": 1, "\r": 1, "\x03": 130} {
		dir := t.TempDir()
		term := terminal.Start(t, dir, "driver solve connectn --width 8 --height 6 --connect 4 --memory 70G --data disk", 200, 40)
		term.Shows(`TB of disk space, and .*B are available in disk\. Start, yes or no\?`)
		term.Types(answer)
		term.Ends(want)
		if _, err := os.Stat(filepath.Join(dir, "disk")); err == nil {
			t.Errorf("%q: the data directory is there", answer)
		}
	}
}
