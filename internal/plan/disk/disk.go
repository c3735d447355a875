// Package disk estimates the disk space that a solve needs, without counting positions if that is
// sufficient. It knows neither time nor cost.
package disk

import (
	"context"
	"io/fs"
	"path/filepath"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/streamfmt"
)

const (
	// slotBytes is the size of a table that is not compact in bytes per slot of the tiers, as measured on
	// 5×5. A run takes less, unless it keeps all directories. On larger boards, play reaches a smaller share of the slots: from
	// manySlots on, manyBytes applies, as measured on 6×6.
	slotBytes = 0.25
	manySlots = 1e11
	manyBytes = 0.08
	// slotPositions is the share of the slots of 5×5 that play reaches.
	slotPositions = 0.4
)

// Bound estimates the peak disk usage of a run in bytes. It returns 0 if that is not known:
// for games solved by layers, and for runs with --until-tier.
func Bound(g game.Game, o *solve.Options) float64 {
	m := method.Of(g)
	if first, _ := m.Slots(0); o.UntilTier >= 0 || first == 0 {
		return 0
	}
	// On a board with one column, most slots cannot be reached: a tier cannot have more
	// positions than the previous one has moves.
	slots, tier := 0.0, 1.0
	moves := float64(len(g.Moves(nil, g.Start())))
	for i := range game.LastTier(g) + 1 {
		of, _ := m.Slots(i)
		slots += min(tier, of)
		tier *= moves
	}
	bytes := slots * slotBytes
	if slots >= manySlots {
		bytes = slots * manyBytes
	}
	if o.KeepAll {
		bytes *= 2
	}
	if o.Lines {
		const value, both = len("\t66\n"), 2
		bytes += slots * slotPositions * both * float64(streamfmt.KeyWidth(g.KeyBits())+value)
	}
	return bytes + finalBound(g, o, slots)
}

// finalBound returns the most bytes that final can have if there are at most the given number of
// positions.
func finalBound(g game.Game, o *solve.Options, positions float64) float64 {
	if o.Final == solve.FinalAuto {
		positions = min(positions, solve.FinalLimit)
	}
	return textBytes(g, o, positions)
}

// textBytes returns the size in bytes of the directory final, 0 if the run does not write it.
func textBytes(g game.Game, o *solve.Options, positions float64) float64 {
	if o.Final == solve.FinalYes || o.Final == solve.FinalAuto && positions <= solve.FinalLimit {
		return plan.FinalBytes(g, positions)
	}
	return 0
}

// Used returns the number of bytes in the files of a local directory.
func Used(dir string) (bytes float64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += float64(info.Size())
		}
		return nil
	})
	return bytes
}

// Free returns the free bytes on the disk of a local directory, which need not exist yet; ok
// is false if that is unknown.
func Free(dir string) (bytes float64, ok bool) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if free, err := system.FreeBytes(dir); err == nil {
			return free, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return 0, false
}

// draws is the number of boards drawn at random to count the positions of a game that may
// not fit on the disk: a second of CPU time, for a precision of some percent.
const draws = 30_000

// margin is the safety factor on the planned disk usage. Tests check that the plan is
// accurate within a factor of 1.3.
const margin = 1.2

// Planned returns the peak disk usage that package plan computes, with a margin, at most
// bound. It returns bound for games that cannot be counted, and if all
// directories are kept.
func Planned(ctx context.Context, g game.Game, o *solve.Options, bound float64) (float64, error) {
	if o.KeepAll {
		return bound, nil
	}
	counts, err := count.Of(ctx, g, count.Options{Draws: draws, Exact: draws})
	if err != nil {
		return 0, err
	}
	if counts.How == count.AtLeast {
		return bound, nil
	}
	p, err := plan.Make(g, counts, plan.Where{Runner: plan.Inline, Nodes: 1, Cores: 1}, plan.Rate{})
	if err != nil {
		return 0, err
	}
	need := max(p.Total.PeakBytes, p.Total.KeptBytes+textBytes(g, o, max(p.Total.Positions, p.Total.Images)))
	return min(bound, need*margin), nil
}
