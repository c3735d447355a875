package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/plan/count"
)

// counted are the games that RunCounts counts, with the true number of their positions; 0:
// it is not known.
var counted = []struct {
	spec      string
	positions float64
}{
	{"connectn width=5 height=5 connect=4", 69_763_700},
	{"connectn width=6 height=5 connect=4", 2_818_972_642},
	{"connectn width=6 height=6 connect=4", 69_173_028_785},
	{"connectn width=8 height=4 connect=4", 54_233_186_631},
	{"connectn width=7 height=6 connect=4", 4_531_985_219_092},
	{"connectn width=8 height=7 connect=4", 0},
	{"connectn width=7 height=6 connect=3", 0},
	{"quickcross width=4 height=4 connect=3", 28_999_497},
	{"quickcross width=4 height=4 connect=4", 42_658_929},
	{"quickcross width=6 height=5 connect=4", 0},
	{"mnk width=5 height=5 connect=4", 0},
	{"mancala pits=4 stones=3", 0},
	{"mancala pits=6 stones=4", 0},
}

// RunCounts counts the positions of games, each with so many draws, and tells how far off
// that is.
func RunCounts(ctx context.Context, out io.Writer, draws int64) error {
	fmt.Fprint(out, "| game | how | positions | interval of the sum, ± | off | worst tier, ± | no board hit | boards drawn | CPU s |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range counted {
		g, err := all.Kinds().Parse(c.spec)
		if err != nil {
			return err
		}
		before := cpu()
		found, err := count.Of(ctx, g, count.Options{Draws: draws, Seed: 1})
		if err != nil {
			return err
		}
		off := "–"
		if c.positions > 0 {
			off = fmt.Sprintf("%+.3f %%", 100*(found.Sum.Positions/c.positions-1))
		}
		within, worst, missed := "–", "–", 0
		if found.How != count.AtLeast {
			within = fmt.Sprintf("%.3f %%", 100*found.Sum.Error())
			hit := slices.DeleteFunc(slices.Clone(found.Tiers), func(t count.Tier) bool { return t.Positions == 0 })
			missed = len(found.Tiers) - len(hit)
			of := slices.MaxFunc(hit, func(a, b count.Tier) int {
				if a.Error() < b.Error() {
					return -1
				}
				return 1
			})
			worst = fmt.Sprintf("tier %d, %.2f %%", of.Tier, 100*of.Error())
		}
		fmt.Fprintf(out, "| `%s` | %v | %.6g | %s | %s | %s | %d tiers | %d | %.0f |\n", c.spec, found.How, found.Sum.Positions, within, off, worst, missed, found.Sum.Draws, (cpu() - before).Seconds())
	}
	return nil
}

// cpu is what this process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
