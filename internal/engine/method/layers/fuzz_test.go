package layers_test

import (
	"io"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzSteps runs any step on any text, and checks that an error names the location.
func FuzzSteps(f *testing.F) {
	rules := must.Get(mnk.Kind.New([]int{2, 2, 2}))(f)
	g := rules.(game.Tiered)
	steps := []string{step.Init, step.Possible, step.Solve, step.Final}
	for _, seed := range []string{"00\n", "01\tp00\n", "41\tm6x2\n41\tp01\n", "45\t2\n", "01\tp00\n02\tp00\n04\tp00\n08\tp00\n", "41\tm6\n41\tm6\n41\tp01\n"} {
		for i := range 16 {
			f.Add(seed, byte(i), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which, tier byte) {
		name := steps[int(which)%len(steps)]
		o := step.Options{Source: "x", Tier: int(tier) % (g.Tiers() + 2), Memory: (1 + int(tier)%3) * layers.RowMemory, Combine: which&4 != 0, Create: make(outbox).create}
		do := layers.New(g).Map
		if which&8 != 0 {
			do = layers.New(g).Reduce
		}
		if _, err := do(name, strings.NewReader(text), io.Discard, o); err != nil && !strings.HasPrefix(err.Error(), "x:") {
			t.Errorf("%s: %v", name, err)
		}
	})
}
