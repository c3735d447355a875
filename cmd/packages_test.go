//go:build linux

package cmd_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// needs skips a test without programs that make release-tools installs.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
}

// asRoot skips a test that only root can run.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
}

// chroot returns a command that runs in the directory root as a user, with /proc.
func chroot(root, user string, args ...string) *exec.Cmd {
	const script = `mkdir -p "$1/proc"; mount -t proc proc "$1/proc"; exec /usr/sbin/chroot --userspec="$0" "$@"`
	cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-ec", script, user, root}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	return cmd
}

// deb installs the package in a new Debian, and uses it.
func (r built) deb(t *testing.T) {
	needs(t, "mmdebstrap")
	asRoot(t)
	root := filepath.Join(t.TempDir(), "root")
	t.Cleanup(func() { os.RemoveAll(root) }) // it has files of other users
	suite := in(t, ".", "sh", "-c", ". /etc/os-release; printf %s $VERSION_CODENAME")
	process.Output(t, exec.Command("mmdebstrap", "--quiet", "--variant=essential", suite, root))
	process.Output(t, exec.Command("cp", r.base+".deb", filepath.Join(root, "tmp", "treereduce.deb")))
	process.Output(t, chroot(root, "0:0", "dpkg", "-i", "/tmp/treereduce.deb"))
	used(t, root, "zsh/vendor-completions", chroot(root, "0:0", "sh", "-ec", use))
	if owner := process.Output(t, chroot(root, "0:0", "dpkg", "-S", "/usr/bin/play")); !strings.HasPrefix(owner, "treereduce:") {
		t.Errorf("dpkg -S: %q", owner)
	}
	process.Output(t, chroot(root, "0:0", "dpkg", "--purge", "treereduce"))
	if left := in(t, root, "find", ".", "-path", "./proc", "-prune", "-o", "-name", "*treereduce*", "-not", "-path", "./tmp/*", "-print"); left != "" {
		t.Errorf("the removed package leaves\n%s", left)
	}
}

// use uses the programs of a package.
const use = `cd "$(mktemp -d)"
driver solve connectn --runner pipe --data solved
driver-aws lookup --data solved --tsv '#0'
play web --export site`

// used checks that the files of a package are in their places in the directory root, completions for zsh in zsh, and
// the output of use.
func used(t *testing.T, root, zsh string, script *exec.Cmd) {
	t.Helper()
	for _, name := range []string{
		"man/man1/driver.1", "man/man1/driver-aws.1", "man/man1/play.1", "man/man1/mapper.1", "man/man1/reducer.1",
		"bash-completion/completions/driver", "bash-completion/completions/play", zsh + "/_driver-aws",
		"fish/vendor_completions.d/play.fish", "doc/treereduce/copyright",
	} {
		if info, err := os.Stat(filepath.Join(root, "usr/share", name)); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	in(t, filepath.Join(root, "usr/lib/treereduce/linux-"+runtime.GOARCH), "test", "-x", "mapper")
	out := process.Output(t, script)
	if !strings.Contains(out, "tie in 9 moves") || !strings.Contains(out, "\ttie\t9\t") {
		t.Errorf("in %s: %q", root, out)
	}
}

// rpm checks the package, unpacks it, and uses its programs.
func (r built) rpm(t *testing.T) {
	needs(t, "rpm", "rpm2cpio", "cpio")
	if sums := process.Output(t, exec.Command("rpm", "-K", r.base+".rpm")); !strings.HasSuffix(sums, ": digests OK\n") {
		t.Errorf("rpm -K: %q", sums)
	}
	about := process.Output(t, exec.Command("rpm", "-qp", "--qf", "%{name} %{arch} %{buildhost}", r.base+".rpm"))
	if arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]; about != "treereduce "+arch+" localhost" {
		t.Errorf("rpm -qp: %q", about)
	}
	root := t.TempDir()
	in(t, root, "sh", "-c", `rpm2cpio "$0" | cpio --quiet --no-absolute-filenames -idm`, r.base+".rpm")
	script := exec.Command("sh", "-ec", use)
	script.Env = []string{"PATH=" + filepath.Join(root, "usr/bin") + ":/usr/bin:/bin", "TMPDIR=" + t.TempDir()}
	used(t, root, "zsh/site-functions", script)
}

