package step

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// Options are the parameters of a step on a stream, other than the game.
type Options struct {
	Source string // name of the input in errors
	// Turn is the player who makes the move of this job, from the predecessors' tier to the
	// successors': "X", "O", or "" if unknown. The map of Solve needs it, to tell
	// successors from predecessors; the other steps check it.
	Turn string
	// LastRound, if not nil, is checked: whether the successors are in the last tier (the
	// board is full).
	LastRound *bool
	// Combine merges messages before they are printed.
	Combine bool
	// Memory limits the records that are buffered for merging, in bytes, or, for games
	// solved by lists, for sorting; 0 means DefaultMemory.
	Memory int

	// The following options are for passes over a game with cycles.

	Number int    // of the pass, from 1; also the remoteness of positions that it decides
	States States // of the ranges that the reducer owns
	Moves  Moves  // for a mapper, see Pass
	// Tell is for a reducer, see Pass.
	Tell func(child, parent game.Position) error

	// The following options are for jobs over a tier of a game solved by lists, see package
	// lists.

	Tier int // of the job; -1: unknown, allowed for a mapper
	Part int // the number of the reducer, for the names of its files of outgoing edges
	// Create creates a file of outgoing edges in the directory of the job. Told is the
	// codec of these files; "" means text.
	Create func(name string) (io.WriteCloser, error)
	Told   jobdir.Codec
}

// SplitMark separates a file name from the byte offset at which a split begins, in the name
// of a mapper's input. Line numbers in errors are counted from that offset.
const SplitMark = " from byte "

// Map runs the map of a step from in to out, line by line: on blocks for a tiered game, on
// states for a pass over a game with cycles.
func Map(name string, g game.Game, in io.Reader, out io.Writer, o Options) (Counters, error) {
	return run(name, g, out, func(w *Writer) error {
		switch name {
		case Init, Create:
			return w.MapStart(g, in, o.Source)
		case Final:
			return mapFinal(g, in, w, o)
		}
		switch g := game.ByMethod(g).(type) {
		case game.Tiered:
			return mapBlocks(name, g, in, w, o)
		case game.Cyclic:
			return mapPass(name, g, in, w, o)
		}
		return byLists(g)
	})
}

// Reduce runs the reduce of a step from in, sorted by key, to out: it writes the records of
// a tier, or the new positions of a pass.
func Reduce(name string, g game.Game, in io.Reader, out io.Writer, o Options) (Counters, error) {
	return run(name, g, out, func(w *Writer) error {
		if name == Final {
			return reduceFinal(g, in, w, o)
		}
		switch g := game.ByMethod(g).(type) {
		case game.Tiered:
			return reduceBlocks(name, g, in, w, o)
		case game.Cyclic:
			return reducePass(name, g, in, w, o)
		}
		return byLists(g)
	})
}

// run runs one side of a step, which must be a step of the game, and flushes its output.
func run(name string, g game.Game, out io.Writer, side func(*Writer) error) (Counters, error) {
	w := NewWriter(out, g)
	if !slices.Contains(NamesOf(g), name) {
		return w.Counters, Unknown(name)
	}
	err := side(w)
	return w.Counters, cmp.Or(err, w.Flush())
}

// byLists returns the error for a game whose steps are in package lists.
func byLists(g game.Game) error { return fmt.Errorf("%s is solved by lists", g.Spec()) }

// Unknown returns the error for a step that the game does not have.
func Unknown(name string) error { return fmt.Errorf("unknown step %q", name) }

// flushSize is the number of bytes of output that are buffered before they are written.
const flushSize = 64 << 10

// A Writer buffers the output of a stream and counts records. After a failed write it keeps
// the error and discards all further output.
type Writer struct {
	Counters
	Buf   []byte // buffered output, to which callers may append lines
	Width int    // digits of a key

	out io.Writer
	err error
}

// NewWriter returns a writer of the records of a game.
func NewWriter(out io.Writer, g game.Game) *Writer {
	return &Writer{out: out, Width: streamfmt.KeyWidth(g.KeyBits())}
}

