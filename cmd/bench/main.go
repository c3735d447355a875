// Bench measures treereduce on this machine: it runs complete commands, as a user does, each
// several times, and prints the medians. The figures in docs/benchmarks.md come from it.
//
//	bench [-bin DIR] [-n RUNS] [-large]
//	bench -sync [-n RUNS]
//	bench -search [-large]
//	bench -moves N [-time D]
//	bench -network
//	bench -mancala [-large]
//	bench -counts DRAWS
//	bench -plan [-bin DIR] [-large]
//	bench -hadoop [-bin DIR] [-n RUNS] [-large]
//	bench -hadoop -tax [-bin DIR] [-n RUNS] [-board FLAGS] [-above N]
//
// -large adds runs that take minutes: pipe on 5×5, inline on 6×5 (2 GB of disk). -plan measures
// rates, and compares the estimates of driver plan with solving boards. -hadoop starts a
// cluster on this machine, measures runs on it, and prints the tables of docs/hadoop.md; with
// -large also tiers of 5×5 and passes of Quick Cross. -tax only compares the largest tiers of
// 6×5 on the cluster with the same jobs in the driver.
//
// The others run Go benchmarks, in a checkout of the repository. -sync measures the cost of
// durable writes. -search measures the search of Connect Four, and BitBully on the same
// positions if pip can install it; with -large also from the empty board. -moves counts how
// many moves of Connect Four, chosen by a search of limited time, lose value. -network measures
// how deep Network is searched in five seconds; -mancala measures the search of Mancala, with
// -large also 4,8, 5,4 and 6,3 from their initial positions. -counts measures the counting of
// some games' positions before they are solved, with the given number of random draws each.
//
// If a solve finds a wrong number of positions, bench reports it and exits with status 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/treereduce/treereduce/internal/testing/bench"
)

func main() {
	var o bench.Options
	flag.StringVar(&o.Bin, "bin", "bin", "where make build put the commands")
	flag.IntVar(&o.Runs, "n", 5, "runs of each command")
	flag.BoolVar(&o.Large, "large", false, "also what takes minutes")
	syncs := flag.Bool("sync", false, "nothing but what syncs cost")
	flag.BoolVar(&o.Tax, "tax", false, "with -hadoop: nothing but the largest tiers on the cluster and in the driver")
	flag.StringVar(&o.Board, "board", "--width 6 --height 5 --connect 4", "of -tax: the board")
	flag.Int64Var(&o.Above, "above", 300_000_000, "of -tax: the jobs that read more positions")
	search := flag.Bool("search", false, "nothing but the search of Connect Four")
	moves := flag.Int("moves", 0, "nothing but how many of so many moves of Connect Four, at most 222, give value away")
	limit := flag.Duration("time", time.Second, "of -moves: of each move")
	network := flag.Bool("network", false, "nothing but the search of Network")
	mancala := flag.Bool("mancala", false, "nothing but the search of Mancala")
	counts := flag.Int64("counts", 0, "nothing but how many positions games have, each counted with so many draws")
	planned := flag.Bool("plan", false, "nothing but plans beside what they are of")
	onCluster := flag.Bool("hadoop", false, "measure what runs on a cluster")
	flag.Parse()
	if o.Runs < 1 {
		fmt.Fprintf(os.Stderr, "bench: -n %d: expected 1 or more\n", o.Runs)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := func() error { return bench.Run(ctx, os.Stdout, o) }
	goBench := func(pattern, in string, env ...string) func() error {
		return func() error { return bench.RunGo(ctx, os.Stdout, o, pattern, in, env...) }
	}
	switch {
	case *syncs:
		run = func() error { return bench.RunSync(ctx, os.Stdout, o) }
	case *search:
		run = func() error { return bench.RunSearch(ctx, os.Stdout, o) }
	case *moves > 0:
		run = goBench("Moves", "./search", fmt.Sprint("TREEREDUCE_MOVES=", *moves), fmt.Sprint("TREEREDUCE_MOVE_TIME=", *limit))
	case *network:
		run = goBench("Horizon", "./game/network")
	case *mancala:
		run = goBench("Endgames|Second|Whole", "./game/mancala")
	case *counts > 0:
		run = goBench("Count", "./internal/plan/count", fmt.Sprint("TREEREDUCE_DRAWS=", *counts))
	case *planned:
		run = func() error { return bench.RunPlan(ctx, os.Stdout, o) }
	case *onCluster:
		run = func() error { return bench.RunHadoop(ctx, os.Stdout, os.Stderr, o) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
