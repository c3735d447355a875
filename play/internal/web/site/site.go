// Package site writes the pages of package web as a site of static files: a service worker in the
// browser answers their requests with the program play/wasm.
package site

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/play/internal/web/remote"
)

// Program and Runtime are the names of the files that make builds for a site: the program for
// browsers, compressed, and what starts it, which belongs to the Go that built it.
const (
	Program = "play.wasm.gz"
	Runtime = "wasm_exec.js"
)

// pages is a regular expression of JavaScript for the paths of the pages that the program answers.
const pages = `^(index\.html)?$|^(play|puzzles)\/`

//go:embed static
var static embed.FS

// A Site is a site that is to be written.
type Site struct {
	dir   string
	files map[string][]byte
}

// New returns a site for dir, which must be empty or missing. programs is the directory with Program and Runtime.
func New(dir, programs string) (*Site, error) {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s: not empty: name a new or an empty directory", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	files, err := filesOf(programs)
	return &Site{dir, files}, err
}

// Write writes the site with some tables, and returns the number of bytes that a browser loads first. After an
// error, it removes the directory.
func (s *Site) Write(tables []*remote.Table) (size int, err error) {
	for i, t := range tables {
		t.Dir = fmt.Sprintf("tables/%d", i)
	}
	if err := s.describe(tables); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, system.WhileShared(func() error { return os.RemoveAll(s.dir) }))
		}
	}()
	for _, t := range tables {
		if err := t.Copy(filepath.Join(s.dir, t.Dir)); err != nil {
			return 0, err
		}
	}
	for name, content := range s.files {
		if err := os.WriteFile(filepath.Join(s.dir, name), content, 0o666); err != nil {
			return 0, err
		}
		size += len(content)
	}
	return size - len(s.files["404.html"]), nil
}

// describe adds the description of the tables to the files, and the service worker.
func (s *Site) describe(tables []*remote.Table) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		err = cmp.Or(json.NewEncoder(w).Encode(tables), w.Close())
	}
	if err != nil {
		return err
	}
	s.files["tables.bin"] = packed.Bytes()
	s.files["sw.js"] = workerOf(s.files, s.files["sw.js"])
	return nil
}

// filesOf returns the files of a site, but not the description of the tables.
func filesOf(programs string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	read := func(name string) []byte {
		content, _ := static.ReadFile("static/" + name) // it is embedded
		return content
	}
	for _, file := range []struct{ name, built string }{{"program.bin", Program}, {Runtime, Runtime}} {
		built := filepath.Join(programs, file.built)
		content, err := os.ReadFile(built)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: missing: build it with make site, or take it from the archive of a release", built)
		}
		if err != nil {
			return nil, err
		}
		files[file.name] = content
	}
	// A server shows 404.html for the address of a page, such as a link that was sent.
	files["index.html"], files["404.html"] = read("start.html"), read("start.html")
	for _, script := range []string{"start.js", "sw.js"} {
		files[script] = bytes.ReplaceAll(read(script), []byte("PAGES"), []byte(pages))
	}
	return files, nil
}

// workerOf returns the service worker. A browser loads the site again when the text of the worker changes, so it contains a
// hash of the files.
func workerOf(files map[string][]byte, text []byte) []byte {
	sum := sha256.New()
	for _, name := range []string{"program.bin", "tables.bin", Runtime, "start.js"} {
		sum.Write(files[name])
	}
	return bytes.ReplaceAll(text, []byte("VERSION"), fmt.Appendf(nil, "%x", sum.Sum(nil)[:8]))
}
