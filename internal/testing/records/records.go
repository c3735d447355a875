// Package records makes records of positions of Connect N, for tests. It knows no files.
package records

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/streamfmt"
)

// Random returns records of positions of one tier that occur in random games, sorted,
// each position once. About half of them have a value.
func Random(r *rand.Rand, g game.Blockwise, tier, games int) []streamfmt.Record {
	seen := map[game.Position]bool{}
	for range games {
		walk := gametest.Walk(r, g, tier)
		if p := walk[len(walk)-1]; g.Tier(p) == tier {
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
