// Package compare finds the difference between two results, tables or lines of text with values, and between the lines of
// a step, and writes it in words.
package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

// ParseLine parses a line of final, or of a tier's directory, that has a value.
func ParseLine(g game.Game, line string) (p game.Position, v game.Value, err error) {
	fields := strings.Split(line, "\t")
	if len(fields) < 2 || len(fields) > 3 {
		return p, v, errors.New("expected a position, its value, and its number of moves if it has one, separated by tabs")
	}
	a, err := notation.Parse(g, line, notation.FromFinal)
	if err != nil {
		return p, v, err
	}
	p = a.Position
	word, remoteness := fields[1], 0
	if len(fields) == 3 && fields[2] != "" {
		if remoteness, err = strconv.Atoi(fields[2]); err != nil || remoteness < 0 || remoteness > game.MaxRemoteness {
			return p, v, fmt.Errorf("%q is not a number of moves", fields[2])
		}
	}
	for _, result := range []game.Result{game.Draws, game.Loses, game.Wins, game.Ties} {
		if word == result.String() {
			v = result.In(remoteness)
			return p, v, nil
		}
	}
	if values := g.Values(); !values.OfMover && len(fields) == 3 {
		for _, o := range []game.Outcome{game.Undecided, game.SecondWins, game.FirstWins, game.Tie} {
			if word == values.Word(o) {
				v = game.NewValue(o, remoteness)
				return p, v, nil
			}
		}
	}
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil {
		return p, v, fmt.Errorf("%q is not a value", word)
	}
	v = game.Value(n)
	return p, v, nil
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

// Between finds the difference between two results of a game. Text need not have the positions that have no line in final:
// if one of the results is text, it skips those that only one of them has.
func Between(g game.Game, sources [2]*Source) (*Difference, error) {
	d := &Difference{Game: g}
	for _, s := range sources {
		if err := s.read(g); err != nil {
			return nil, err
		}
	}
	text := sources[0].table == nil || sources[1].table == nil
	for i, s := range sources {
		if err := s.each(text, func(p game.Position, v game.Value) error {
			w, there, err := sources[1-i].value(p)
			if there || !text || game.Listed(g, p) {
				d.add(i, p, v, w, there)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add counts a position of a result, with its value v, and w in the other one if it is there. It keeps the first one that
// differs, by tier and key.
func (d *Difference) add(result int, p game.Position, v, w game.Value, there bool) {
	d.All[result]++
	switch {
	case !there:
		d.Alone[result]++
	case v == w:
		return
	case result == 0: // the other one finds it too
		d.Unequal++
	}
	if !d.Any || d.order(p, d.First.Position) < 0 {
		d.Any, d.First = true, Pair{Position: p}
		d.First.Values[result], d.First.There[result] = v, true
		d.First.Values[1-result], d.First.There[1-result] = w, there
	}
}

// order compares positions by tier and key.
func (d *Difference) order(p, q game.Position) int {
	return cmp.Or(cmp.Compare(game.TierOf(d.Game, p), game.TierOf(d.Game, q)), cmp.Compare(p, q))
}

// each calls do for each position of a result until it fails; of a table, if images is true, for all images of a position, as
// text has them, and otherwise for the positions that it stores.
func (s *Source) each(images bool, do func(game.Position, game.Value) error) error {
	for p, v := range s.values {
		if err := do(p, v); err != nil {
			return err
		}
	}
	if s.table == nil {
		return nil
	}
	scan, err := s.table.Scan(context.Background(), table.Selection{Images: images})
	if err != nil {
		return err
	}
	for b, err := range scan.Batches() {
		if err != nil {
			return err
		}
		for i, p := range b.Positions {
			if err := do(p, b.Values[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// value returns the value of a position of a result; ok is false if it does not have the position.
func (s *Source) value(p game.Position) (v game.Value, ok bool, err error) {
	if s.table == nil {
		v, ok = s.values[p]
		return v, ok, nil
	}
	return s.table.Lookup(p)
}
