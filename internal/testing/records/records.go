// Package records makes records of positions of Connect N, for tests.
package records

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/streamfmt"
)

// NewGame returns a board of Connect N.
func NewGame(t *testing.T, width, height, connect int) game.Tiered {
	t.Helper()
	g, err := connectn.New(width, height, connect)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Random returns records of positions of one tier that occur in random games, sorted,
// each position once. About half of them have a value.
func Random(r *rand.Rand, g game.Tiered, tier, games int) []streamfmt.Record {
	seen := map[game.Position]bool{}
	for range games {
		p := g.Start()
		for range tier {
			moves := g.Moves(nil, p)
			if len(moves) == 0 {
				break
			}
			p = moves[r.IntN(len(moves))].To
		}
		if g.Tier(p) == tier {
			seen[p] = true
		}
	}
	var recs []streamfmt.Record
	for p := range seen {
		rec := streamfmt.Record{Key: p}
		if r.IntN(2) == 0 {
			rec.Kind, rec.Value = streamfmt.Done, byte(r.IntN(60)<<2|1+r.IntN(3))
		}
		recs = append(recs, rec)
	}
	slices.SortFunc(recs, func(a, b streamfmt.Record) int { return cmp.Compare(a.Key, b.Key) })
	return recs
}

// Text returns records as lines, with keys of width digits.
func Text(recs []streamfmt.Record, width int) string {
	var out []byte
	for _, rec := range recs {
		out = streamfmt.AppendRecord(out, rec, width)
	}
	return string(out)
}
