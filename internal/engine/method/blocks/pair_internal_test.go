package blocks

import (
	"bytes"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestLargePair checks that the writer refuses blocks that are too large for a reader, and
// no others.
func TestLargePair(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	packed := make([]byte, streamfmt.MaxPair+1)
	for _, n := range []int{streamfmt.MaxPair, streamfmt.MaxPair + 1} {
		var out bytes.Buffer
		p := blockPairs{filter: &filter{Writer: step.NewWriter(&out, g)}, packed: packed[:n]}
		err := p.write(7)
		if n > streamfmt.MaxPair {
			if want := "range 0x7: its block takes 67108865 bytes, at most 67108864 fit into a pair"; err == nil || !strings.HasPrefix(err.Error(), want) || out.Len() > 0 {
				t.Errorf("%v, %d bytes, want %s", err, out.Len(), want)
			}
			continue
		}
		must.OK(t, err)
		if rng, read, err := streamfmt.NewPairReader(&out, "test").Next(); rng != 7 || len(read) != n || err != nil {
			t.Errorf("range %#x, %d bytes, %v", rng, len(read), err)
		}
	}
}
