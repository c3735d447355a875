// Play plays games and searches positions.
//
//	play connectn --width 5 --height 4 --connect 3 human machine
//	play find-winner connectn --width 5 --height 4 --connect 3 1 1 2
//	play score connectn --width 7 --height 6 --connect 4 <positions
//	play match connectn --games 10 machine:depth=4 'program:python3 engine.py'
//	play tournament connectn --games 10 random table machine
//	play replay games
//	play review games
//	play engine connectn
//
// play help, and play COMMAND --help, list everything.
//
// Exit status: 0 done, 1 failed (also if a line cannot be read or output cannot be written), 2
// wrong usage, 130 stopped by Ctrl-C, 143 by SIGTERM.
package main

import (
	"github.com/treereduce/treereduce/game/all"
	play "github.com/treereduce/treereduce/play/cli"
)

func main() { play.Main(all.Kinds()...) }
