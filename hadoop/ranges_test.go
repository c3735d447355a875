package hadoop

import (
	"bytes"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestRanges reads the keys back: one for each part but the first, ascending
// strictly, and those of positions are the game's borders.
func TestRanges(t *testing.T) {
	for _, board := range [][3]int{{2, 2, 2}, {3, 3, 3}, {4, 5, 3}, {5, 5, 4}, {1, 40, 4}} {
		g, err := connectn.New(board[0], board[1], board[2])
		if err != nil {
			t.Fatal(err)
		}
		for tier := range g.Tiers() + 1 {
			for _, reducers := range []int{1, 2, 3, 7, 300} {
				width := streamfmt.KeyWidth(g.KeyBits())
				borders := map[string]bool{string(streamfmt.AppendKey(nil, 0, width)): true} // of the first part
				for i := 1; i < reducers; i++ {
					border := g.Border(tier, float64(i)/float64(reducers)) << g.LowBits()
					borders[string(streamfmt.AppendKey(nil, border, width))] = true
				}
				records, ok := bytes.CutPrefix(Ranges(g, tier, reducers), sequenceFile(nil))
				if !ok {
					t.Fatalf("%s, tier %d, %d reducers: no head", g.Spec(), tier, reducers)
				}
				var last []byte
				keys, own := 0, 1
				for ; len(records) > 0; keys++ {
					size := records[8]
					key := records[9 : 9+size]
					records = records[9+size:]
					if bytes.Compare(last, key) >= 0 {
						t.Errorf("%s, tier %d, %d reducers: %s after %s", g.Spec(), tier, reducers, key, last)
					}
					if borders[string(key)] {
						own++
					} else if key[0] <= 'f' {
						t.Errorf("%s, tier %d, %d reducers: %s is no border", g.Spec(), tier, reducers, key)
					}
					last = key
				}
				if keys != reducers-1 || own != len(borders) {
					t.Errorf("%s, tier %d, %d reducers: %d keys, %d of %d borders", g.Spec(), tier, reducers, keys, own, len(borders))
				}
			}
		}
	}
}
