// Mapper is the map side of every step, as a Hadoop Streaming mapper: it reads records as lines
// from stdin and writes lines to stdout.
//
//	mapper STEP [flags]
//	STEP_map [flags]
//
// STEP is init, possible, solve or final; for a game with cycles it is create, mark, solve,
// ties or final. A mapper called possible_map runs mapper possible. The parameters come from
// flags, or from the environment variables in which Hadoop Streaming passes the job configuration:
// --width is treereduce_width, set by -D treereduce.width. Flags take precedence. The board has no
// default; an environment variable treereduce_… that no step knows is an error.
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
