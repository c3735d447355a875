// Reducer is the reduce side of every step, as a Hadoop Streaming reducer:
// records come as lines on stdin, sorted by key, and go as lines on stdout.
//
//	reducer STEP [flags]
//	STEP_reduce [flags]
//
// STEP is init, possible, solve or final; called by the name possible_reduce it
// is reducer possible. Flags and environment are those of mapper. The sort is
// that of bytes: LC_ALL=C sort -t$'\t' -k1,1 -s.
//
// Exit status: 0 done, 1 failed, 2 wrong usage.
package main

import (
	"os"

	"github.com/treereduce/treereduce/internal/streaming"
)

func main() {
	os.Exit(streaming.Reducer(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
