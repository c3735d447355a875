package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCounts checks that bench reports a solve that finds one position too few.
func TestCounts(t *testing.T) {
	dir := t.TempDir()
	bench := filepath.Join(dir, "bench")
	if out, err := exec.Command("go", "build", "-o", bench, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const driver = `#!/bin/sh
case "$*" in
*"--width 4 --height 5"*) n=195,472 ;;
*"--width 5 --height 4"*) n=3,945,711 ;;
*"--width 5 --height 5"*) n=69,763,700 ;;
*"--width 6 --height 5"*) n=2,818,972,641 ;;
*"--width 4 --height 4 --connect 3"*) n=28,999,497 ;;
*"--width 4 --height 4 --connect 4"*) n=42,658,929 ;;
*"--width 4 --height 3"*) n=453,831 ;;
esac
echo 'a game: a value'
echo "$n positions in 0.01 s"
`
	if err := os.WriteFile(filepath.Join(dir, "driver"), []byte(driver), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bench, "-bin", dir, "-n", "1", "-large")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
	const want = "bench: driver solve connectn --width 6 --height 5 --connect 4 --final no: expected 2,818,972,642 positions, found \"2,818,972,641\"\n"
	if stderr.String() != want {
		t.Errorf("says %q, want %q", stderr.String(), want)
	}
	if n := strings.Count(string(stdout), "\n"); n != 2+10 {
		t.Errorf("%d lines, want those of the ten boards before:\n%s", n, stdout)
	}
}
