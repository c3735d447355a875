// Bench measures treereduce on this machine: whole commands, as a user runs
// them, each several times, the median told. It prints the tables of
// docs/benchmarks.md.
//
//	bench [-bin DIR] [-n RUNS] [-large]
//
// -large adds what takes minutes: pipe on 5×5, inline on 6×5 (2 GB of disk).
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/treereduce/treereduce/internal/bench"
)

func main() {
	var o bench.Options
	flag.StringVar(&o.Bin, "bin", "bin", "where make build put the commands")
	flag.IntVar(&o.Runs, "n", 5, "runs of each command")
	flag.BoolVar(&o.Large, "large", false, "also what takes minutes")
	flag.Parse()
	if err := bench.Run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
