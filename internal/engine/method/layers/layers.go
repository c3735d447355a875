// Package layers solves games of which only the rules are known (game.Game), with sorted
// rows. A Source is rows in sorted files. Cut divides their keys into intervals that fit into memory, and a Loader loads one.
// A worker does the work of a job on an interval: it adds the states that are stored, has a Kernel apply the rules, and fills
// a chunk, which a shard writes; the Kernel sends rows to other stages through an Outbox. Inline, workers load the intervals
// from all messages to the tier; Map and Reduce do the same work from stdin to stdout, with lines or packed.
//
// A Table is what a solved game is read from.
//
// docs/methods.md describes the method. Rows are in memory only in intervals and outboxes, whose sizes the caller chooses:
//
//	a row that a Loader loads                       32 bytes, half of them for sorting
//	a row that waits in an Outbox                   34 bytes, and 1 MB for each Outbox
//	1,024 rows of a tier, in the index of a Source  40 bytes
//	an open file of a Source or a Dir               some 500 bytes, 48 for each receiving tier
package layers

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// The format of rows is defined in package streamfmt.
type (
	Row  = streamfmt.Row
	Kind = streamfmt.CellKind
)

// The kinds of rows.
const (
	Predecessors = streamfmt.Predecessors
	Messages     = streamfmt.Messages
	Values       = streamfmt.Values
	States       = streamfmt.States
)

// Writes is what the job of a step on a tier writes: shards of rows of a kind, or none; states; and rows of a kind that it
// sends to other stages.
type Writes struct {
	Shards, States bool
	Shard, Sent    Kind
}

// WritesOf returns what the job of a step on a tier writes.
func WritesOf(name string, g game.Game, tier int) Writes {
	switch {
	case step.Valued(name, g, tier):
		return Writes{Shards: true, Shard: Values, Sent: Messages}
	case name == step.Begin:
		return Writes{Shards: true, Shard: Predecessors, States: true, Sent: Messages}
	case name == step.Solve || name == step.Ties:
		return Writes{States: true, Sent: Messages}
	}
	return Writes{Shards: true, Shard: Predecessors, States: true, Sent: Predecessors}
}

// Message returns the word of a message: the value of a solved successor, and the number of
// moves that the message stands for.
func Message(v game.Value, times int) uint64 { return uint64(v) | uint64(times)<<16 }

// ValueOf returns the value in the word of a message or a value, its low 16 bits.
func ValueOf(word uint64) game.Value { return game.Value(word) }

// TimesOf returns the number of moves that a message stands for.
func TimesOf(word uint64) int { return int(word >> 16) }

// Start returns the input rows of the job init: the initial position, which has no
// predecessor. The kernel turns them into tier 0.
func Start(g game.Game) []Row {
	p := game.StoredOf(g, g.Start())
	return []Row{{Key: p, Word: p}}
}
