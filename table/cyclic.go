package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/rangeio"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// CyclicFile is the path of the one file of the table of a game with cycles,
// within a data directory: a range file.
var CyclicFile = filepath.Join(Dir, "positions.blocks")

// A Cyclic is a solved game with cycles, open for reading. Its methods are safe
// for concurrent use.
type Cyclic struct {
	g     game.Cyclic
	file  *rangeio.Positions
	index *rangeio.Index

	mu     sync.Mutex // of what follows
	cursor *rangeio.Cursor
	at     int // the state that was read last, -1 before
	state  block.State
}

// IsCyclic reports whether the table of a data directory is that of a game with
// cycles.
func IsCyclic(fsys store.FS, data string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(data, CyclicFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// OpenCyclic opens the table of a data directory of a game with cycles. One that
// is not whole, or not as its seal says, is refused.
func OpenCyclic(fsys store.FS, data string) (*Cyclic, error) {
	seal, err := openSeal(fsys, data)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	parsed, err := all.Parse(seal.Game)
	if err != nil {
		return nil, fmt.Errorf("table: %s: %w", filepath.Join(data, Dir), err)
	}
	g, ok := parsed.(game.Cyclic)
	if !ok {
		return nil, fmt.Errorf("table: %s: game %q has no cycles", filepath.Join(data, Dir), seal.Game)
	}
	return OpenCyclicOf(fsys, data, g)
}

// OpenCyclicOf is OpenCyclic for a game that is known.
func OpenCyclicOf(fsys store.FS, data string, g game.Cyclic) (*Cyclic, error) {
	seal, err := openSeal(fsys, data)
	if err == nil && seal.Game != g.Spec() {
		err = &store.DamageError{Name: filepath.Join(data, Dir), Reason: fmt.Sprintf("of another game: expected %q, found %q", g.Spec(), seal.Game)}
	}
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	index, err := rangeio.ReadIndex(fsys, filepath.Join(data, Dir), g)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	file, err := rangeio.OpenFile(fsys, filepath.Join(data, CyclicFile), g)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	return &Cyclic{g: g, file: file, index: index, cursor: file.Cursor(), at: -1}, nil
}

// WriteCyclic writes the states after the last pass as the file of a table. The
// number of an open position's moves does not go into it: it is a draw now.
func WriteCyclic(out io.Writer, g game.Cyclic, states *rangeio.Positions) error {
	w, err := streamfmt.NewRangeWriter(out, g.Spec())
	if err != nil {
		return err
	}
	c := states.Cursor()
	var s block.State
	var packed streamfmt.Packed
	open := make(block.Set, block.Words(g.RangeSize()))
	for i := range states.Len() {
		if err := c.Read(i, &s); err != nil {
			return err
		}
		if s.Reached.Empty() {
			continue
		}
		open = open[:len(s.Reached)]
		s.Open(open)
		s.Number.PutAll(0, open)
		packed.Reset()
		packed.AddState(states.Range(i), game.RangeLen(g, states.Range(i)), &s, true)
		if err := w.Append(&packed); err != nil {
			return err
		}
	}
	return w.Close()
}

// Close closes the file.
func (t *Cyclic) Close() error { return t.file.Close() }

// Game is the game that the table solves.
func (t *Cyclic) Game() game.Cyclic { return t.g }

// Counts is the number of positions by value, remoteness<<2 | result.
func (t *Cyclic) Counts() streamfmt.Counts { return t.file.Counts() }

// Lookup returns the worth of a position; ok is false if play cannot reach it. It
// reads one range, unless it is that of the look-up before.
func (t *Cyclic) Lookup(p game.Position) (w game.Worth, ok bool, err error) {
	if err := t.g.Check(p); err != nil {
		return w, false, err
	}
	size := uint64(t.g.RangeSize())
	i, found := t.find(p / size)
	if !found {
		return w, false, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at != i {
		t.at = -1
		if err := t.cursor.Read(i, &t.state); err != nil {
			return w, false, err
		}
		t.at = i
	}
	value, ok := t.state.Value(int(p % size))
	return game.WorthOf(value), ok, nil
}

// find looks for a range.
func (t *Cyclic) find(rng uint64) (i int, found bool) {
	lo, hi := 0, t.file.Len()
	for lo < hi {
		if mid := (lo + hi) / 2; t.file.Range(mid) < rng {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < t.file.Len() && t.file.Range(lo) == rng
}

// A CyclicChoice is a move with the worth of the position it leads to, for the
// player who is to move there.
type CyclicChoice struct {
	game.Move
	Worth game.Worth
}

// Choices returns the moves of a position, the best first; of equally good ones
// in the order of the game. The position must be one that play can reach.
func (t *Cyclic) Choices(p game.Position) ([]CyclicChoice, error) {
	var choices []CyclicChoice
	for _, m := range t.g.Moves(nil, p) {
		w, ok, err := t.Lookup(m.To)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("table: move %s from %d leads to %d, which is missing", m.Name, p, m.To)
		}
		choices = append(choices, CyclicChoice{m, w})
	}
	slices.SortStableFunc(choices, func(a, b CyclicChoice) int { return cmp.Compare(rank(a.Worth), rank(b.Worth)) })
	return choices, nil
}

// rank orders the positions that a move may lead to: lost ones, the nearest
// first; ties, the nearest first; draws; won ones, the farthest first.
func rank(w game.Worth) int {
	const each = game.MaxByteRemoteness + 1
	switch w.Result {
	case game.Loses:
		return w.Remoteness
	case game.Ties:
		return each + w.Remoteness
	case game.Draws:
		return 2 * each
	}
	return 4*each - w.Remoteness
}
