// Reducer is the reduce side of every step, as a Hadoop Streaming reducer: it reads records as
// lines from stdin, sorted by key, and writes lines to stdout.
//
//	reducer STEP [flags]
//	STEP_reduce [flags]
//
// STEP is init, possible, solve or final; for a game with cycles it is create, mark, solve,
// ties or final. A reducer called possible_reduce runs reducer possible. Flags and environment
// are those of mapper. Records are sorted by bytes:
// LC_ALL=C sort -t$'\t' -k1,1 -s.
//
// In a pass over a game with cycles, a reducer keeps the states of its ranges: it reads those
// of the previous pass, writes those that change, and prints the positions that are new.
//
//	reducer mark --states DIR/mark3 --number 4 --output DIR/mark4 --part 0
//
// Exit status: 0 done, 1 failed, 2 wrong usage.
package main

import (
	"github.com/treereduce/treereduce/cli/stream"
	"github.com/treereduce/treereduce/game/all"
)

func main() { stream.Reducer(all.Kinds()...) }
