//go:build linux

package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestLongRelease builds the archive of this platform from two clones. The archives must be equal,
// and contain programs that run, manual pages, completions and a site.
func TestLongRelease(t *testing.T) {
	longtest.Skip(t)
	dir := t.TempDir()
	run := func(in, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = in
		return process.Output(t, cmd)
	}
	var sums []string
	for _, clone := range []string{"one", "another"} {
		run("..", "git", "clone", "-q", ".", filepath.Join(dir, clone))
		run(filepath.Join(dir, clone), "scripts/release.sh", "out", runtime.GOOS+"/"+runtime.GOARCH)
		sum := must.Get(os.ReadFile(filepath.Join(dir, clone, "out", "SHA256SUMS")))(t)
		sums = append(sums, string(sum))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}

	_, archive, _ := strings.Cut(strings.TrimSpace(sums[0]), "  ")
	out := filepath.Join(dir, "one", "out")
	run(out, "sha256sum", "-c", "SHA256SUMS")
	run(out, "tar", "xzf", archive)
	in := filepath.Join(out, strings.TrimSuffix(archive, ".tar.gz"))
	if version := run(in, "./driver", "--version"); !regexp.MustCompile(`^driver version v\d`).MatchString(version) {
		t.Errorf("driver --version: %q", version)
	}
	for _, program := range []string{"driver", "driver-aws", "play", "mapper", "reducer"} {
		if page := run(in, "cat", "man/"+program+".1"); !strings.Contains(page, ".TH "+program+" 1") {
			t.Errorf("manual page of %s: %.100q", program, page)
		}
	}
	run(in, "./play", "web", "--export", filepath.Join(out, "site"))
	if script := run(in, "bash", "-c", ". completions/driver.bash && complete -p driver"); !strings.Contains(script, "_driver_complete") {
		t.Errorf("completion: %q", script)
	}
	licences := run(in, "cat", "LICENSES")
	for _, module := range dependencies(t) {
		if !strings.Contains(licences, "=== "+module+" ") {
			t.Errorf("LICENSES: %s is missing", module)
		}
	}
}

// TestNoReplace checks that go install can build the programs, which replace directives would prevent.
func TestNoReplace(t *testing.T) {
	if mod, err := os.ReadFile(filepath.Join("..", "go.mod")); err != nil || regexp.MustCompile(`(?m)^replace\b`).Match(mod) {
		t.Errorf("go.mod has a replace directive, or cannot be read: %v", err)
	}
}

// dependencies returns the modules in the programs of a release, sorted.
func dependencies(t *testing.T) []string {
	t.Helper()
	out := must.Get(exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}",
		"./driver-aws", "./play", "./mapper", "./reducer").Output())(t)
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}
