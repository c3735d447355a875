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

// Record describes the table of a data directory, without Dir. It reads the table completely: if the
// table is incomplete, damaged or larger than most bytes, it fails. The file system must stay open for Copy.
func Record(ctx context.Context, fsys store.FS, data string, games game.Kinds, most int64) (t *Table, err error) {
	opened, err := table.OpenFS(fsys, data, games.Parse)
	if err == nil {
		err = opened.Close()
	}
	if err != nil {
		return nil, err
	}
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
	t = &Table{Game: seal.Game, Files: make(map[string]*File), fsys: fsys, data: data}
	return t, t.record(seal, games)
}

// MaxSize is the number of bytes that all tables of a site can have: GitHub Pages has this limit.
const MaxSize = 1e9

// unit is the number of bytes that record reads at a time, at least.
const unit = 1 << 10

// record opens the table and its files, and records what that reads.
func (t *Table) record(seal *store.Seal, games game.Kinds) error {
	success := path.Join(table.Dir, store.Success)
	info, err := t.fsys.Stat(path.Join(t.data, success))
	if err != nil {
		return err
	}
	t.Files[success] = &File{Size: info.Size()}
	for _, f := range seal.Files {
		t.Files[path.Join(table.Dir, f.Name)] = &File{Size: f.Length}
	}
	parts, open := make(map[string][]Part), false
	get := func(name string, from, to, size int64) ([]byte, error) {
		in, err := t.fsys.Open(path.Join(t.data, name))
		if err != nil {
			return nil, err
		}
		bytes := make([]byte, to-from)
		if _, err = in.ReadAt(bytes, from); err == nil && (!open || size > chunk) { // a browser reads a small file at once
			p := Part{At: from, Length: to - from, Bytes: bytes}
			if open {
				p.Bytes, p.Index = nil, int64(len(t.index))
				t.index = append(t.index, bytes...)
			}
			parts[name] = append(parts[name], p)
		}
		return bytes, cmp.Or(err, in.Close())
	}
	opened, err := table.OpenFS(&remoteFS{table: t, get: get, chunk: unit, places: make(chan struct{}, 1)}, "", games.Parse)
	if err != nil {
		return err
	}
	open = true
	for tier := range opened.Tiers() + 1 { // opens the files that are not open yet
		if _, err := opened.Counts(tier); err != nil {
			return errors.Join(err, opened.Close())
		}
	}
	for name, all := range parts {
		t.Files[name].Parts = all
	}
	t.Index = int64(len(t.index))
	return opened.Close()
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
	return os.WriteFile(filepath.Join(dir, IndexFile), t.index, 0o666)
}
