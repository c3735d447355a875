package streaming

import (
	"bytes"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestRangesOf64Bits checks a board whose key is a range only: the number of ranges, 1<<64, was 0.
func TestRangesOf64Bits(t *testing.T) {
	g := must.Get(connectn.New(1, 63, 3))(t)
	for _, reducers := range []int{1, 2, 100} {
		if _, err := method.Of(g).Ranges(3, reducers); err != nil {
			t.Error(err)
		}
		if n := len(blocks.Borders(g, 3, reducers)); n != reducers {
			t.Errorf("%d borders, want %d", n, reducers)
		}
	}
}

// TestRanges reads the keys back: they must be strictly ascending.
func TestRanges(t *testing.T) {
	for _, board := range [][3]int{{3, 3, 3}, {4, 5, 3}, {5, 5, 4}, {1, 40, 4}} {
		g := must.Get(connectn.New(board[0], board[1], board[2]))(t)
		most := 1 << (g.KeyBits() - g.LowBits())
		width := streamfmt.KeyWidth(g.KeyBits())
		head := sequenceFile(textClass, nil)
		for tier := range g.Tiers() + 1 {
			for _, reducers := range []int{1, 2, 3, 7, most / 2, most - 1, most} {
				if reducers < 1 || reducers > min(most, 1<<12) {
					continue
				}
				keys, err := method.Of(g).Ranges(tier, reducers)
				if err != nil {
					t.Fatalf("%s, tier %d, %d reducers: %v", g.Spec(), tier, reducers, err)
				}
				file := Ranges(keys)
				records, ok := bytes.CutPrefix(file, head)
				size := 4 + 4 + 1 + width
				if !ok || len(records) != size*(reducers-1) {
					t.Fatalf("%s, tier %d, %d reducers: not %d keys: %q", g.Spec(), tier, reducers, reducers-1, file)
				}
				last := bytes.Repeat([]byte("0"), width)
				for i := 1; i < reducers; i++ {
					key := records[size*i-width : size*i]
					if bytes.Compare(key, last) <= 0 {
						t.Errorf("%s, tier %d, %d reducers: key %d is %s, after %s", g.Spec(), tier, reducers, i, key, last)
					}
					last = key
				}
			}
		}
		for _, reducers := range []int{-1, 0, most + 1} {
			if _, err := method.Of(g).Ranges(1, reducers); err == nil {
				t.Errorf("%s, %d reducers: no error", g.Spec(), reducers)
			}
		}
		for _, tier := range []int{-1, g.Tiers() + 1} {
			if _, err := method.Of(g).Ranges(tier, 1); err == nil {
				t.Errorf("%s, tier %d: no error", g.Spec(), tier)
			}
		}
	}
}
