package driver

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/streamfmt"
)

const (
	// slotBytes is how many bytes the table has for a slot of the tiers: measured on 5×5
	// (docs/benchmarks.md). Of larger boards play reaches a smaller share of the slots:
	// from manySlots on it is manyBytes, measured on 6×6.
	slotBytes = 0.25
	manySlots = 1e11
	manyBytes = 0.08
	// slotPositions is the share of the slots of 5×5 that play reaches.
	slotPositions = 0.4
	// hashBytes is how many bytes the passes and the table of a game with cycles have for a
	// hash when they have most: measured on 4×4 Quick Cross.
	hashBytes = 4.5
	// filesBeside is how many files a run has open beside its parts.
	filesBeside = 64
	// fewParts are tried in any case.
	fewParts = 16
)

// diskFor is about how many bytes a run takes on the disk at most; 0: that is not known,
// as of a game by lists, or of a run that --until-tier ends.
func diskFor(g game.Game, o *solve.Options) float64 {
	if o.UntilTier >= 0 {
		return 0
	}
	switch g := g.(type) {
	case game.Tiered:
		// Of a board of one column most slots cannot be reached: a tier has no more
		// positions than those of the one before have moves.
		slots, tier := 0.0, 1.0
		moves := float64(len(g.Moves(nil, g.Start())))
		for i := range g.Tiers() + 1 {
			slots += min(tier, g.Slots(i))
			tier *= moves
		}
		bytes := slots * slotBytes
		if slots >= manySlots {
			bytes = slots * manyBytes
		}
		if o.KeepAll && o.Codec == jobdir.Text {
			const value, both = len("\t66\n"), 2
			bytes += slots * slotPositions * both * float64(streamfmt.KeyWidth(g.KeyBits())+value)
		} else if o.KeepAll {
			bytes *= 2
		}
		if o.Final == solve.FinalYes {
			bytes += plan.FinalBytes(g, slots*slotPositions)
		}
		return bytes
	case game.Cyclic:
		return float64(g.Positions()) * hashBytes
	}
	return 0
}

// freeOn is how many bytes are free where a directory of this machine is, or will be; ok
// is false if that cannot be said.
func freeOn(dir string) (bytes float64, ok bool) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err == nil {
			return float64(s.Bavail) * float64(s.Bsize), true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return 0, false
}

// roomDraws is how many boards are drawn to count the positions of a game that may not fit: a
// second of CPU, for some per cent.
const roomDraws = 30_000

// roomMargin is what a run is given beyond its plan: the model is held to 1.3.
const roomMargin = 1.2

// plannedDisk is what package plan says that a run takes on the disk at most, of a game whose
// moves are maps of bitmaps; of others, and where more is kept than that, it is bound.
func plannedDisk(ctx context.Context, g game.Game, o *solve.Options, bound float64) (float64, error) {
	if _, ok := g.(game.Tiered); !ok || o.KeepAll {
		return bound, nil
	}
	counts, err := count.Of(ctx, g, count.Options{Draws: roomDraws, Exact: roomDraws})
	if err != nil {
		return 0, err
	}
	if counts.How == count.AtLeast {
		return bound, nil
	}
	p, err := plan.Make(g, counts, plan.Builtin(), plan.Where{Runner: plan.Inline, Machine: plan.Machine{Name: "this machine", Cores: 1}})
	if err != nil {
		return 0, err
	}
	need := p.Total.PeakBytes
	if o.Final == solve.FinalYes {
		need = max(need, p.Total.KeptBytes+plan.FinalBytes(g, p.Total.Positions))
	}
	return min(bound, need*roomMargin), nil
}

// enoughDisk asks whether to begin a run for which the disk may be too small: a person at
// a terminal; elsewhere --yes answers.
func enoughDisk(c *cli.Context, g game.Game, place *filesys.Place, o *solve.Options) error {
	need := diskFor(g, o)
	free, known := freeOn(place.Path)
	if place.HDFS != nil || !known || need <= free || c.Bool("yes") {
		return nil
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	need, err := plannedDisk(ctx, g, o, need)
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	if err != nil {
		return err
	}
	if need <= free {
		return nil
	}
	return confirm(ctx, c, fmt.Sprintf("%s may take %sB on the disk, and %sB are free in %s", g.Spec(), short(need), short(free), place.Path))
}

// enoughFiles wants the parts of a directory, and of one that is read meanwhile, to be
// open at once.
func enoughFiles(o *solve.Options) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then it may be as many as there are
	}
	most := max(fewParts, (int64(min(limit.Cur, 1<<31))-filesBeside)/2)
	if int64(o.Reducers) > most {
		return command.Usagef("--reducers %d: at most %d, for a process may have %d files open here (ulimit -n)", o.Reducers, most, limit.Cur)
	}
	return nil
}