// wheel installs the wheel in a new environment, and solves a game of a Python class without Go.
func (r built) wheel(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	python := filepath.Join(dir, "venv", "bin", "python")
	machine := map[string]string{"amd64": "x86_64", "arm64": "a*64"}[runtime.GOARCH]
	wheel := must.Get(filepath.Glob(filepath.Join(r.out, "treereduce-*-py3-none-*_"+machine+".whl")))(t)
	if len(wheel) != 1 {
		t.Fatalf("wheels: %q", wheel)
	}
	in(t, dir, "python3", "-m", "venv", "--without-pip", "venv")
	in(t, dir, "python3", "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel[0])
	must.OK(t, os.WriteFile(filepath.Join(dir, "stones.py"), []byte(`from treereduce import solve

class Stones:
    """Take one or two stones. The player who takes the last one wins."""

    def __init__(self, stones: int = 20):
        self.start = stones
        self.positions = stones + 1

    def primitive(self, p):
        return "lose" if p == 0 else None

    def moves(self, p):
        return {f"take{n}": p - n for n in (1, 2) if n <= p}

if __name__ == "__main__":
    print(solve(Stones, "solved").lookup(20).value)
`), 0o666))
	clean := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
		return cmd
	}
	if out := process.Output(t, clean(python, "stones.py")); out != "win\n" {
		t.Errorf("stones.py: %q", out)
	}
	solves(t, clean(filepath.Join(dir, "venv", "bin", "driver")), t.TempDir())
	process.Output(t, clean(filepath.Join(dir, "venv", "bin", "play"), "web", "--export", "site"))
}

// A descriptor refers to a blob of an image.
type descriptor struct {
	Digest   string
	Size     int
	Platform struct{ Architecture string }
}

// image unpacks the layers of the container image, and uses its programs as its user.
func (r built) image(t *testing.T) {
	asRoot(t)
	layout := must.Get(filepath.Glob(filepath.Join(r.out, "*-oci")))(t)[0]
	blob := func(d descriptor) string {
		return filepath.Join(layout, "blobs", strings.Replace(d.Digest, ":", "/", 1))
	}
	read := func(path string, into any) {
		must.OK(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), into))
	}
	var index, all struct{ Manifests []descriptor }
	read(filepath.Join(layout, "index.json"), &index)
	read(blob(index.Manifests[0]), &all)
	root := t.TempDir()
	var config struct {
		Config struct {
			User, WorkingDir string
			Entrypoint, Env  []string
		}
	}
	for _, of := range all.Manifests {
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		read(blob(of), &manifest)
		size := 0
		for _, layer := range manifest.Layers {
			size += layer.Size
			if of.Platform.Architecture == runtime.GOARCH {
				in(t, root, "tar", "--same-owner", "-xpzf", blob(layer))
				read(blob(manifest.Config), &config)
			}
		}
		t.Logf("%s: %d bytes", of.Platform.Architecture, size)
		if size > 30_000_000 {
			t.Errorf("%s: the image has %d bytes", of.Platform.Architecture, size)
		}
	}
	if !x509.NewCertPool().AppendCertsFromPEM(must.Get(os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")))(t)) {
		t.Error("no certificates")
	}
	if info := must.Get(os.Stat(filepath.Join(root, "tmp")))(t); info.Mode() != os.ModeDir|os.ModeSticky|0o777 {
		t.Errorf("/tmp: %v", info.Mode())
	}
	line := regexp.MustCompile(`(?m)^` + config.Config.User + `:x:(\d+):(\d+):`).FindStringSubmatch(in(t, root, "cat", "etc/passwd"))
	if line == nil || line[1] == "0" {
		t.Fatalf("user %q: %q", config.Config.User, line)
	}
	inside := func(args ...string) *exec.Cmd {
		cmd := chroot(root, line[1]+":"+line[2], args...)
		cmd.Env = config.Config.Env
		return cmd
	}
	must.OK(t, os.Chmod(root, 0o755))
	solves(t, inside(config.Config.Entrypoint...), config.Config.WorkingDir)
	for _, program := range []string{"/usr/bin/driver-aws", "/usr/bin/play", "/usr/lib/treereduce/linux-" + runtime.GOARCH + "/reducer"} {
		process.Output(t, inside(program, "--version"))
	}
	mapper := inside("/usr/bin/mapper", "init", "--width=3", "--height=3", "--connect=3")
	mapper.Stdin = strings.NewReader("\n")
	if out := process.Output(t, mapper); !strings.HasPrefix(out, "000") {
		t.Errorf("%v: %q", mapper, out)
	}
}

