// Package compare finds the difference between two results: tables, or lines of text with values.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

// A Valued position is a position of a result, with its value.
type Valued struct {
	Position game.Position
	Value    game.Value
}

// ParseLine parses a line of final, or of a tier's directory, that has a value.
func ParseLine(g game.Game, line string) (v Valued, err error) {
	a, err := notation.Parse(g, line, notation.FromFinal)
	if err != nil {
		return v, err
	}
	v.Position = a.Position
	fields := strings.Split(line, "\t")
	if len(fields) < 2 {
		return v, errors.New("it has no value")
	}
	word, remoteness := fields[1], 0
	if len(fields) == 3 && fields[2] != "" {
		if remoteness, err = strconv.Atoi(fields[2]); err != nil || remoteness < 0 || remoteness > game.MaxRemoteness {
			return v, fmt.Errorf("%q is not a number of moves", fields[2])
		}
	}
	for _, result := range []game.Result{game.Draws, game.Loses, game.Wins, game.Ties} {
		if word == result.String() {
			v.Value = result.In(remoteness)
			return v, nil
		}
	}
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil {
		return v, fmt.Errorf("%q is not a value", word)
	}
	v.Value = game.Value(n)
	return v, nil
}

// A Difference describes how two results differ.
type Difference struct {
	Game    game.Game
	All     [2]uint64 // number of positions of each result
	Alone   [2]uint64 // number of positions that only this result has
	Unequal uint64    // number of positions with different values
	First   Pair      // the first position that differs, by tier and key
	Any     bool      // whether any differs
}

// A Pair is a position with its values in two results; it may be missing in one of them.
type Pair struct {
	Position game.Position
	Values   [2]game.Value
	There    [2]bool
}

// add counts a position. It keeps the first one that differs, by tier and key.
func (d *Difference) add(at Pair) {
	for i, there := range at.There {
		if there {
			d.All[i]++
		} else {
			d.Alone[1-i]++
		}
	}
	switch {
	case at.There == [2]bool{true, true} && at.Values[0] == at.Values[1]:
		return
	case at.There == [2]bool{true, true}:
		d.Unequal++
	}
	if !d.Any || d.before(at.Position, d.First.Position) {
		d.First, d.Any = at, true
	}
}

// before orders positions by tier and key.
func (d *Difference) before(p, q game.Position) bool {
	if a, ok := d.Game.(game.Acyclic); ok && a.Tier(p) != a.Tier(q) {
		return a.Tier(p) < a.Tier(q)
	}
	return p < q
}

// A Side is one of the two results: a table, or the lines of a text.
type Side struct {
	Table *table.Table
	Lines []Valued // sorted by position; of a text
}

// Find compares the results. Two tables are merged in order. If one result is text, the positions
// of the other are looked up in it.
func (d *Difference) Find(sides [2]Side) error {
	if sides[0].Table != nil && sides[1].Table != nil {
		return d.merge(positions(sides[0].Table, false), positions(sides[1].Table, false))
	}
	text := 0
	if sides[0].Table != nil {
		text = 1
	}
	other := seqOf(sides[1-text].Lines)
	if t := sides[1-text].Table; t != nil {
		other = positions(t, true)
	}
	return d.against(text, sides[text].Lines, other)
}

// positions yields the positions of a table, or, if listed is true, only those that final has
// lines for.
func positions(t *table.Table, listed bool) iter.Seq2[Valued, error] {
	return func(yield func(Valued, error) bool) {
		scan, err := t.Scan(func(int) bool { return true })
		if err != nil {
			yield(Valued{}, err)
			return
		}
		for b, err := range scan.Batches() {
			if err != nil {
				yield(Valued{}, err)
				return
			}
			for i, p := range b.Positions {
				if (!listed || game.Listed(t.Game(), p)) && !yield(Valued{p, b.Values[i]}, nil) {
					return
				}
			}
		}
	}
}

func seqOf(all []Valued) iter.Seq2[Valued, error] {
	return func(yield func(Valued, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// against looks up the positions of one result in the lines of the other, whose number is held.
func (d *Difference) against(held int, lines []Valued, other iter.Seq2[Valued, error]) error {
	seen := make([]bool, len(lines))
	for v, err := range other {
		if err != nil {
			return err
		}
		at := Pair{Position: v.Position}
		at.Values[1-held], at.There[1-held] = v.Value, true
		i, ok := slices.BinarySearchFunc(lines, v.Position, func(l Valued, p game.Position) int { return cmp.Compare(l.Position, p) })
		if ok {
			seen[i] = true
			at.Values[held], at.There[held] = lines[i].Value, true
		}
		d.add(at)
	}
	for i, v := range lines {
		if !seen[i] {
			at := Pair{Position: v.Position}
			at.Values[held], at.There[held] = v.Value, true
			d.add(at)
		}
	}
	return nil
}

// merge compares two results that are sorted by tier and key.
func (d *Difference) merge(a, b iter.Seq2[Valued, error]) error {
	next, stop := iter.Pull2(b)
	defer stop()
	w, err, more := next()
	for v, failed := range a {
		if failed != nil {
			return failed
		}
		for ; more && err == nil && d.before(w.Position, v.Position); w, err, more = next() {
			d.add(Pair{w.Position, [2]game.Value{0, w.Value}, [2]bool{false, true}})
		}
		if err != nil {
			return err
		}
		if more && w.Position == v.Position {
			d.add(Pair{v.Position, [2]game.Value{v.Value, w.Value}, [2]bool{true, true}})
			w, err, more = next()
		} else {
			d.add(Pair{v.Position, [2]game.Value{v.Value, 0}, [2]bool{true, false}})
		}
	}
	for ; more && err == nil; w, err, more = next() {
		d.add(Pair{w.Position, [2]game.Value{0, w.Value}, [2]bool{false, true}})
	}
	return err
}
