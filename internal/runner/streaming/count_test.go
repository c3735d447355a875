package streaming

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/runner/inline"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/solve"
)

// A recounted runner wants of each pass that what is counted without a job's counters
// is what was counted with them.
type recounted struct {
	inline.Runner
	t      *testing.T
	passes int
}

func (r *recounted) RunPass(ctx context.Context, pass *runner.Pass) (runner.PassStats, error) {
	stats, err := r.Runner.RunPass(ctx, pass)
	if err != nil || pass.Step == step.Final {
		return stats, err
	}
	if err := store.WriteFile(pass.FS, filepath.Join(pass.Output, store.Success), nil); err != nil {
		return stats, err
	}
	r.passes++
	got, err := countPass(pass, runner.PassStats{})
	if got != stats {
		r.t.Errorf("%s: %+v, want %+v", pass.Name, got, stats)
	}
	return stats, err
}

// TestLostCounters wants the statistics of passes from their files.
func TestLostCounters(t *testing.T) {
	g, err := quickcross.New(4, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, codec := range []tierio.Codec{tierio.Blocks, tierio.Text} {
		data, err := store.Create(store.Local{}, t.TempDir(), g.Spec(), store.Fresh, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		r := &recounted{t: t}
		o := solve.Options{Runner: r, Reducers: 3, Codec: codec, Final: solve.FinalNo, UntilTier: -1}
		if _, err := solve.Run(t.Context(), data, g, o); err != nil {
			t.Fatal(err)
		}
		if r.passes != 23 { // create, 13 of mark, 9 of solve
			t.Errorf("%d passes", r.passes)
		}
	}
}
