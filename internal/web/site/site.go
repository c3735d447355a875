// Package site writes the pages of package web as a site of static files: a service worker in the
// browser answers their requests with the program cmd/play-wasm.
package site

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Program and Runtime are the names of the files that make builds for a site: the program for
// browsers, compressed, and what starts it, which belongs to the Go that built it.
const (
	Program = "play.wasm.gz"
	Runtime = "wasm_exec.js"
)

//go:embed static
var static embed.FS

// Write writes a site to dir, which must be empty or missing, and returns the number of bytes that a
// browser loads. programs is the directory with Program and Runtime.
func Write(dir, programs string) (int, error) {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return 0, fmt.Errorf("%s: not empty: name a new or an empty directory", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	files, err := filesOf(programs)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	size := 0
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return 0, err
		}
		size += len(content)
	}
	return size - len(files["404.html"]), nil
}

// filesOf returns the files of a site.
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
	files["index.html"], files["404.html"], files["start.js"] = read("start.html"), read("start.html"), read("start.js")
	files["sw.js"] = workerOf(files, read("sw.js"))
	return files, nil
}

// workerOf returns the service worker. A browser loads the site again when the text of the worker changes, so it contains a
// hash of the files.
func workerOf(files map[string][]byte, text []byte) []byte {
	sum := sha256.New()
	for _, name := range []string{"program.bin", Runtime, "start.js"} {
		sum.Write(files[name])
	}
	return bytes.ReplaceAll(text, []byte("VERSION"), fmt.Appendf(nil, "%x", sum.Sum(nil)[:8]))
}
