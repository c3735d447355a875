//go:build !js

package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// unit is the number of bytes that a recorder notes together.
const unit = 1 << 10

// Record describes the table of a data directory, without Dir. It reads the table completely: if the
// table is incomplete, damaged or larger than most bytes, it fails. The file system must stay open for Copy.
func Record(ctx context.Context, fsys store.FS, data string, games game.Kinds, most int64) (t *Table, err error) {
	r := &recorder{FS: fsys, read: make(map[string]map[int64]bool)}
	opened, err := table.OpenFS(r, data, games.Parse)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, opened.Close()) }()
	dir := path.Join(data, table.Dir)
	seal, err := store.ReadSeal(fsys, dir)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, f := range seal.Files {
		size += f.Length
	}
	if size > most {
		return nil, fmt.Errorf("%s: %s, but all tables of a site can have %s: leave a table out, or serve it with play web", dir, numfmt.Bytes(float64(size)), numfmt.Bytes(MaxSize))
	}
	if _, err := jobdir.Check(ctx, fsys, dir, seal.Game); err != nil {
		return nil, err
	}
	return r.describe(opened, seal, data)
}

// MaxSize is the number of bytes that all tables of a site can have: GitHub Pages has this limit.
const MaxSize = 1e9

// describe describes a table that the recorder has opened.
func (r *recorder) describe(opened *table.Table, seal *store.Seal, data string) (t *Table, err error) {
	t = &Table{Game: seal.Game, Files: make(map[string]*File), fsys: r.FS, data: data}
	names := []string{path.Join(table.Dir, store.Success)}
	for _, f := range seal.Files {
		names = append(names, path.Join(table.Dir, f.Name))
	}
	for tier := range opened.Tiers() + 1 { // opens the files that are not open yet
		if _, err := opened.Counts(tier); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if t.Files[name], err = r.file(path.Join(data, name)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// A recorder is a file system that notes which units of its files are read.
type recorder struct {
	store.FS
	read map[string]map[int64]bool // by path
}

// Open opens a file.
func (r *recorder) Open(name string) (store.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if r.read[name] == nil {
		r.read[name] = make(map[int64]bool)
	}
	return newSection(&noted{f, r.read[name]}, info, f.Close), nil
}

// noted is a file that notes what is read.
type noted struct {
	store.File
	units map[int64]bool
}

// ReadAt reads bytes.
func (n *noted) ReadAt(b []byte, at int64) (int, error) {
	for i := at / unit; i*unit < at+int64(len(b)); i++ {
		n.units[i] = true
	}
	return n.File.ReadAt(b, at)
}

// file returns a file with the units that were read.
func (r *recorder) file(name string) (*File, error) {
	in, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	f := &File{Size: info.Size()}
	for at := int64(0); at < f.Size; at += unit {
		if !r.read[name][at/unit] {
			continue
		}
		bytes := make([]byte, min(unit, f.Size-at))
		if _, err := in.ReadAt(bytes, at); err != nil {
			return nil, err
		}
		if n := len(f.Parts) - 1; n >= 0 && f.Parts[n].At+int64(len(f.Parts[n].Bytes)) == at {
			f.Parts[n].Bytes = append(f.Parts[n].Bytes, bytes...)
		} else {
			f.Parts = append(f.Parts, Part{at, bytes})
		}
	}
	return f, nil
}

// Copy copies the table to a directory of this machine.
func (t *Table) Copy(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, table.Dir), 0o777); err != nil {
		return err
	}
	for name, f := range t.Files {
		in, err := t.fsys.Open(path.Join(t.data, name))
		if err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			var n int64
			if n, err = io.Copy(out, in); err == nil && n != f.Size {
				err = fmt.Errorf("%s: changed while it was copied", path.Join(t.data, name))
			}
			err = cmp.Or(err, out.Close())
		}
		if err = cmp.Or(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}
