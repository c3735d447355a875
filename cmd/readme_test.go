package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the README's commands.
func TestReadme(t *testing.T) { runPage(t, readPage(t, "README.md")) }

// TestAddingAGame runs the commands of docs/adding-a-game.md, and wants its code to be
// that of the files that it names: all of the game that is its example.
func TestAddingAGame(t *testing.T) {
	const example = "game/mnk/mnk.go"
	page := readPage(t, "docs/adding-a-game.md")
	runPage(t, page)
	code := make(map[string][]string) // by file
	for _, block := range regexp.MustCompile("(?s)```go (\\S+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		code[block[1]] = append(code[block[1]], block[2])
	}
	for name, blocks := range code {
		file := readPage(t, name)
		for _, block := range blocks {
			if !strings.Contains(file, block) {
				t.Errorf("docs/adding-a-game.md shows what is not in %s:\n%s", name, block)
			}
		}
	}
	// Between two pieces is an empty line, or none.
	if got, want := strings.Join(code[example], ""), readPage(t, example); strings.ReplaceAll(got, "\n", "") != strings.ReplaceAll(want, "\n", "") {
		t.Errorf("the pieces of %s in docs/adding-a-game.md are not all of it", example)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runPage runs the commands of a page in their order, in a copy of what make
// build makes, and compares what they print. Times differ. Those that need a
// Hadoop are left to the tests that have one.
func runPage(t *testing.T, page string) {
	t.Helper()
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
	timed := regexp.MustCompile(` +[0-9.]+ (s|ms|µs)\b|first move takes .*`)
	script, want := "set -e\n"+proj2, ""
	command := false
	empty := "" // lines that are part of what is printed, if more of it follows
	hadoop := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "## ") {
			hadoop = strings.Contains(line, "Hadoop")
		}
		if hadoop {
			continue
		}
		text, ok := strings.CutPrefix(line, "    ")
		switch {
		case line == "\n":
			empty += line
			continue
		case !ok:
			command = false
		case strings.HasPrefix(text, "$ make test"):
		case strings.HasPrefix(text, "$ "):
			command = true
			script += text[2:]
		case strings.HasPrefix(text, "> "):
			script += text[2:]
		case command:
			want += empty + text
		}
		empty = ""
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	got := timed.ReplaceAllString(string(out), " TIME")
	want = timed.ReplaceAllString(want, " TIME")
	if got != want {
		t.Errorf("the commands print\n%s\nbut the page says\n%s", got, want)
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
