package stream

import (
	"fmt"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A sideHelp is the help for one side of a step: a sentence, and, if lines of text illustrate it,
// an example: input lines, flags in addition to those of the board, and output lines. The
// examples are Connect N on 2×2 with 2 in a row.
type sideHelp struct {
	sentence       string
	in, flags, out string
}

// helpOf contains the help for the map and the reduce of each step.
var helpOf = map[string][2]sideHelp{
	step.Init: {
		{"Emits the key of the initial position, for any input.", "start", "", "00"},
		{"Emits each key once: the first tier.", "00\n00", "", "00"},
	},
	step.Possible: {
		{"Emits the successors of each position of a tier; a terminal position has none.", "00", "", "02\n10"},
		{"Emits each position once, with its value if it is terminal.", "02\n02\n10", "", "02\n10"},
	},
	step.Solve: {
		{"Emits positions of the predecessors' tier (by --turn) as they are, and sends the value of a successor, after an m, to each predecessor.", "02\n11\t6", "--turn O", "02\n10\tm6"},
		{"Emits each position with its best value, one ply longer; omits positions that play cannot reach.", "02\n02\tm6", "", "02\t10"},
	},
	step.Final: {
		{"Emits positions with their values.", "02\t10", "", "02\t10"},
		{"Emits each position as its board, in quotes.", "02\t10", "", "'  X '\t10"},
	},
	step.Mark: {
		{"Emits the rows that it reads, which the previous pass sent within the tier: to-*.N-* of its directory for pass N.", "", "", ""},
		{"Emits each row, KEY pP, once, and sends the positions that --states does not have to their successors. Requires --tier, --pass, --states and --output.", "", "", ""},
	},
	step.Begin: {
		{"Emits the rows that it reads: the positions of the tier (part-* of all forward passes), and the messages of later tiers.", "", "", ""},
		{"Counts the values of successors in later tiers, writes the states of all positions, and sends the values of terminal ones within the tier, and due rows, KEY d. Requires --tier, --states (those of all forward passes) and --output.", "", "", ""},
	},
	step.Ties: {
		{"Like solve, for ties, after all wins and losses: pass N reads to-*.tN-*.", "", "", ""},
		{"Decides the ties of the pass, and sends them to their predecessors in the tier. Requires --tier, --pass, --states, --edges and --output.", "", "", ""},
	},
	step.Values: {
		{"Emits the rows that it reads: the positions of the tier (part-* of begin).", "", "", ""},
		{"Emits each position with its value, 0 if it is a draw, and sends the values to earlier tiers. Requires --tier, --states and --output.", "", "", ""},
	},
}

// tab stands for a tab in the help, because the help uses tabs for its columns.
const tab = "⇥"

// purposes contains the purpose of each step, for the list of steps.
var purposes = map[string]string{
	step.Init:     "the first tier: the initial position",
	step.Possible: "next tier: the successors of a tier",
	step.Solve:    "values of a tier, from those of its successors",
	step.Final:    "boards with their values",
	step.Mark:     "forward pass over a tier with inner moves: new positions",
	step.Begin:    "first retrograde job of a tier with inner moves",
	step.Ties:     "retrograde pass over ties of a tier with inner moves",
	step.Values:   "values of a tier with inner moves, after all passes",
}

// description returns the help for one side of a step, under the name of the process. It omits
// the example if the program does not have the example's game.
func description(games game.Kinds, command, name string, reduces bool) string {
	side := 0
	if reduces {
		side = 1
	}
	h := helpOf[name][side]
	flags, known := "--width 2 --height 2 --connect 2", games[0].Name == "connectn"
	if h.out == "" || !known {
		return h.sentence
	}
	if h.flags != "" {
		flags += " " + h.flags
	}
	return fmt.Sprintf("%s\n\n$ printf '%s\\n' | %s %s\n%s", h.sentence, strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(h.in), command, flags, strings.ReplaceAll(h.out, "\t", tab))
}