func (w *Writer) block(b *block.Block, done streamfmt.Kind) {
	n := b.Done.Count()
	w.Records += int64(b.Open.Count() + n)
	if done == streamfmt.Done {
		w.Finished += int64(n)
	}
	w.Buf = jobdir.AppendBlock(w.Buf, b, w.Width, done)
	w.Spill()
}

func (w *Writer) line(rec streamfmt.Record) {
	w.Records++
	w.Buf = streamfmt.AppendRecord(w.Buf, rec, w.Width)
	w.Spill()
}

// Spill writes the buffered output if there is enough of it.
func (w *Writer) Spill() error {
	if len(w.Buf) < flushSize {
		return w.err
	}
	return w.Flush()
}

// Flush writes the buffered output.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.Buf) > 0 {
		if _, err := w.out.Write(w.Buf); err != nil {
			w.err = fmt.Errorf("output: %w", err)
		}
	}
	w.Buf = w.Buf[:0]
	return w.err
}

// MapStart is the map of the first step: it prints the initial position if the input has
// any line.
func (w *Writer) MapStart(g game.Game, in io.Reader, source string) error {
	err := streamfmt.NewLineReader(in, source).Each(func([]byte) error {
		w.In++
		return nil
	})
	if err == nil && w.In > 0 {
		w.line(streamfmt.Record{Key: g.Start()})
	}
	return err
}

// eachRecord calls do for every record of in. Each record must be a position, not a
// message. do returns a description of what it expected instead of the record, or "".
func eachRecord(g game.Game, in io.Reader, w *Writer, o Options, do func(streamfmt.Record) (want string)) error {
	r := streamfmt.NewReader(in, o.Source, w.Width)
	for w.err == nil {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.In++
		want := ""
		if err := g.Check(rec.Key); err != nil {
			want = fmt.Sprintf("a position (%v)", err)
		} else if rec.Kind == streamfmt.Message {
			want = "a position, no message"
		} else if rec.Kind == streamfmt.Done && !game.Value(rec.Value).Valid() {
			want = jobdir.WantOutcome
		} else {
			want = do(rec)
		}
		if want != "" {
			return r.Errorf(want)
		}
		w.Spill()
	}
	return nil
}

// mapFinal prints all positions except those that the game does not list.
func mapFinal(g game.Game, in io.Reader, w *Writer, o Options) error {
	return eachRecord(g, in, w, o, func(rec streamfmt.Record) string {
		if game.Listed(g, rec.Key) {
			w.line(rec)
		}
		return ""
	})
}

// reduceFinal prints each position once.
func reduceFinal(g game.Game, in io.Reader, w *Writer, o Options) error {
	f := NewFinalLines(w, g)
	err := eachRecord(g, in, w, o, func(rec streamfmt.Record) string { return f.Add(rec.Key, game.Value(rec.Value)) })
	if err == nil && w.err == nil {
		if want := f.End(); want != "" {
			err = fmt.Errorf("%s:%d: expected %s", o.Source, w.In, want)
		}
	}
	return err
}

// checkTier checks Options.Turn and Options.LastRound against the tier of a position and
// the tier of the successors in its job. If they do not match, it returns a description of
// what was expected instead.
func checkTier(g game.Tiered, o Options, tier, children int) string {
	want := ""
	switch last := children == g.Tiers(); {
	case o.Turn != "" && o.Turn != Turn(g, children-1):
		want = o.Turn + " moves"
	case o.LastRound != nil && *o.LastRound != last:
		want = fmt.Sprintf("last-round is %v", *o.LastRound)
	default:
		return ""
	}
	return fmt.Sprintf("a position of a job in which %s (this one is of tier %d)", want, tier)
}

// A Property is a parameter of a stream. In the job configuration, its name has the prefix
// "treereduce.".
type Property struct{ Name, Value string }

