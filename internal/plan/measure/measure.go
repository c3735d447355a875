// Package measure plans the solve of a game: it counts the positions, and solves smaller boards to measure the rate.
package measure

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// firstDraws and boardDraws are the numbers of samples for the first count of a game, and for a smaller board.
	firstDraws = 20_000
	boardDraws = 2_000
	// leastGrowth and mostGrowth bound how many times the CPU of the last board the next one is expected to take.
	leastGrowth = 2.0
	mostGrowth  = 20.0
	// mostTime is the most time for a plan, measureShare the part of a plan's time that its solves may take of CPU.
	mostTime     = 9 * time.Second
	measureShare = 0.7
)

// allowed returns the time that the plan of a solve of this many seconds may take: less than a tenth of it if that is
// more than a second, and at most nine seconds.
func allowed(seconds float64) time.Duration {
	return min(time.Duration(max(1, min(seconds, 1e3)/12)*float64(time.Second)), mostTime)
}

// Plan counts the positions of a game of this kind with the options o, measures the rate, and makes the plan. Without
// Time and Draws, the count takes what is left of the time that the plan may take.
func Plan(ctx context.Context, kind game.Kind, g game.Game, where plan.Where, o count.Options) (*plan.Plan, error) {
	begun := time.Now()
	first := o
	_, sampled := g.(game.Sampled)
	if sampled && o.Time == 0 && o.Draws == 0 {
		first.Draws, first.Brief = firstDraws, true
	}
	counts, err := count.Of(ctx, g, first)
	if err != nil {
		return nil, err
	}
	if counts.How == count.AtLeast {
		return plan.Make(g, counts, where, plan.Rate{})
	}
	// wall returns the planned seconds of the solve.
	wall := func(rate plan.Rate) float64 {
		if p, err := plan.Make(g, counts, where, rate); err == nil {
			return p.Total.WallHours * 3600
		}
		return 0
	}
	rate, err := rateOf(ctx, append(smaller(kind, g), g), wall, o.Progress)
	if err != nil {
		return nil, err
	}
	if left := allowed(wall(rate)) - time.Since(begun); first.Draws != o.Draws && counts.How == count.Sampled && left > 0 {
		o.Time, o.Brief = left, true
		if counts, err = count.Of(ctx, g, o); err != nil {
			return nil, err
		}
	}
	return plan.Make(g, counts, where, rate)
}

// smaller returns smaller boards of a game, the smallest first: each has the largest number among the parameters of
// the next one reduced, as long as there is such a game.
func smaller(kind game.Kind, g game.Game) (boards []game.Game) {
	args := make([]int, len(kind.Params))
	for i, word := range strings.Fields(g.Spec())[1:] {
		_, text, _ := strings.Cut(word, "=")
		args[i], _ = kind.Params[i].Value(text) // Make has checked the Spec
	}
	for {
		largest := -1
		for i, p := range kind.Params {
			if p.Words == nil && (largest < 0 || args[i] > args[largest]) {
				largest = i
			}
		}
		if largest < 0 || args[largest] < 2 {
			break
		}
		args[largest] -= max(1, args[largest]/8)
		board, err := kind.Make(args)
		if err != nil || solve.Check(board) != nil {
			break
		}
		boards = append(boards, board)
	}
	slices.Reverse(boards)
	return boards
}

// rateOf solves boards, one after the other, as long as that takes no more CPU than a share of the time allowed for
// the planned seconds.
func rateOf(ctx context.Context, boards []game.Game, planned func(plan.Rate) float64, progress func(string, float64)) (plan.Rate, error) {
	rate := plan.Rate{Cores: runtime.GOMAXPROCS(0)}
	runtime.GC() // what the count has left is not to be collected at the expense of the solves
	begun, cpu, work, last, growth := time.Now(), 0.0, 0.0, 0.0, leastGrowth
	for _, board := range boards {
		limit := allowed(planned(rate))
		if rate.Seconds > 0 && cpu+last*growth > measureShare*limit.Seconds() {
			break
		}
		if progress != nil {
			progress("measuring: solving "+board.Spec(), min(1, cpu/limit.Seconds()))
		}
		used, done, all, err := solved(ctx, board, max(mostTime-time.Since(begun), time.Second/4))
		if err != nil {
			return rate, err
		}
		if all || cpu == 0 {
			cpu, work = cpu+used, work+done
			rate.Seconds, rate.On = cpu/work, board.Spec()
		}
		if !all {
			break
		}
		if last > 0 {
			growth = min(max(leastGrowth, used/last), mostGrowth)
		}
		last = used
	}
	return rate, nil
}

// solved solves a game for at most this time, in a temporary directory. It returns the seconds of CPU and the work
// that was done, and whether that is all of it.
func solved(ctx context.Context, g game.Game, most time.Duration) (cpu, work float64, all bool, err error) {
	dir, err := os.MkdirTemp("", "treereduce-plan-")
	if err != nil {
		return 0, 0, false, err
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "data")
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Overwrite, solve.IsRunArtifact, nil)
	if err != nil {
		return 0, 0, false, err
	}
	defer data.Close()
	limited, stop := context.WithTimeout(ctx, most)
	defer stop()
	used := system.CPU()
	result, err := solve.Run(limited, data, g, solve.Options{
		Runner: &inline.Runner{}, Reducers: 1, Combine: true, Final: solve.FinalNo, UntilTier: -1,
	})
	cpu = (system.CPU() - used).Seconds()
	all = err == nil
	if !all && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return 0, 0, false, err
	}
	if all && !method.Of(g).Sends() { // the journal counts only messages
		counts, err := count.Of(ctx, g, count.Options{Draws: boardDraws, Exact: boardDraws})
		if err == nil {
			work = plan.Work(g, counts)
		}
		return cpu, work, true, err
	}
	journal, err := solve.ReadJournal(store.Local{}, dir)
	if err != nil {
		return 0, 0, false, err
	}
	tiers := []count.Tier{{}}
	for _, j := range journal.Jobs { // each is half of the work of its positions and moves
		tiers[0].Positions += float64(j.Records) / 2
		tiers[0].Moves += float64(j.Messages) / 2
		if j.Step == step.Possible {
			tiers = append(tiers, count.Tier{})
		}
	}
	if all {
		tiers[0].Positions = float64(result.Positions)
	}
	return cpu, plan.Work(g, &count.Counts{Tiers: tiers}), all, nil
}
