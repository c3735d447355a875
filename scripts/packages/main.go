// Command packages writes the files of a release that need more than a shell: a container image,
// wheels and the lists of the modules in the programs.
//
// It is a module of its own, so that treereduce does not depend on the libraries of these formats.
// scripts/release.sh builds the programs and runs it.
package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	name     = "treereduce"
	homepage = "https://github.com/treereduce/treereduce"
)

// A release is what the files of a release have in common.
type release struct {
	version   string // with v, as driver --version prints it
	time      time.Time
	work, out string // the directories of the programs, see release.sh, and of the release
}

// A platform is an operating system and a processor, in Go's words.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "-" + p.arch }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return errors.New("expected: packages VERSION WORK OUT OS/ARCH…")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r := &release{args[0], time.Unix(seconds, 0).UTC(), args[1], args[2]}
	var platforms []platform
	for _, word := range args[3:] {
		system, arch, _ := strings.Cut(word, "/")
		p := platform{system, arch}
		platforms = append(platforms, p)
		if system == "windows" {
			err = r.zip(filepath.Base(r.tree(p))+".zip", r.tree(p), filepath.Base(r.tree(p)))
		}
		if err := errors.Join(err, r.sbom(p), r.wheel(p)); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return r.image(platforms)
}

// tree returns the directory with the files of a platform's archive.
func (r *release) tree(p platform) string {
	return filepath.Join(r.work, fmt.Sprintf("%s-%s-%s", name, r.version, p))
}

// programs returns the names of a platform's programs.
func (r *release) programs(p platform) (names []string, err error) {
	files, err := os.ReadDir(r.tree(p))
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			names = append(names, f.Name())
		}
	}
	return names, err
}

// zip writes a zip file of the files in a directory, which get the directory prefix.
func (r *release) zip(name, dir, prefix string) error {
	out, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	w := zip.NewWriter(out)
	err = files(dir, func(name string, mode fs.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: path.Join(prefix, name), Method: zip.Deflate, Modified: r.time}
		h.SetMode(0o644 | mode&0o111)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write(data)
		}
		return err
	})
	return errors.Join(err, w.Close(), out.Close())
}

// files calls a function with each file in a directory, by name.
func files(dir string, do func(name string, mode fs.FileMode, data []byte) error) error {
	root := os.DirFS(dir)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return do(name, info.Mode(), data)
	})
}
