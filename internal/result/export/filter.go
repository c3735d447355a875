package export

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/table"
)

// SelectionOf returns the positions of a tier, a remoteness, each a number N or a range N-M, and an outcome, a word of the
// game or a value byte; "" stands for all. An error begins with the name of what is wrong.
func SelectionOf(t *table.Table, tier, remoteness, outcome string) (of table.Selection, err error) {
	g := t.Game()
	if _, ok := g.(game.Tiered); !ok && tier != "" {
		return of, fmt.Errorf("tier: %s has none", g.Spec())
	}
	tiers, err := spanOf("tier", tier, span{0, t.Tiers()})
	if err != nil {
		return of, err
	}
	moves, err := spanOf("remoteness", remoteness, span{0, game.MaxRemoteness})
	if err != nil {
		return of, err
	}
	outcomes, err := outcomeOf(g, outcome)
	of.Tier = tiers.has
	of.Value = func(v game.Value) bool {
		return (v.Valid() && moves.has(v.Remoteness()) || !v.Valid() && remoteness == "") && outcomes(v)
	}
	return of, err
}

// A span is a range of numbers, first and last included.
type span struct{ first, last int }

func (s span) has(n int) bool { return n >= s.first && n <= s.last }

// spanOf parses a number or a range; "" stands for all.
func spanOf(name, text string, all span) (span, error) {
	if text == "" {
		return all, nil
	}
	first, last, two := strings.Cut(text, "-")
	if !two {
		last = first
	}
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	if err != nil || err2 != nil || a > b || a < all.first || b > all.last {
		return span{}, fmt.Errorf("%s %q: expected a number from %d to %d, or a range such as 3-5", name, text, all.first, all.last)
	}
	return span{a, b}, nil
}

// outcomeOf returns a filter for the values that a word describes; every value if the word is
// "".
func outcomeOf(g game.Game, word string) (func(game.Value) bool, error) {
	if word == "" {
		return func(game.Value) bool { return true }, nil
	}
	if n, err := strconv.ParseUint(word, 0, 16); err == nil {
		return func(v game.Value) bool { return uint64(v) == n }, nil
	}
	values, can := g.Values(), []string(nil)
	for _, o := range game.Outcomes(g) {
		names := []string{values.Word(o)}
		if !values.OfMover && (o == game.FirstWins || o == game.SecondWins) {
			names = append(names, values.Players[o.Winner()])
		}
		for _, name := range names {
			if strings.EqualFold(word, name) {
				return func(v game.Value) bool { return v.Outcome() == o }, nil
			}
		}
		can = append(can, strconv.Quote(names[len(names)-1]))
	}
	return nil, fmt.Errorf("outcome %q: expected %s, or a value byte", word, strings.Join(can, ", "))
}
