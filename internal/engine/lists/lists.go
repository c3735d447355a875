// Package lists solves games of which only the rules are known (game.Acyclic), by
// sorted lists of rows. It has the rows of a directory as files, packed or text
// (Dir, Source, PartWriter, OutboxWriter), cuts them into shares that fit into
// memory (Cut, Loader), and has what a worker does with a share (Kernel)
// and the same as steps from stdin to stdout (Map, Reduce). Of a game with cycles it has
// the moves alone, where nobody else knows them backwards (Moves). It knows nothing of
// runners, of the loop of jobs, or of the table.
//
// # The method
//
// A row is a key and a word. In a list of Parents the word is the key of a position
// from which a move leads to the key; in one of Messages it is the value of a
// position to which a move leads from it, and for how many moves that stands; in one
// of Values it is the value of the key.
//
// Forward, the job possible of tier T reads the Parents that the jobs before it told
// to tier T. It drops equal rows, and writes the others as its part: the positions
// of the tier, each with its parents. Of each position that is not finished it tells
// the children, each a row for the child's tier, into the outbox of its directory.
// The job init does so with the one row (start, start).
//
// Backward, from the last tier to 0, the job solve of tier T reads that part, and
// the Messages that the jobs of later tiers told to tier T. It writes Values, and
// tells each parent the value.
//
// So what a position says to one many tiers on is read once, by the job of that
// tier; and of a row nothing is held in memory but in shares and outboxes, whose
// sizes the caller gives:
//
//	a row that a Loader loads                       32 bytes, half of them its own
//	a row that waits in an Outbox                   34 bytes, and 1 MB an Outbox
//	1,024 rows of a tier, in the index of a Source  40 bytes
//	an open file of a Source or a Dir               some 500 bytes, 48 for each tier told to
package lists

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// What rows are is the format's.
type (
	Row  = streamfmt.Row
	Kind = streamfmt.RowKind
)

// The kinds of lists.
const (
	Parents  = streamfmt.Parents
	Messages = streamfmt.Messages
	Values   = streamfmt.Values
)

// KindsOf are the kinds of the rows that a job of a step writes: of its part, and of what
// it tells other tiers.
func KindsOf(name string) (part, told Kind) {
	if name == step.Solve {
		return Values, Messages
	}
	return Parents, Parents
}

// Message is the word of a message: the value of a solved child, for so many moves.
func Message(v game.Value, times int) uint64 { return uint64(v) | uint64(times)<<16 }

// ValueOf is the value in the word of a message or a value.
func ValueOf(word uint64) game.Value { return game.Value(word) }

// TimesOf is for how many moves a message stands.
func TimesOf(word uint64) int { return int(word >> 16) }

// Start is the Parents that init has: the initial position, which has no parent. What the
// kernel makes of them is tier 0.
func Start(g game.Acyclic) []Row { return []Row{{Key: g.Start(), Word: g.Start()}} }
