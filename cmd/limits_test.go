package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk solves on a file system of a megabyte, with both runners: one
// clear error, nothing half-written taken for whole, and with room again the
// run goes on to the right bytes. Mounting needs root, as CI has it.
func TestFullDisk(t *testing.T) {
	for _, test := range []struct {
		board       []string
		flags, size string
	}{
		{board, "--runner=inline --keep=all", "1m"},
		{board, "--runner=pipe --keep=all", "1m"},
		{board, "--runner=inline", "200k"},
		{board, "--runner=inline --final=no", "100k"},
		{board, "--runner=pipe --reducers=3", "300k"},
		{cyclic, "--runner=inline --keep=all", "1m"},
		{cyclic, "--runner=inline --final=no", "300k"},
		{cyclic, "--runner=pipe --reducers=3", "600k"},
	} {
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
			defer syscall.Unmount(small, 0)
			dir := filepath.Join(small, "d")
			out, err := driver(board, dir, flags...).CombinedOutput()
			if err == nil {
				t.Fatal("solved on a disk that is too small")
			}
			if text := string(out); strings.Count(text, "\n") != 1 || !strings.Contains(text, "no space left on device") && !strings.Contains(text, "No space left on device") {
				t.Errorf("want one line that says that no space is left, got %q", text)
			}
			for _, part := range []string{"final", "table"} {
				if _, err := os.Stat(filepath.Join(dir, part, "_SUCCESS")); err == nil {
					t.Errorf("%s is marked as whole", part)
				}
			}
			if err := syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
				t.Fatal(err)
			}
			drive(t, board, dir, append(flags, "--resume", "--final=yes")...)
			if got := result(t, dir); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestMemory solves 5×5 connect 4 within --memory 256M: less than 320 MB of
// resident memory, and the same bytes as without.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var sums []string
	for _, flags := range [][]string{{"--memory", "256M"}, {"--memory", "4G", "--reducers", "3"}} {
		dir := filepath.Join(t.TempDir(), "d")
		cmd := exec.Command(filepath.Join(bin, "driver"), append(strings.Fields("solve connectn --width 5 --height 5 --connect 4 --final yes --data "+dir), flags...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss // kilobytes
		t.Logf("%v: %d MB", flags, peak/1000)
		if flags[1] == "256M" && peak*1024 > 320e6 {
			t.Errorf("%d kB of resident memory, want less than 320 MB", peak)
		}
		sums = append(sums, result(t, dir))
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if sums[0] != sums[1] {
		t.Error("--memory changes the result")
	}
}
