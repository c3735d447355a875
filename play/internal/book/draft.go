package book

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/search"
)

// A Draft is a book in the making. It is a file of lines: the first one identifies the book, each
// other line is a position of the last ply and its value, two numbers. A line is appended as
// soon as a value is known, so that the work can be interrupted at any time.
type Draft struct {
	g      game.Layered
	plies  int
	keys   []game.Position
	values []byte // of keys; 0: not known yet
	known  int
	file   *os.File
}

// draftLine is the first line of the file of a Draft: plies and spec.
const draftLine = "treereduce draft of a book 1 plies=%d %s\n"

// OpenDraft opens the draft with this file, or creates it.
func OpenDraft(name string, g game.Layered, plies int) (d *Draft, err error) {
	all, err := levels(g, plies)
	if err != nil {
		return nil, err
	}
	d = &Draft{g: g, plies: plies, keys: all[plies], values: make([]byte, len(all[plies]))}
	if d.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	if err := d.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), d.file.Close())
	}
	return d, nil
}

// read reads the file, and prepares it for further lines: it removes an incomplete last line,
// and writes the first line if there is none.
func (d *Draft) read() error {
	text, err := io.ReadAll(d.file)
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) < len(text) {
		if err := d.file.Truncate(int64(len(whole))); err != nil {
			return err
		}
	}
	head := fmt.Appendf(nil, draftLine, d.plies, d.g.Spec())
	if len(whole) == 0 {
		_, err := d.file.Write(head)
		return err
	}
	lines, ok := bytes.CutPrefix(whole, head)
	if !ok {
		return fmt.Errorf("line 1: expected %q: choose another file, or remove this one", head[:len(head)-1])
	}
	n := 1
	for line := range bytes.Lines(lines) {
		n++
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		p, err := strconv.ParseUint(string(key), 10, 64)
		v, err2 := strconv.ParseUint(string(value), 10, 8)
		if err != nil || err2 != nil || d.set(p, game.Value(v)) != nil {
			return fmt.Errorf("line %d: expected a position of ply %d and its value, found %q: remove the line", n, d.plies, bytes.TrimSpace(line))
		}
	}
	return nil
}

// set sets the value of a position.
func (d *Draft) set(p game.Position, v game.Value) error {
	i, ok := slices.BinarySearch(d.keys, p)
	if !ok || !v.Valid() || v.Remoteness() > game.MaxByteRemoteness || d.values[i] != 0 && d.values[i] != byte(v) {
		return fmt.Errorf("%s: position %d cannot have the value %d in a book", d.g.Spec(), p, v)
	}
	if d.values[i] == 0 {
		d.values[i] = byte(v)
		d.known++
	}
	return nil
}

// Known returns the number of positions whose values are known, and that of all positions.
func (d *Draft) Known() (known, all int) { return d.known, len(d.keys) }

// Search searches the positions whose values are not known, one after the other. It calls
// report after each, and returns the error of ctx if ctx ends before the last.
func (d *Draft) Search(ctx context.Context, s *search.Searcher, report func()) error {
	for i, p := range d.keys {
		if d.values[i] != 0 {
			continue
		}
		r, err := s.Search(ctx, p, search.Limit{Bare: true})
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case r.Weak:
			return fmt.Errorf("%s: its search proves who wins, but not the remoteness, which a book needs", d.g.Spec())
		}
		if err := d.set(p, r.Value); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(d.file, p, uint16(r.Value)); err != nil {
			return err
		}
		report()
	}
	return nil
}

// Finish writes the complete book into a file of this name, and removes the draft.
func (d *Draft) Finish(name string) error {
	if d.known < len(d.keys) {
		return fmt.Errorf("the values of %s are missing", numfmt.Count(len(d.keys)-d.known, "position"))
	}
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(format(d.g, d.plies, d.values))
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := system.WhileShared(func() error { return os.Rename(f.Name(), name) }); err != nil {
		return err
	}
	return os.Remove(d.file.Name())
}

// Close closes the file of the draft.
func (d *Draft) Close() error { return d.file.Close() }
