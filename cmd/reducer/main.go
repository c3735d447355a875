// Reducer is the reduce side of every step, as a Hadoop Streaming reducer:
// records come as lines on stdin, sorted by key, and go as lines on stdout.
//
//	reducer STEP [flags]
//	STEP_reduce [flags]
//
// STEP is init, possible, solve or final, and of a game with cycles create, mark,
// solve, ties or final; called by the name possible_reduce it is reducer possible.
// Flags and environment are those of mapper. The sort is that of bytes:
// LC_ALL=C sort -t$'\t' -k1,1 -s.
//
// In a pass over a game with cycles a reducer keeps the states of its ranges: it
// reads those of the pass before and writes those that change, and prints what is
// new.
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
