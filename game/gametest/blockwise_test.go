package gametest_test

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// misfinished is a Blockwise game whose Finish is wrong.
type misfinished struct {
	game.Blockwise
	wrong func(*block.Block)
}

func (g misfinished) Finish(b *block.Block) {
	g.Blockwise.Finish(b)
	g.wrong(b)
}

// misdeduced is a Deduced game whose Deduce is wrong.
type misdeduced struct {
	game.Deduced
	wrong func(*block.Deduced)
}

func (g misdeduced) Deduce(d *block.Deduced, tier int, rng uint64, from, to int) {
	g.Deduced.Deduce(d, tier, rng, from, to)
	g.wrong(d)
}

// TestDeducedContract checks that the contract finds positions that Deduce removes, or says wrong values of.
func TestDeducedContract(t *testing.T) {
	rules := must.Get(connectn.New(3, 3, 3))(t)
	for want, wrong := range map[string]func(*block.Deduced){
		"in 0 sets": func(d *block.Deduced) { clear(d.Unknown) },
		"in 2 sets": func(d *block.Deduced) { d.Unknown.Union(d.Known[1]) },
		"Deduce says": func(d *block.Deduced) {
			d.Known[1].Union(d.Unknown)
			clear(d.Unknown)
		},
	} {
		if f := failure(t, misdeduced{rules, wrong}); !strings.Contains(f, want) {
			t.Errorf("%q, want %q", f, want)
		}
	}
}

// A Blockwise game satisfies the contract with all combinations of Values; if Finish does not
// agree with Primitive, it does not.
func TestBlockwiseContract(t *testing.T) {
	rules := must.Get(connectn.New(3, 3, 3))(t)
	for _, values := range testgames.AllValues() {
		if f := failure(t, testgames.Reread{Blockwise: rules, Reading: values}); f != "" {
			t.Errorf("%+v: %s", values, f)
		}
	}
	for want, wrong := range map[string]func(*block.Block){
		"Finish leaves": func(b *block.Block) { b.Open.Union(b.Done); clear(b.Done) },
		"but Finish sets": func(b *block.Block) {
			for slot := range b.Done.All() {
				b.Val[slot] ^= 3 // the other player wins
			}
		},
	} {
		if f := failure(t, misfinished{rules, wrong}); !strings.Contains(f, want) {
			t.Errorf("%q, want %q", f, want)
		}
	}
}
