package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the README's commands in their order, in a copy of what make
// build makes, and compares what they print. Times differ. Those that need a
// Hadoop are left to the tests that have one.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, to := range map[string]string{bin: "bin", mustAbs(t, "../ref_out"): "ref_out"} {
		if err := os.Symlink(name, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	// make would build again: its proj2 is this.
	const proj2 = `make() { shift; for v; do export "$v"; done
		bin/driver solve connectn --width ${WIDTH:-3} --height ${HEIGHT:-3} --connect ${CONNECT:-3} --overwrite; unset WIDTH HEIGHT CONNECT; }
		`
	seconds := regexp.MustCompile(`in \d+\.\d+ s`)
	script, want := "set -e\n"+proj2, ""
	command := false
	hadoop := false
	for line := range strings.Lines(string(readme)) {
		if strings.HasPrefix(line, "## ") {
			hadoop = strings.Contains(line, "Hadoop")
		}
		if hadoop {
			continue
		}
		text, ok := strings.CutPrefix(line, "    ")
		switch {
		case !ok:
			command = false
		case strings.HasPrefix(text, "$ make test"):
		case strings.HasPrefix(text, "$ "):
			command = true
			script += text[2:]
		case strings.HasPrefix(text, "> "):
			script += text[2:]
		case command:
			want += text
		}
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	got := seconds.ReplaceAllString(string(out), "in N s")
	want = seconds.ReplaceAllString(want, "in N s")
	if got != want {
		t.Errorf("the README's commands print\n%s\nbut it says\n%s", got, want)
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
