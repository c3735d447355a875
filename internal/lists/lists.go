// Package lists solves games of which only the rules are known (game.Acyclic), by
// sorted lists of rows. It has the rows of a directory as files, packed or text
// (Dir, Source, PartWriter, OutboxWriter), cuts them into shares that fit into
// memory (Cut, Loader), and has what a worker does with a share (Possible, Solve)
// and the same as steps from stdin to stdout (Map, Reduce). It knows nothing of
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
// The job init does so with the one row (start, NoParent).
//
// Backward, from the last tier to 0, the job solve of tier T reads that part, and
// the Messages that the jobs of later tiers told to tier T. It writes Values, and
// tells each parent the value.
//
// So what a position says to one many tiers on is read once, by the job of that
// tier; and of a row nothing is held in memory but in shares and outboxes, whose
// sizes the caller gives:
//
//	a row that a Loader loads, while it sorts      32 bytes
//	a row that waits in an Outbox                  40 bytes, 60 while it is encoded
//	1,024 rows of a tier, in the index of a Source 56 bytes
package lists

import (
	"errors"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/internal/tierio"
	"github.com/treereduce/treereduce/streamfmt"
)

// What rows are is the format's.
type (
	Row  = streamfmt.Row
	Kind = streamfmt.RowKind
)

// The kinds of lists, and the word of the start.
const (
	Parents  = streamfmt.Parents
	Messages = streamfmt.Messages
	Values   = streamfmt.Values
	NoParent = streamfmt.NoParent
)

var errNotYet = errors.New("not yet")

// Message is the word of a message: the value of a solved child, for so many moves.
func Message(v game.Value, times int) uint64 { return uint64(v) | uint64(times)<<16 }

// ValueOf is the value in the word of a message or a value.
func ValueOf(word uint64) game.Value { return game.Value(word) }

// TimesOf is for how many moves a message stands.
func TimesOf(word uint64) int { return int(word >> 16) }

// Start is what init leaves, and what Possible makes of it is tier 0.
func Start(g game.Acyclic) []Row { return []Row{{Key: g.Start(), Word: NoParent}} }

// PartName is the name of part i: part-00000, or part-00000.lists if it is packed.
func PartName(i int, c tierio.Codec) string { return "" }

// OutboxName is the name of what reducer i tells: to-00000.lists, which is of all
// tiers; as text it is a file for each tier that is told to, to-00012-00000.
func OutboxName(i, tier int, c tierio.Codec) string { return "" }

// A Dir is the directory of a job, held to its seal. It keeps some 32 bytes for each
// tier to which a packed outbox of it tells.
type Dir struct{}

// OpenDir opens the directory of a job of a game. What is not as its seal says, or of
// another game, is a *store.DamageError, or a *streamfmt.FormatError.
func OpenDir(fsys store.FS, dir string, g game.Acyclic) (*Dir, error) { return nil, errNotYet }

// Path is the path of the directory.
func (d *Dir) Path() string { return "" }

// Tells is the tiers to which the outboxes of the directory tell something, ascending.
func (d *Dir) Tells() []int { return nil }

// Outboxes are the names of the files of the outboxes, in the directory.
func (d *Dir) Outboxes() []string { return nil }

// A Source is the rows of one tier and kind in several files: those of its parts, or
// of what is told to it. It is safe for concurrent use.
type Source struct{}

// OpenPart opens the parts of a directory: of a data_firstN Parents, of a
// data_secondN Values. A part of text is read through, line by line, and what is wrong
// there is a *streamfmt.LineError.
func OpenPart(d *Dir, tier int, kind Kind) (*Source, error) { return nil, errNotYet }

// OpenTold opens what the outboxes of some directories tell to a tier.
func OpenTold(dirs []*Dir, tier int, kind Kind) (*Source, error) { return nil, errNotYet }

// OpenFile opens one packed file, as of the table, that is part of no directory of a
// job; seal may be nil.
func OpenFile(fsys store.FS, name string, g game.Acyclic, tier int, kind Kind, seal *store.SealedFile) (*Source, error) {
	return nil, errNotYet
}

// Rows is the number of rows.
func (s *Source) Rows() int64 { return 0 }

// Counts is the number of rows of a packed source of Values by value.
func (s *Source) Counts() map[game.Value]uint64 { return nil }

// Each calls do for rows that follow one another, in the order of keys, for all rows of
// a source that is a part or a file of the table. The rows are good during the call only.
func (s *Source) Each(do func(rows []Row) error) error { return errNotYet }

// Find is the word of a key in such a source of Values; ok is false if there is none.
func (s *Source) Find(key uint64) (word uint64, ok bool, err error) { return 0, false, errNotYet }

