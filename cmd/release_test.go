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

// TestLongRelease builds a release from two clones: the files must be equal. Each is then installed or
// unpacked, and what is in it used.
func TestLongRelease(t *testing.T) {
	longtest.SkipShare(t)
	dir := t.TempDir()
	var sums []string
	from := ".."
	for _, clone := range []string{"one", "another"} {
		in(t, from, "git", "clone", "-q", ".", filepath.Join(dir, clone))
		from = filepath.Join(dir, clone)
		in(t, from, "scripts/release.sh", "out", "linux/amd64", "linux/arm64", "windows/amd64")
		sum := must.Get(os.ReadFile(filepath.Join(from, "out", "SHA256SUMS")))(t)
		sums = append(sums, string(sum))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
	r := built{out: filepath.Join(dir, "one", "out")}
	in(t, r.out, "sha256sum", "--quiet", "-c", "SHA256SUMS")
	if files := in(t, r.out, "find", ".", "-type", "f"); strings.Count(files, "\n") != strings.Count(sums[0], "\n")+1 {
		t.Errorf("SHA256SUMS lacks a file of\n%s", files)
	}
	archive := must.Get(filepath.Glob(filepath.Join(r.out, "*-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz")))(t)[0]
	in(t, dir, "tar", "xzf", archive)
	r.base = strings.TrimSuffix(archive, ".tar.gz")
	r.tree = filepath.Join(dir, filepath.Base(r.base))
	in(t, "../scripts/packages", "go", "test", "./...")
	t.Run("archive", r.archive)
	t.Run("sbom", r.sbom)
	t.Run("formulae", r.formulae)
	t.Run("wheel", r.wheel)
	t.Run("image", r.image)
	t.Run("rpm", r.rpm)
	t.Run("deb", r.deb)
}

// in runs a command in a directory, and returns its output.
func in(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return process.Output(t, cmd)
}

// A built is a release.
type built struct {
	out  string // its directory
	base string // the path of the files for this platform, without their extensions
	tree string // the directory of the unpacked archive for this platform
}

// archive uses the archive for this platform.
func (r built) archive(t *testing.T) {
	if version := in(t, r.tree, "./driver", "--version"); !regexp.MustCompile(`^driver version v\d`).MatchString(version) ||
		!strings.Contains(r.base, strings.TrimSuffix(strings.Fields(version)[2], ",")) {
		t.Errorf("driver --version: %q", version)
	}
	for _, program := range []string{"driver", "driver-aws", "play", "mapper", "reducer"} {
		if page := in(t, r.tree, "cat", "man/"+program+".1"); !strings.Contains(page, ".TH "+program+" 1") {
			t.Errorf("manual page of %s: %.100q", program, page)
		}
	}
	solves(t, exec.Command(filepath.Join(r.tree, "driver")), t.TempDir(), "--runner=pipe")
	in(t, r.tree, "./play", "web", "--export", filepath.Join(t.TempDir(), "site"))
	if script := in(t, r.tree, "bash", "-c", ". completions/driver.bash && complete -p driver"); !strings.Contains(script, "_driver_complete") {
		t.Errorf("completion: %q", script)
	}
	licences := in(t, r.tree, "cat", "LICENSES")
	for _, module := range dependencies(t) {
		if !strings.Contains(licences, "=== "+module+" ") {
			t.Errorf("LICENSES: %s is missing", module)
		}
	}
}

// solves checks that a command of driver solves 3×3.
func solves(t *testing.T, driver *exec.Cmd, data string, flags ...string) {
	t.Helper()
	driver.Args = append(append(driver.Args, "solve", "connectn", "--data", filepath.Join(data, "solved")), flags...)
	if out := process.Output(t, driver); !strings.Contains(out, "Connect 3 on 3×3: tie in 9 moves") {
		t.Errorf("%v: %q", driver, out)
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
