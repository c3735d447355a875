package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// wheelTags has the platforms of wheels, in Python's words. Programs without a C library run with each.
var wheelTags = map[string]string{
	"linux-amd64":  "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64",
	"linux-arm64":  "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64",
	"darwin-amd64": "macosx_12_0_x86_64",
	"darwin-arm64": "macosx_12_0_arm64",
}

// pseudo matches a version that Go derives from a commit without a tag.
var pseudo = regexp.MustCompile(`^v(\d+\.\d+\.\d+)-(?:.*\.)?(\d{14})-([0-9a-f]{12})$`)

// pythonVersion returns a version of Go as Python writes it.
func pythonVersion(version string) string {
	if parts := pseudo.FindStringSubmatch(version); parts != nil {
		return fmt.Sprintf("%s.dev%s+%s", parts[1], parts[2], parts[3])
	}
	return strings.ReplaceAll(strings.TrimPrefix(version, "v"), "-", "")
}

// A project is the part of pyproject.toml that a wheel repeats.
type project struct {
	Project struct {
		Description    string
		RequiresPython string              `toml:"requires-python"`
		Optional       map[string][]string `toml:"optional-dependencies"`
	}
}

// metadata returns the file METADATA of a wheel.
func (p project) metadata(version string) string {
	text := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nHome-page: %s\nRequires-Python: %s\n",
		name, version, p.Project.Description, homepage, p.Project.RequiresPython)
	for _, extra := range slices.Sorted(maps.Keys(p.Project.Optional)) {
		text += "Provides-Extra: " + extra + "\n"
		for _, needed := range p.Project.Optional[extra] {
			text += fmt.Sprintf("Requires-Dist: %s; extra == '%s'\n", needed, extra)
		}
	}
	return text
}

// wheel writes the wheel of a platform: the Python package, with the programs in its directory bin.
func (r *release) wheel(p platform) error {
	tags, ok := wheelTags[p.String()]
	if !ok {
		return nil
	}
	var described project
	if _, err := toml.DecodeFile("../../python/pyproject.toml", &described); err != nil {
		return err
	}
	programs, err := r.programs(p)
	if err != nil {
		return err
	}
	commands := "[console_scripts]\n"
	for _, program := range programs {
		commands += program + " = treereduce.driver:main\n"
	}
	version, dir := pythonVersion(r.version), filepath.Join(r.work, "wheel-"+p.String())
	info := name + "-" + version + ".dist-info"
	if err := os.Mkdir(filepath.Join(dir, info), 0o755); err != nil {
		return err
	}
	add := func(name, text string) error {
		return os.WriteFile(filepath.Join(dir, info, name), []byte(text), 0o644)
	}
	about := "Wheel-Version: 1.0\nGenerator: treereduce\nRoot-Is-Purelib: false\nTag: py3-none-" +
		strings.ReplaceAll(tags, ".", "\nTag: py3-none-") + "\n"
	for name, text := range map[string]string{"METADATA": described.metadata(version), "WHEEL": about, "entry_points.txt": commands} {
		if err := add(name, text); err != nil {
			return err
		}
	}
	record := info + "/RECORD,,\n"
	if err := files(dir, func(name string, _ fs.FileMode, data []byte) error {
		sum := sha256.Sum256(data)
		record += fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		return nil
	}); err != nil {
		return err
	}
	if err := add("RECORD", record); err != nil {
		return err
	}
	return r.zip(fmt.Sprintf("%s-%s-py3-none-%s.whl", name, version, tags), dir, "")
}
