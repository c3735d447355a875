// Package table is the solved game: DIR/table, a block file for each tier, the
// position before the first move included. A table is written a tier at a time,
// from the last to the first, and is whole when its seal stands. Of a game with
// cycles it is one range file, and the index of the passes. What reads it (lookup,
// statistics, the check, players) needs nothing else. The package knows nothing of
// runners or of the loop of jobs.
package table

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
)

// Dir is the name of the table's directory within a data directory.
const Dir = "table"

// TierFile is the path of a tier's file within a data directory.
func TierFile(g game.Game, tier int) string {
	suffix := "lists"
	if _, ok := g.(game.Tiered); ok {
		suffix = "blocks"
	}
	return filepath.Join(Dir, fmt.Sprintf("tier-%02d.%s", tier, suffix))
}

// A Table is a solved game, open for reading. Its methods are safe for
// concurrent use.
type Table struct {
	g     game.Tiered
	files []*tierFile
}

type tierFile struct {
	*streamfmt.File
	closer store.File

	mu     sync.Mutex // of what follows
	cursor *streamfmt.Cursor
	block  block.Block
}

// Open opens the table of a data directory. A table that is not whole, or that is
// not as its seal says, or not of the game of its data directory, is refused.
func Open(fsys store.FS, data string) (*Table, error) {
	t := new(Table)
	if err := t.open(fsys, data); err != nil {
		t.Close()
		return nil, fmt.Errorf("table: %w", err)
	}
	return t, nil
}

// OpenOf is Open where the game is known.
func OpenOf(fsys store.FS, data string, _ game.Game) (*Table, error) { return Open(fsys, data) }

func (t *Table) open(fsys store.FS, data string) error {
	seal, err := openSeal(fsys, data)
	if err != nil {
		return err
	}
	if t.g, err = all.Tiered(seal.Game); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(data, Dir), err)
	}
	if tiers := t.g.Tiers() + 1; len(seal.Files) != tiers {
		return fmt.Errorf("%s: %d files, but %q has %d tiers", filepath.Join(data, Dir), len(seal.Files), seal.Game, tiers)
	}
	for tier := range t.g.Tiers() + 1 {
		name := filepath.Join(data, TierFile(t.g, tier))
		f, err := openTier(fsys, name, seal.File(filepath.Base(name)))
		if err != nil {
			return err
		}
		t.files = append(t.files, f)
		if f.Spec() != t.g.Spec() || f.Tier() != tier {
			return fmt.Errorf("%s: expected tier %d of %q, found tier %d of %q", name, tier, t.g.Spec(), f.Tier(), f.Spec())
		}
	}
	return nil
}

// openSeal reads the seal of the table of a data directory, and holds the directory
// to it, and its game to that of the data directory. A table may lie on its own.
func openSeal(fsys store.FS, data string) (*store.Seal, error) {
	dir := filepath.Join(data, Dir)
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: not there: the game has not been solved yet", dir)
	}
	m, err := store.ReadManifest(fsys, data)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = new(store.Manifest), nil
	}
	if err != nil {
		return nil, err
	}
	seal, _, err := store.OpenDir(fsys, dir, m.Game)
	switch {
	case errors.Is(err, store.ErrHalf):
		return nil, fmt.Errorf("%s: not whole, it has no %s: the game has not been solved to its end (driver solve --resume goes on)", dir, store.Success)
	case err != nil:
		return nil, err
	case seal == nil:
		return nil, &store.DamageError{Name: filepath.Join(dir, store.Success), Reason: "damaged: it is empty"}
	}
	return seal, nil
}

// Seal seals the table of a data directory as it is: all files of a game's table are
// in it.
func Seal(fsys store.FS, data, game string) error {
	dir := filepath.Join(data, Dir)
	files, err := tierio.SealAll(fsys, dir)
	if err != nil {
		return err
	}
	return (&store.Seal{Game: game, Job: Dir, Files: files}).Write(fsys, dir)
}

func openTier(fsys store.FS, name string, seal *store.SealedFile) (*tierFile, error) {
	in, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	f, err := tierio.OpenPacked(in, name, seal, streamfmt.OpenFile)
	if err != nil {
		in.Close()
		return nil, err
	}
	return &tierFile{File: f, closer: in, cursor: f.Cursor(0)}, nil
}

// Close closes the files.
func (t *Table) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.closer.Close())
	}
	return errors.Join(errs...)
}

// Game is the game that the table solves.
func (t *Table) Game() game.Tiered { return t.g }

// Counts is the number of positions of a tier by value.
func (t *Table) Counts(tier int) streamfmt.Counts { return t.files[tier].Counts() }

// Lookup returns the value of a position; ok is false if play cannot reach it.
// It reads a page of the index and one block.
func (t *Table) Lookup(p game.Position) (v game.Value, ok bool, err error) {
	if err := t.g.Check(p); err != nil {
		return 0, false, err
	}
	tier := t.g.Tier(p)
	rng := p >> t.g.LowBits()
	low := t.g.Low(tier, rng)
	f := t.files[tier]
	e, ok, err := f.Find(rng)
	if err != nil || !ok || low == nil {
		return 0, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.block.Reset(tier, rng, t.g.LowBits(), low)
	if err := f.cursor.Read(e, &f.block); err != nil {
		return 0, false, err
	}
	slot, ok := f.block.Slot(uint32(p-rng<<t.g.LowBits()), 0)
	if !ok || !f.block.Done.Has(slot) {
		return 0, false, nil
	}
	return game.Value(f.block.Val[slot]), true, nil
}

// A Choice is a move with the value of the position it leads to.
type Choice struct {
	game.Move
	Value game.Value
}

// Choices returns the moves of a position, the best first; of equally good ones
// in the order of the game. The position must be one that play can reach.
func (t *Table) Choices(p game.Position) ([]Choice, error) {
	var choices []Choice
	for _, m := range t.g.Moves(nil, p) {
		v, ok, err := t.Lookup(m.To)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("table: move %s from %#x leads to %#x, which is missing", m.Name, p, m.To)
		}
		choices = append(choices, Choice{m, v})
	}
	score := game.ScoresFor(t.g.ToMove(p)).OfChild
	slices.SortStableFunc(choices, func(a, b Choice) int { return cmp.Compare(score[b.Value], score[a.Value]) })
	return choices, nil
}
