package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// TestBorders checks that there is a border between each two parts, that they ascend, and that
// they are the first keys of ranges.
func TestBorders(t *testing.T) {
	tiered := must.Get(connectn.New(5, 5, 4))(t)
	for _, test := range []struct {
		g    game.Game
		step string
		size uint64 // of a range
	}{
		{tiered, step.Possible, 1 << tiered.LowBits()},
		{tiered, step.Final, 1 << tiered.LowBits()},
	} {
		for _, reducers := range []int{1, 2, 7} {
			borders, err := (&runner.Job{Method: game.MethodOf(test.g), Step: test.step, Tier: 12, Reducers: reducers}).Borders()
			if err != nil || len(borders) != reducers-1 || !slices.IsSorted(borders) {
				t.Errorf("%s, %s, %d reducers: borders %x, %v", test.g.Spec(), test.step, reducers, borders, err)
			}
			for _, b := range borders {
				if b == 0 || b%test.size != 0 {
					t.Errorf("%s, %s: the border %#x is not the first key of a range after the first", test.g.Spec(), test.step, b)
				}
			}
		}
	}
}

// TestRows solves a board as text and packed, and checks that the jobs read the same
// numbers of keys from both.
func TestRows(t *testing.T) {
	g := must.Get(mnk.New(3, 2, 2))(t)
	count := func(codec jobdir.Codec) (keys [3]int) {
		dir := solved.Dir(t, g, func(o *solve.Options) { o.Reducers, o.KeepAll, o.Codec = 2, true, codec })
		open := func(name string) *layers.Dir {
			return must.Get(layers.OpenDir(store.Local{}, filepath.Join(dir, name), g))(t)
		}
		for i, job := range []*runner.Job{
			{Step: step.Possible, Tier: 3, Inbox: []*layers.Dir{open("data_first2")}},
			{Step: step.Solve, Tier: 2, Edges: []string{filepath.Join(dir, "data_first2")}, Inbox: []*layers.Dir{open("data_second3")}},
			{Step: step.Final, Tier: 3, Input: []string{filepath.Join(dir, "table/tier-02.pack"), filepath.Join(dir, "table/tier-03.pack")}},
		} {
			job.FS, job.Method = store.Local{}, game.MethodOf(g)
			all := must.Get(job.Rows(g))(t)
			found := make(map[string]bool) // workers may send the same message in one row or in several
			for _, r := range all {
				if r.Source != nil {
					must.OK(t, r.Source.Each(func(rows []layers.Row) error {
						for _, row := range rows {
							found[fmt.Sprintf("%05x", row.Key)] = true
						}
						return nil
					}))
				}
				for _, name := range r.Files {
					text := must.Get(os.ReadFile(name))(t)
					for line := range strings.Lines(string(text)) {
						key, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
						found[fmt.Sprintf("%05s", key)] = true
					}
				}
			}
			keys[i] = len(found)
			if err := runner.CloseRows(all); err != nil {
				t.Error(err)
			}
		}
		return keys
	}
	text, packed := count(jobdir.Text), count(jobdir.Packed)
	if text != packed || slices.Contains(text[:], 0) {
		t.Errorf("%d keys of text, %d packed", text, packed)
	}
}

// TestCount checks which counters of a job's tasks become its statistics.
func TestCount(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	of := func(side, name string) int64 {
		if side == "map" {
			return 1 // what maps count is not what a job counts
		}
		return map[string]int64{step.Messages: 20}[name] + 100
	}
	for name, finished := range map[string]int64{step.Possible: 100, step.Solve: 0} {
		var s runner.Stats
		s.Count(&runner.Job{Method: game.MethodOf(g), Step: name}, of)
		if s.Records != 100 || s.Messages != 120 || s.Finished != finished {
			t.Errorf("%s: %+v", name, s.Counts)
		}
	}
}
