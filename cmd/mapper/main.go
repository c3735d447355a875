// Mapper is the map side of every step, as a Hadoop Streaming mapper: records
// come as lines on stdin and go as lines on stdout.
//
//	mapper STEP [flags]
//	STEP_map [flags]
//
// STEP is init, possible, solve or final, and of a game with cycles create, mark,
// solve, ties or final; called by the name possible_map it is mapper possible. The
// parameters come from flags or from the environment that Hadoop Streaming makes of
// the job configuration: --width is treereduce_width, which is -D treereduce.width.
// Flags win. The board has no default; a name that no step knows is refused.
//
//	printf '00\n' | mapper possible --width 2 --height 2 --connect 2
//	printf '000\n' | mapper mark --game quickcross --width 2 --height 3 --connect 2
//
// Exit status: 0 done, 1 failed, 2 wrong usage.
package main

import (
	"github.com/treereduce/treereduce/cli/stream"
	"github.com/treereduce/treereduce/game/all"
)

func main() { stream.Mapper(all.Kinds()...) }