// formulae compares the formulae with the archives that they name.
func (r built) formulae(t *testing.T) {
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(r.base), "treereduce-"), "-"+runtime.GOOS+"-"+runtime.GOARCH)
	address := "https://github.com/treereduce/treereduce/releases/download/" + version + "/"
	var found []string
	check := func(url, sum string) {
		name := strings.TrimPrefix(url, address)
		found = append(found, name)
		if data, err := os.ReadFile(filepath.Join(r.out, name)); err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("%s is not %s: %v", url, sum, err)
		}
	}
	formula := in(t, r.out, "cat", "treereduce.rb")
	for _, match := range regexp.MustCompile(`(?s)url "(.*?)"\s+sha256 "(.*?)"`).FindAllStringSubmatch(formula, -1) {
		check(match[1], match[2])
	}
	for _, place := range [][2]string{{"on_linux do\n    on_arm", "-linux-arm64."}, {"on_linux do\n    on_intel", "-linux-amd64."}} {
		if _, after, ok := strings.Cut(formula, place[0]); ok && !strings.Contains(strings.SplitN(after, "\n", 3)[1], place[1]) {
			t.Errorf("%s: %.100q", place, after)
		}
	}
	if data, err := os.ReadFile(filepath.Join(r.out, "treereduce.json")); err == nil {
		var scoop struct {
			Architecture map[string]struct{ URL, Hash string }
			Bin          []string
		}
		must.OK(t, json.Unmarshal(data, &scoop))
		for _, archive := range scoop.Architecture {
			check(archive.URL, archive.Hash)
			for _, program := range scoop.Bin {
				in(t, r.out, "python3", "-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).getinfo(sys.argv[2])",
					filepath.Base(archive.URL), strings.TrimSuffix(filepath.Base(archive.URL), ".zip")+"/"+program)
			}
		}
	}
	archives := strings.Fields(in(t, r.out, "sh", "-c", "ls *.tar.gz; ls *.zip 2>/dev/null || true"))
	slices.Sort(found)
	slices.Sort(archives)
	if !slices.Equal(found, archives) {
		t.Errorf("the formulae name %q; the archives are %q", found, archives)
	}
}

// sbom compares the list of modules with what go version says of the programs in the archive.
func (r built) sbom(t *testing.T) {
	type component struct {
		Name, Version, Purl string
		Hashes              []struct{ Alg, Content string }
		Components          []component
	}
	var listed struct {
		BomFormat, SpecVersion string
		Components             []component
	}
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile(r.base+".cdx.json"))(t), &listed))
	if listed.BomFormat != "CycloneDX" || len(listed.Components) != 5 {
		t.Errorf("%s with %d programs", listed.BomFormat, len(listed.Components))
	}
	for _, program := range listed.Components {
		path := filepath.Join(r.tree, program.Name)
		if sum := fmt.Sprintf("%x", sha256.Sum256(must.Get(os.ReadFile(path))(t))); program.Hashes[0].Content != sum {
			t.Errorf("%s is %s, not %v", program.Name, sum, program.Hashes)
		}
		about := process.Output(t, exec.Command("go", "version", "-m", path))
		var got, want []string
		for _, m := range regexp.MustCompile(`(?m)^\t(?:dep|mod)\t(\S+)\t(\S+)`).FindAllStringSubmatch(about, -1) {
			want = append(want, "pkg:golang/"+m[1]+"@"+m[2])
		}
		want = append(want, "pkg:golang/stdlib@"+strings.TrimPrefix(regexp.MustCompile(`: go(\S+)`).FindString(about), ": go"))
		for _, m := range program.Components {
			got = append(got, m.Purl)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", program.Name, got, want)
		}
	}
}
