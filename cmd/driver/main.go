// Driver solves games and reads their solutions.
//
//	driver solve connectn --width 4 --height 5 --connect 3
//	driver solve quickcross --width 4 --height 3 --connect 3
//	driver lookup 1 1 2
//	driver stats --svg game.svg
//	driver verify
//	driver ranges connectn --width 4 --height 5 --connect 3 --tier 7 --reducers 3 --out FILE
//
// driver help, and driver COMMAND --help, list everything.
//
// Exit status: 0 done, 1 failed (also if output cannot be written), 2 wrong usage, 130 stopped
// by Ctrl-C, 143 by SIGTERM.
package main

import (
	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/game/all"
)

func main() { driver.Main(all.Kinds()...) }
