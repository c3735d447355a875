// Package table reads and verifies a solved game, the directory DIR/table. For a game with
// tiers it contains a file for each tier, from the initial position's on, or shards of such a file
// (tier-12-00003.pack), written from the last tier to the first. A game without tiers has one
// file, of tier 0. The table is complete when it has a seal.
// Everything that reads a solved game (lookup, statistics, verification, players) needs nothing
// else, and uses the type Table, whatever the method that solves the game. The package knows nothing of runners or of
// the loop of jobs.
//
// Of the images of a position of a game.Symmetric, the table stores the canonical one. Look-ups
// map a position to it, so that users of the package see the positions themselves.
package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// Dir is the name of the table's directory within a data directory.
const Dir = "table"

// TierFile returns the path of a tier's file within a data directory.
func TierFile(tier int) string {
	return path.Join(Dir, fmt.Sprintf("tier-%02d%s", tier, jobdir.Suffix))
}

// A Table is a solved game, open for reading. Its methods are safe for concurrent use.
type Table struct {
	g      game.Game
	method method.Table
	place  io.Closer // to be closed; nil unless Open made the table
	sealed seal
	bytes  int64 // of all files
}

// A seal is the file that seals a table, as it was when the table was opened.
type seal struct {
	fsys store.FS
	name string
	info fs.FileInfo // nil: there was none
}

// Counts contains the number of positions of each value; the value of a draw is 0.
type Counts map[game.Value]uint64

// Total returns the number of all positions.
func (c Counts) Total() (all uint64) {
	for _, n := range c {
		all += n
	}
	return all
}

// OpenFS is like Open, but opens a data directory of a file system. parse makes the game from
// its spec, like game.Kinds.Parse.
func OpenFS(fsys store.FS, data string, parse func(spec string) (game.Game, error)) (*Table, error) {
	t := &Table{sealed: seal{fsys: fsys, name: path.Join(data, Dir, store.Success)}}
	t.sealed.info, _ = fsys.Stat(t.sealed.name) // openSeal returns the error
	seal, err := openSeal(fsys, data)
	if err == nil {
		if t.g, err = parse(seal.Game); err != nil {
			err = fmt.Errorf("%s: %w", path.Join(data, Dir), err)
		}
	}
	if err == nil {
		for _, f := range seal.Files {
			t.bytes += f.Length
		}
		files := stored.Files{FS: fsys, Dir: path.Join(data, Dir)}
		if files.Tiers, err = sealedTiers(seal, data, t.g); err == nil {
			t.method, err = method.OpenTable(t.g, files)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return t, nil
}

// OpenOf is like OpenFS, but fails if the table is of another game than g.
func OpenOf(fsys store.FS, data string, g game.Game) (*Table, error) {
	return OpenFS(fsys, data, func(spec string) (game.Game, error) {
		if spec != g.Spec() {
			return nil, fmt.Errorf("of another game: expected %q, found %q", g.Spec(), spec)
		}
		return g, nil
	})
}

// openSeal reads the seal of the table of a data directory. It checks the files of the table
// against the seal, and the game of the seal against the manifest of the data directory. The
// manifest may be missing: a table can be copied without its data directory, or --overwrite
// may have been interrupted while it deleted the rest.
func openSeal(fsys store.FS, data string) (*store.Seal, error) {
	dir := path.Join(data, Dir)
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: missing: the game has not been solved yet", dir)
	}
	m, err := store.ReadManifest(fsys, data)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrClearing) {
		m, err = new(store.Manifest), nil
	}
	if err != nil {
		return nil, err
	}
	seal, _, err := store.OpenDir(fsys, dir, m.Game)
	switch {
	case errors.Is(err, store.ErrIncomplete):
		return nil, fmt.Errorf("%s: incomplete: it has no %s: the game has not been solved to its end (driver solve --resume continues)", dir, store.Success)
	case err != nil:
		return nil, err
	case seal == nil:
		return nil, &store.DamageError{Name: path.Join(dir, store.Success), Reason: "damaged: it is empty"}
	}
	return seal, nil
}