// Close closes the files.
func (s *Source) Close() error { return nil }

// A Share is the keys from First to Last.
type Share struct {
	First, Last uint64
	Rows        int64 // of all sources, estimated
}

// Cut cuts all keys into shares, of which each has about most rows of all sources
// together: more by 1,024 for each sorted run that the sources consist of, at most,
// and for a key that has many. There is at least one share.
func Cut(most int, sources ...*Source) []Share { return nil }

// A Loader loads shares. It is one worker's, and keeps its memory.
type Loader struct{}

// Load appends the rows of a share to dst[:0], sorted by Key, then Word; equal rows
// stay.
func (l *Loader) Load(dst []Row, s *Source, sh Share) ([]Row, error) { return nil, errNotYet }

// Counters are what a kernel counted.
type Counters struct {
	Positions int64 // in the part
	Done      int64 // of these finished; of Solve: with a value, thus all
	Told      int64 // rows told: moves, but for those of one position to the same child
}

// A Possible is the forward kernel of a job: one worker's.
type Possible struct{ Counters }

// NewPossible makes the kernel of a tier that tells into an outbox of Parents.
func NewPossible(g game.Acyclic, tier int, out *Outbox) *Possible { return nil }

// Do takes the Parents of a share, as loaded, and returns those of the part, in place.
// Rules that are broken are a *PositionError.
func (k *Possible) Do(rows []Row) ([]Row, error) { return nil, errNotYet }

// A Solve is the backward kernel of a job: one worker's.
type Solve struct{ Counters }

// NewSolve makes the kernel of a tier that tells into an outbox of Messages.
func NewSolve(g game.Acyclic, tier int, out *Outbox) *Solve { return nil }

// Do takes the Parents and the Messages of a share, as loaded, and appends the Values of
// its part to dst[:0]. A position that has not heard of each of its children once, or a message
// that nobody waits for, is a *PositionError.
func (k *Solve) Do(dst, parents, messages []Row) ([]Row, error) { return nil, errNotYet }

// A PositionError is what is wrong with the rows of a position.
type PositionError struct {
	Key    uint64
	Reason string
}

func (e *PositionError) Error() string { return e.Reason }

// An Outbox gathers what a worker tells, sorts it, and emits it as chunks. It is one
// worker's.
type Outbox struct{}

// NewOutbox gathers up to most rows of a kind at a time. A chunk that it emits is not to be
// kept.
func NewOutbox(g game.Acyclic, kind Kind, c tierio.Codec, most int, emit func(*Chunk) error) *Outbox {
	return nil
}

// Tell adds a row for a tier.
func (o *Outbox) Tell(tier int, row Row) error { return errNotYet }

// Flush emits what is left.
func (o *Outbox) Flush() error { return errNotYet }

// A Chunk is sorted rows for some tiers, encoded.
type Chunk struct{}

// An OutboxWriter writes what one reducer tells. It is safe for concurrent use.
type OutboxWriter struct{}

// NewOutboxWriter returns a writer of the outbox of reducer i. It calls create with the
// name of a file when it has something for it.
func NewOutboxWriter(create func(name string) (io.WriteCloser, error), i int, g game.Acyclic, kind Kind, c tierio.Codec) *OutboxWriter {
	return nil
}

// Append writes a chunk.
func (w *OutboxWriter) Append(c *Chunk) error { return errNotYet }

// Finish ends the files, if what was to be written has been (err is nil), and closes
// them in any case. It returns the first error.
func (w *OutboxWriter) Finish(err error) error { return errNotYet }

// A PartWriter writes a part, or a file of the table. Which rows are appended at a time
// does not show in what it writes.
type PartWriter struct{}

// NewPartWriter begins a part of a tier.
func NewPartWriter(out io.Writer, g game.Acyclic, tier int, kind Kind, c tierio.Codec) (*PartWriter, error) {
	return nil, errNotYet
}

// Append writes rows, which come after all those written before.
func (w *PartWriter) Append(rows []Row) error { return errNotYet }

// Close writes what a packed file ends with; it does not close the file below.
func (w *PartWriter) Close() error { return errNotYet }

// StepOptions are what a step on lines needs to know beside the game.
type StepOptions struct {
	Source  string // what the input is called in errors
	Tier    int    // of the job; -1: not said, which only a map and final may leave out
	Part    int    // the number of the reducer, for the names of what it tells
	Combine bool   // the map merges equal rows before they are printed
	// Rows bounds how many rows are held at a time; 0 means DefaultRows.
	Rows int
	// Create makes a file of the outbox in the directory of the job: Reduce of Init,
	// Possible and Solve.
	Create func(name string) (io.WriteCloser, error)
}
