//go:build linux

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestLayers checks that every package is in the table of docs/design.md, and imports only
// packages that stand above it there.
func TestLayers(t *testing.T) {
	const module = "github.com/treereduce/treereduce/"
	place := make(map[string]int) // row of a package, or of a folder of packages
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\|").FindAllStringSubmatch(readPage(t, "docs/design.md"), -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			place[name[1]] = len(place) + 1
		}
	}
	placeOf := func(name string) int {
		for dir := name; ; {
			if at := place[dir]; at > 0 {
				return at
			}
			i := strings.LastIndex(strings.TrimSuffix(dir, "/…"), "/")
			if i < 0 {
				return 0
			}
			dir = dir[:i] + "/…"
		}
	}
	out := must.Get(exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../...").Output())(t)
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), module), " ")
		at := placeOf(name)
		if at == 0 && name != "cmd" {
			t.Errorf("docs/design.md has no package %s", name)
		}
		for _, path := range strings.Fields(imports) {
			if used, ok := strings.CutPrefix(path, module); ok && placeOf(used) > at {
				t.Errorf("%s imports %s, which stands below it in docs/design.md", name, used)
			}
		}
	}
}

// TestCore checks that the core imports nothing of play and cloud, in tests either.
func TestCore(t *testing.T) {
	core := strings.Fields("../cli/... ../game/... ../hadoop/... ../internal/... ../search/... ../streamfmt/... ../table/...")
	out := must.Get(exec.Command("go", append([]string{"list", "-deps", "-test"}, core...)...).Output())(t)
	if others := regexp.MustCompile(`(?m)^.*/treereduce/(play|cloud)/.*`).FindAllString(string(out), -1); others != nil {
		t.Errorf("the core imports %s", others)
	}
}

// TestPages checks that the pages of games do not contain the loop of a solve and its journal, which those of runs read.
func TestPages(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-deps", "../play/internal/web", "../play/internal/web/site").Output())(t)
	if strings.Contains(string(out), "/internal/engine/solve\n") {
		t.Error("play/internal/web imports internal/engine/solve")
	}
}

// TestDesignFiles checks that the files that docs/design.md names exist; those without a folder are of a method.
func TestDesignFiles(t *testing.T) {
	names := regexp.MustCompile("`([a-z/]+\\.go)`").FindAllStringSubmatch(readPage(t, "docs/design.md"), -1)
	for _, name := range names {
		found := false
		for _, dir := range []string{"../", "../internal/engine/", "../internal/engine/method/*/"} {
			files, err := filepath.Glob(dir + name[1])
			found = found || err == nil && len(files) > 0
		}
		if !found {
			t.Errorf("no file %s", name[1])
		}
	}
	if len(names) < 30 {
		t.Errorf("%d names", len(names))
	}
}

// TestReadmeFiles checks that the files and folders that the README's table "Where things are" names exist.
func TestReadmeFiles(t *testing.T) {
	_, section, _ := strings.Cut(readPage(t, "README.md"), "\n## Where things are\n")
	names := regexp.MustCompile("`([^`]*/[^`]*)`").FindAllStringSubmatch(section, -1)
	for _, name := range names {
		if _, err := os.Stat("../" + name[1]); err != nil {
			t.Error(err)
		}
	}
	if len(names) < 8 {
		t.Errorf("%d names", len(names))
	}
}
