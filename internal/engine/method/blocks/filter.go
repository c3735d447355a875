package blocks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// Map runs the map of a step from in to out.
func (m *Method) Map(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	if !o.Combine {
		o.Memory = 1 // emits each message at once
	}
	return run(name, m.g, in, out, o, func(s *filter) error {
		switch name {
		case step.Init:
			return s.MapStart(m.g.Start(), in, o.Source)
		case step.Final:
			return s.mapFinal()
		}
		return s.mapBlocks()
	})
}

// Reduce runs the reduce of a step from in, sorted by key, to out, or to a file if records
// are packed: it writes the records of a tier.
func (m *Method) Reduce(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error) {
	return run(name, m.g, in, out, o, func(s *filter) error {
		if name == step.Final {
			return s.reduceFinal()
		}
		return s.reduceBlocks()
	})
}

// A filter is one run of one side of a step.
type filter struct {
	*step.Writer
	name string
	g    game.Blockwise
	in   io.Reader
	o    step.Options
}

// run runs one side of a step, and flushes its output.
func run(name string, g game.Blockwise, in io.Reader, out io.Writer, o step.Options, side func(*filter) error) (step.Counters, error) {
	w := step.NewWriter(out, g)
	err := side(&filter{w, name, g, in, o})
	return w.Counters, cmp.Or(err, w.Flush())
}

// block writes the records of a block as lines.
func (s *filter) block(b *block.Block) error {
	s.count(b)
	s.Buf = appendLines(s.Buf, b, s.Width, streamfmt.Done)
	return s.Spill()
}

// count counts the records of a block.
func (s *filter) count(b *block.Block) {
	n := b.Done.Count()
	s.Records += int64(b.Open.Count() + n)
	s.Finished += int64(n)
}

// eachRecord calls do for every record of the input. Each record must be a position, not a
// message. do returns a description of what it expected instead of the record, or "".
func (s *filter) eachRecord(do func(streamfmt.Record) (want string)) error {
	r := streamfmt.NewReader(s.in, s.o.Source, s.Width)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		s.In++
		want := ""
		if err := s.g.Check(rec.Key); err != nil {
			want = fmt.Sprintf("a position (%v)", err)
		} else if rec.Kind == streamfmt.Message {
			want = "a position, no message"
		} else if rec.Kind == streamfmt.Done && !game.Value(rec.Value).Valid() {
			want = step.WantOutcome
		} else {
			want = do(rec)
		}
		if want != "" {
			return r.Errorf(want)
		}
		if err := s.Spill(); err != nil {
			return err
		}
	}
}

// mapFinal prints all positions except those that the game does not list.
func (s *filter) mapFinal() error {
	return s.eachRecord(func(rec streamfmt.Record) string {
		if game.Listed(s.g, rec.Key) {
			s.Line(rec)
		}
		return ""
	})
}

// reduceFinal prints each position once.
func (s *filter) reduceFinal() error {
	f := step.NewFinalLines(s.Writer, s.g)
	err := s.eachRecord(func(rec streamfmt.Record) string { return f.Add(rec.Key, game.Value(rec.Value)) })
	if err == nil {
		if want := f.End(); want != "" {
			err = fmt.Errorf("%s:%d: expected %s", s.o.Source, s.In, want)
		}
	}
	return err
}

// Turn returns the name of the player who moves from a tier.
func Turn(g game.Blockwise, tier int) string {
	return g.TierToMove(tier).String()
}

// encoding is the encoding of the records that the map and the reduce of a step on blocks
// read, and of the messages between them.
type encoding interface {
	// step returns the step for the map.
	step() Step
	// eachInput calls do with each block that the map reads. In Solve these are successors.
	eachInput(do func(b *block.Block) error) error
	// send writes a piece, see Step.
	send(piece *block.Block) error
	// eachReceived calls do with each block that the reduce receives, after merging all
	// messages to its range.
	eachReceived(do func(b *block.Block) error) error
	// close closes the files that the map or the reduce reads.
	close() error
}

// encoding returns the encoding of the records of a filter.
func (s *filter) encoding() (encoding, error) {
	if s.o.Packed {
		return newBlockPairs(s)
	}
	return &blockLines{filter: s}, nil
}

// mapBlocks reads blocks and sends their messages to other ranges. It buffers each range
// until no further block can send messages to it, provided that the input is sorted, and so
// emits each position once, in sorted runs.
func (s *filter) mapBlocks() error {
	c, err := s.encoding()
	if err != nil {
		return err
	}
	defer c.close()
	p := newPusher(c.step(), s.g, s.o.Memory, c.send)
	if err := c.eachInput(p.Push); err != nil {
		return err
	}
	return p.Flush()
}

// reduceBlocks turns the messages to each range into its records, and prints them or writes a shard.
func (s *filter) reduceBlocks() error {
	c, err := s.encoding()
	if err != nil {
		return err
	}
	defer c.close()
	kernel := NewStep(s.name, s.g)
	reduce := func(write func(b *block.Block) error) error {
		return c.eachReceived(func(b *block.Block) error {
			if s.name != step.Init {
				if err := kernel.Reduce(b); err != nil {
					return fmt.Errorf("%s: %w", s.o.Source, err)
				}
			}
			return write(b)
		})
	}
	if !s.o.Packed {
		return reduce(s.block)
	}
	file, err := s.o.Create(jobdir.PartName(s.o.Part))
	if err != nil {
		return err
	}
	out := outputForm(s.g, s.name).newWriter(file, s.o.Tier)
	err = out.Finish(reduce(func(b *block.Block) error {
		s.count(b)
		return out.Add(b)
	}))
	if err != nil || s.name != step.Solve && s.o.Tier != s.g.Tiers() {
		return err
	}
	part := jobdir.File{Name: path.Join(s.o.Output, jobdir.PartName(s.o.Part))}
	create := func() (io.WriteCloser, error) { return s.o.Create(jobdir.ShardName(jobdir.TablePart, s.o.Part)) }
	return writeTableShard(context.Background(), s.o.FS, []jobdir.File{part}, create, Stored(s.g), s.o.Tier)
}