// TierShards returns the entries of a tier in the seal of a table: of its TierFile, or of the shards of that, in
// order.
func TierShards(seal *store.Seal, tier int) (files []store.SealedFile) {
	name := path.Base(TierFile(tier))
	begin := strings.TrimSuffix(name, path.Ext(name))
	for _, f := range seal.Files {
		if strings.HasPrefix(f.Name, begin) && jobdir.ShardOf(f.Name) == name {
			files = append(files, f)
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	return files
}

// sealedTiers returns the TierShards of all tiers. It is an error if the seal names other files, or the game cannot be solved.
func sealedTiers(seal *store.Seal, data string, g game.Game) (tiers []stored.Tier, err error) {
	if g.Info().Vast > 0 {
		return nil, &store.DamageError{Name: path.Join(data, Dir), Reason: seal.Game + " cannot be solved, so no table of it can be right: name another directory with --data"}
	}
	for _, f := range seal.Files {
		if jobdir.IsText(f.Name) {
			return nil, &streamfmt.FormatError{File: path.Join(data, Dir, f.Name), Reason: "of an earlier format: solve the game again"}
		}
	}
	n := 0
	for tier := range game.LastTier(g) + 1 {
		files := TierShards(seal, tier)
		if len(files) == 0 {
			return nil, &store.DamageError{Name: path.Join(data, TierFile(tier)), Reason: "missing: " + store.Success + " does not name it"}
		}
		tiers, n = append(tiers, stored.Tier{Name: path.Join(data, TierFile(tier)), Sealed: files}), n+len(files)
	}
	if n != len(seal.Files) {
		err = &store.DamageError{Name: path.Join(data, Dir), Reason: fmt.Sprintf("%d files, but those of the %d tiers of %q are %d", len(seal.Files), len(tiers), seal.Game, n)}
	}
	return tiers, err
}

// Seal writes the seal of the table of a data directory, with all files that are in it.
func Seal(fsys store.FS, data, game string) error {
	dir := path.Join(data, Dir)
	files, err := jobdir.SealAll(fsys, dir)
	if err != nil {
		return err
	}
	return (&store.Seal{Game: game, Job: Dir, Files: files}).Write(fsys, dir)
}

// Close closes the files.
func (t *Table) Close() error {
	err := t.method.Close()
	if t.place != nil {
		err = errors.Join(err, t.place.Close())
	}
	return err
}

// Current reports whether the data directory still contains the table that was opened, as far as
// its file system answers.
func (t *Table) Current() bool {
	now, err := t.sealed.fsys.Stat(t.sealed.name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	old := t.sealed.info
	return old != nil && now.Size() == old.Size() && now.ModTime().Equal(old.ModTime())
}

// Game returns the game that the table solves.
func (t *Table) Game() game.Game { return t.g }

// Tiers returns the number of the last tier; it is 0 for a game without tiers.
func (t *Table) Tiers() int { return game.LastTier(t.g) }

// Counts returns the number of positions of a tier by value, as recorded in its file. Of the images of a position of a
// game.Symmetric, it counts one.
func (t *Table) Counts(tier int) (Counts, error) { return t.method.Counts(tier) }

// Positions returns the number of positions in all tiers.
func (t *Table) Positions() (all uint64, err error) {
	for tier := range t.Tiers() + 1 {
		c, err := t.Counts(tier)
		if err != nil {
			return 0, err
		}
		all += c.Total()
	}
	return all, nil
}

// Lookup returns the value of a position; ok is false if play can reach neither it nor an image of it. A position after
// one that a game.Decider decides is not stored; its value is that of the rules. Lookup reads a part of an index and one
// block or cell, unless it has read them recently.
func (t *Table) Lookup(p game.Position) (v game.Value, ok bool, err error) {
	if err := t.g.Check(p); err != nil {
		return 0, false, err
	}
	v, ok, err = t.method.Lookup(p)
	if g, decides := t.g.(game.Decider); decides && !ok && err == nil {
		v = g.Values().Ended(g.Known(p), g.ToMove(p))
		ok = v != 0
	}
	return v, ok, explain(t.g, err)
}

// A Choice is a move with the value of the position it leads to.
type Choice struct {
	game.Move
	Value game.Value
}

// Choices returns the moves of a position with their values, the best first; equally good
// moves are in the game's order. The position must be reachable. If a successor is missing
// from the table, the error is a *Fault.
func (t *Table) Choices(p game.Position) ([]Choice, error) {
	moves := t.g.Moves(nil, p)
	choices, errs := make([]Choice, len(moves)), make([]error, len(moves))
	var all sync.WaitGroup
	for i, m := range moves { // at once: each may wait for a network
		all.Go(func() {
			v, ok, err := t.Lookup(m.To)
			if err == nil && !ok {
				err = t.fault(p, missing(t.g, m))
			}
			choices[i], errs[i] = Choice{m, v}, err
		})
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	values, player := t.g.Values(), t.g.ToMove(p)
	slices.SortStableFunc(choices, func(a, b Choice) int {
		switch {
		case values.Better(player, a.Value, b.Value):
			return -1
		case values.Better(player, b.Value, a.Value):
			return 1
		}
		return 0
	})
	return choices, nil
}

// Line returns best play from a position, which must be reachable: at each position the first of Choices. It ends
// with the game or, if play never ends, when a position repeats.
func (t *Table) Line(p game.Position) iter.Seq2[Choice, error] {
	return func(yield func(Choice, error) bool) {
		for seen := make(map[game.Position]bool); !seen[p]; {
			seen[p] = true
			choices, err := t.Choices(p)
			if err != nil {
				yield(Choice{}, err)
				return
			}
			if len(choices) == 0 || !yield(choices[0], nil) {
				return
			}
			p = choices[0].To
		}
	}
}

// missing describes the fault of a position with a move to a position that is not in the
// table.
func missing(g game.Game, m game.Move) string {
	return fmt.Sprintf("its move %s leads to '%s' (%s), which is missing", m.Name, g.AppendText(nil, m.To), game.Key(g, m.To))
}

// A Fault is an error in the contents of a table: the first one that was found.
type Fault struct {
	Tier     int // -1 for a game without tiers
	Position game.Position
	Board    string // the position as text; "" if it is not valid
	Reason   string

	key string // the position as messages write it
}

func (f *Fault) Error() string {
	if f.Tier < 0 {
		return fmt.Sprintf("'%s' (%d): %s", f.Board, f.Position, f.Reason)
	}
	return fmt.Sprintf("tier %d: '%s' (%s): %s", f.Tier, f.Board, f.key, f.Reason)
}

// newFault returns a Fault of a position.
func newFault(g game.Game, p game.Position, reason string) error {
	f := &Fault{Tier: -1, Position: p, Reason: reason, key: game.Key(g, p)}
	if g.Check(p) == nil {
		f.Board = string(g.AppendText(nil, p))
		if a, ok := g.(game.Tiered); ok {
			f.Tier = a.Tier(p)
		}
	}
	return f
}

// explain returns a Fault in place of one of package stored.
func explain(g game.Game, err error) error {
	if f := (*stored.Fault)(nil); errors.As(err, &f) {
		return newFault(g, f.Position, f.Reason)
	}
	return err
}

func (t *Table) fault(p game.Position, reason string) error { return newFault(t.g, p, reason) }