// Properties returns the parameters that the streams of a step need to write a tier. A game
// with blocks needs the player to move, any other game with tiers the tier itself. A game
// with cycles needs the number of the pass, given as tier, and the directory of the states
// after the previous pass.
func Properties(g game.Game, name string, tier int, states string) []Property {
	words := strings.Fields(g.Spec())
	ps := []Property{{BuildProperty, Build(g)}, {"game", words[0]}}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		ps = append(ps, Property{name, value})
	}
	if _, cyclic := game.ByMethod(g).(game.Cyclic); cyclic {
		return append(ps, Property{"number", strconv.Itoa(tier)}, Property{"states", states})
	}
	if name == Init || name == Final {
		return ps
	}
	blocks, ok := g.(game.Tiered)
	if !ok {
		return append(ps, Property{"tier", strconv.Itoa(tier)})
	}
	children := tier
	if name == Solve {
		children++
	}
	return append(ps,
		Property{"turn", Turn(blocks, children-1)},
		Property{"last_round", strconv.FormatBool(children == blocks.Tiers())})
}

// Turn returns the name of the player who moves from a tier.
func Turn(g game.Tiered, tier int) string {
	return g.TierToMove(tier).String()
}

// mapBlocks reads blocks and sends their messages to other ranges. It buffers each range
// until no further block can send messages to it, provided that the input is sorted, and so
// prints each position once, in sorted runs.
func mapBlocks(name string, g game.Tiered, in io.Reader, w *Writer, o Options) error {
	if name == Solve && o.Turn == "" {
		return errors.New("solve: the turn (X or O) is required, to distinguish successors from predecessors")
	}
	step, emit, memory := New(name, g), func(b *block.Block) { w.block(b, streamfmt.Done) }, o.Memory
	if name == Solve {
		t := newTeller(g)
		step, emit = t, func(b *block.Block) { t.write(w, b) }
		if memory == 0 {
			memory = DefaultMemory
		}
		memory = max(1, memory/9*5) // a slot takes 5/4 bytes (see hold), and one for its count
	}
	p := NewPusher(step, g, memory, func(b *block.Block) error {
		emit(b)
		return w.err
	})
	b := new(block.Block)
	check := inputCheck{name: name, g: g, o: o, job: -1, tier: -1}
	err := jobdir.NewGatherer(g, b, in, o.Source, false).Each(func(slot int, rec streamfmt.Record) string {
		w.In++
		return check.add(b, slot, rec, w.In)
	}, func(uint64) error {
		if err := check.values(b); err != nil {
			return err
		}
		if name == Solve && Turn(g, b.Tier) == o.Turn {
			w.block(b, streamfmt.Done) // predecessors are passed through unchanged
			return w.err
		}
		err := p.Push(b)
		if err == nil && !o.Combine {
			err = p.Flush()
		}
		return cmp.Or(err, w.err)
	})
	if err != nil {
		return err
	}
	return p.Flush()
}

// keyText returns a key as it is written in a line.
func keyText(g game.Game, key uint64) string {
	return string(streamfmt.AppendKey(nil, key, streamfmt.KeyWidth(g.KeyBits())))
}

// reduceBlocks reads the sorted records of each range into a block and reduces it.
func reduceBlocks(name string, g game.Tiered, in io.Reader, w *Writer, o Options) error {
	hear := func(b *block.Block, slot int, rec streamfmt.Record, _ int64) string {
		return jobdir.AddRecord(b, slot, rec)
	}
	reduce := func(*block.Block) error { return nil }
	switch name {
	case Possible:
		reduce = New(name, g).Reduce
	case Solve:
		h := &countingReducer{solve: newSolve(g)}
		hear = h.hear
		reduce = func(b *block.Block) error {
			if err := h.check(b, o.Source); err != nil {
				return err
			}
			return h.Reduce(b)
		}
	}
	children := 0 // how many tiers the successors are above the tier that is read
	if name == Solve {
		children = 1
	}
	b := new(block.Block)
	return jobdir.NewGatherer(g, b, in, o.Source, true).Each(func(slot int, rec streamfmt.Record) string {
		if w.In++; w.In == 1 && name != Init {
			if want := checkTier(g, o, b.Tier, b.Tier+children); want != "" {
				return want
			}
		}
		return hear(b, slot, rec, w.In)
	}, func(uint64) error {
		if err := reduce(b); err != nil {
			return err
		}
		w.block(b, streamfmt.Done)
		return w.err
	})
}
