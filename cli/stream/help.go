package stream

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A says is the help for one side of a step: a sentence, and, if lines of text illustrate it,
// an example: input lines, flags in addition to those of the board, and output lines. The
// examples are Connect N on 2×2 with 2 in a row; for passes, Quick Cross on 2×3 with 2 in a
// row.
type says struct {
	sentence       string
	in, flags, out string
}

// helpOf contains the help for the map and the reduce of each step.
var helpOf = map[string][2]says{
	step.Init: {
		{"Whatever comes in, the key of the position before the first move goes out.", "start", "", "00"},
		{"Of the same key over and over, one line goes on: the first tier.", "00\n00", "", "00"},
	},
	step.Possible: {
		{"Of each position of a tier go out those to which its moves lead; a finished one has none.", "00", "", "02\n10"},
		{"Each position to which moves lead goes on once, with its value if it is finished.", "02\n02\n10", "", "02\n10"},
	},
	step.Solve: {
		{"A position (parents, by --turn) goes on as it is; a child's value goes to all positions before it, after an m.", "02\n11\t6", "--turn O", "02\n10\tm6"},
		{"Of what its moves are worth a position takes the best, a move more from the end; those that play cannot reach are left out.", "02\n02\tm6x2", "", "02\t10"},
	},
	step.Final: {
		{"Positions with their values go on.", "02\t10", "", "02\t10"},
		{"Each position becomes its board, in quotes.", "02\t10", "", "'  X '\t10"},
	},
	step.Create: {
		{"As init, of a game whose moves go in circles.", "start", "", "000"},
		{"The states begin: the position before the first move is there, and nothing else. It needs --output.", "", "", ""},
	},
	step.Mark: {
		{"Of each position that is new go out those to which its moves lead.", "", "", ""},
		{"What is heard of for the first time is new, and goes on; what is known is left out. It needs --states and --output.", "", "", ""},
	},
	step.Ties: {
		{"As solve, of ties, which come when wins and losses have settled.", "", "", ""},
		{"A position that has a tie and nothing better is one. It needs --states and --output.", "", "", ""},
	},
}

// tab stands for a tab in the help, because the help uses tabs for its columns.
const tab = "⇥"

// purposes contains the purpose of each step, for the list of steps.
var purposes = map[string]string{
	step.Init:     "the first tier: the position before the first move",
	step.Possible: "from each tier the next: where its moves lead",
	step.Solve:    "back from each tier: values from those of the moves",
	step.Final:    "each board with its value",
	step.Create:   "as init, where moves go in circles",
	step.Mark:     "a pass forward, where moves go in circles: what is new",
	step.Ties:     "a pass back over ties, where moves go in circles",
}

// description returns the help for one side of a step, under the name of the process. It omits
// the example if the program does not have the example's game.
func description(games game.Kinds, command, name string, reduces bool) string {
	side := 0
	if reduces {
		side = 1
	}
	h := helpOf[name][side]
	flags, known := "--width 2 --height 2 --connect 2", games[0].Name == connectn.Kind.Name
	if name == step.Create {
		flags = "--game quickcross --width 2 --height 3 --connect 2"
		_, known = games.Named(quickcross.Kind.Name)
	}
	if h.out == "" || !known {
		return h.sentence
	}
	if h.flags != "" {
		flags += " " + h.flags
	}
	return fmt.Sprintf("%s\n\n$ printf '%s\\n' | %s %s\n%s", h.sentence, strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(h.in), command, flags, strings.ReplaceAll(h.out, "\t", tab))
}
