//go:build linux

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/sandbox"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestReadme runs the README's commands, and checks that it is short.
func TestReadme(t *testing.T) {
	t.Parallel()
	page := readPage(t, "README.md")
	if n := strings.Count(page, "\n"); n > 150 {
		t.Errorf("README.md has %d lines, at most 150 are allowed", n)
	}
	runPage(t, page)
}

// TestPlaying runs the commands of docs/play/playing.md.
func TestPlaying(t *testing.T) {
	t.Parallel()
	runPage(t, readPage(t, "docs/play/playing.md"))
}

// TestEngines runs the commands of docs/play/engines.md, with the page's programs.
func TestEngines(t *testing.T) {
	t.Parallel()
	page, programs := pythonPage(t, "docs/play/engines.md")
	if strings.Count(programs[0].text, "\n") > 30 {
		t.Fatal("the first engine of docs/play/engines.md has more than 30 lines")
	}
	runPage(t, page, programs...)
}

// TestSteps runs the commands of docs/steps.md, with the page's program.
func TestSteps(t *testing.T) {
	t.Parallel()
	page, programs := pythonPage(t, "docs/steps.md")
	runPage(t, page, programs...)
}

// pythonPage reads a page that contains Python programs.
func pythonPage(t *testing.T, name string) (page string, programs []file) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the programs want a python3")
	}
	page = readPage(t, name)
	for _, block := range regexp.MustCompile("(?s)```python (\\S+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		programs = append(programs, file{block[1], block[2]})
	}
	if len(programs) == 0 {
		t.Fatalf("%s has no program", name)
	}
	return page, programs
}

// TestPython runs the commands of docs/python.md, with the page's program.
func TestPython(t *testing.T) {
	t.Parallel()
	page, programs := pythonPage(t, "docs/python.md")
	runPage(t, page, programs...)
}

// TestCourses runs the commands of docs/courses.md.
func TestCourses(t *testing.T) {
	t.Parallel()
	runPage(t, readPage(t, "docs/courses.md"))
}

// TestTeaching runs the commands of docs/teaching.md.
func TestTeaching(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.New(t.Context(), sandbox.Default); err != nil {
		t.Skip(err)
	}
	must.OK(t, os.Chmod(filepath.Dir(t.TempDir()), 0o755)) // root's programs run as nobody
	runPage(t, readPage(t, "docs/teaching.md"))
}

// TestAddingAGame runs the commands of docs/adding-a-game.md, and checks that its code is in
// the files that it names.
func TestAddingAGame(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/adding-a-game.md")
	runPage(t, page)
	for _, block := range regexp.MustCompile("(?s)```go (\\S+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if !strings.Contains(readPage(t, block[1]), block[2]) {
			t.Errorf("docs/adding-a-game.md shows what is not in %s:\n%s", block[1], block[2])
		}
	}
	for _, name := range []string{"Words:", "TierUnit", "Boards", "gametest.Search", "gametest.RulesOnly(", "stream.Mapper(", "stream.Reducer"} {
		if !strings.Contains(page, name) {
			t.Errorf("docs/adding-a-game.md does not say what %s is for", name)
		}
	}
}

// A file is a file that a page's commands need.
type file struct{ name, text string }

func readPage(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("..", name)))(t))
}

// runPage runs the commands of a page in order, in a copy of the output of make build, and
// compares their output, except for times and empty lines. It skips commands that need Hadoop,
// which other tests cover. files are created first.
func runPage(t *testing.T, page string, files ...file) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o666))
	}
	for name, to := range map[string]string{bin: "bin", must.Get(filepath.Abs("../ref_out"))(t): "ref_out", must.Get(filepath.Abs("../python"))(t): "python"} {
		must.OK(t, os.Symlink(name, filepath.Join(dir, to)))
	}
	// make would build again, so proj2 is replaced by this function.
	const proj2 = `make() { shift; for v; do export "$v"; done
		bin/driver solve connectn --width ${WIDTH:-3} --height ${HEIGHT:-3} --connect ${CONNECT:-3} --replace; unset WIDTH HEIGHT CONNECT; }
		`
	timed := regexp.MustCompile(` +[0-9.]+ (s|ms|µs)\b|first move takes .*`)
	blanks := regexp.MustCompile(`  +`)
	empty := regexp.MustCompile(`\n\n+`)
	script, want := "set -e\n"+proj2, ""
	command := false
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
		case !ok:
			command = false
		case strings.HasPrefix(text, "$ make test"), strings.HasPrefix(text, "$ make build"):
		case strings.HasPrefix(text, "$ bin/play tui"): // it needs a terminal, see TestTUILost
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
	plain := func(text string) string {
		lines := strings.Split(timed.ReplaceAllString(text, " TIME"), "\n")
		for i, line := range lines[1:] {
			if strings.Contains(line, " TIME") && !strings.Contains(lines[i], " TIME") { // a heading above times is as wide as they are
				lines[i] = blanks.ReplaceAllString(lines[i], "  ")
			}
		}
		return strings.Join(lines, "\n")
	}
	got := plain(empty.ReplaceAllString(string(out), "\n"))
	want = plain(want)
	if got != want {
		t.Errorf("the commands print\n%s\nbut the page has\n%s", got, want)
	}
}
