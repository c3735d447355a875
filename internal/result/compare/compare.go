// Package compare finds the difference between two results, tables or lines of text with values, and between the lines of
// a step, and writes it in words.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
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
	if values := g.Values(); !values.OfMover && len(fields) == 3 {
		for _, o := range []game.Outcome{game.Undecided, game.SecondWins, game.FirstWins, game.Tie} {
			if word == values.Word(o) {
				v.Value = game.NewValue(o, remoteness)
				return v, nil
			}
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
	if !d.Any || d.Order(at.Position, d.First.Position) < 0 {
		d.First, d.Any = at, true
	}
}

// Order compares positions by tier and key, the order of tables.
func (d *Difference) Order(p, q game.Position) int {
	if a, ok := d.Game.(game.Layered); ok {
		return cmp.Or(cmp.Compare(a.Tier(p), a.Tier(q)), cmp.Compare(p, q))
	}
	return cmp.Compare(p, q)
}

// positions yields the positions of a result; of a table, if listed is true, those that final
// has lines for, which has all images of a position, and otherwise those that it stores.
func (s *Source) positions(listed bool) iter.Seq2[Valued, error] {
	return func(yield func(Valued, error) bool) {
		for _, v := range s.lines {
			if !yield(v, nil) {
				return
			}
		}
		if s.table == nil {
			return
		}
		scan, err := s.table.Scan(context.Background(), table.Selection{Images: listed})
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
				if (!listed || game.Listed(s.Game, p)) && !yield(Valued{p, b.Values[i]}, nil) {
					return
				}
			}
		}
	}
}

// merge compares two results that are in the order of Order.
func (d *Difference) merge(a, b iter.Seq2[Valued, error]) error {
	next, stop := iter.Pull2(b)
	defer stop()
	w, err, more := next()
	for v, failed := range a {
		if failed != nil {
			return failed
		}
		for ; more && err == nil && d.Order(w.Position, v.Position) < 0; w, err, more = next() {
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
