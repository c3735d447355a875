// Package blocks solves games whose moves are operations on bitmaps (game.Blockwise). A record is a block: the positions of
// a tier in one range, a bit a slot, with a value byte each.
//
// A Step is the work on blocks, without a source or a destination of them. Inline, a range pulls its messages from the
// blocks that send them, with a few cursors that move forward through the sorted files of a Tier. A mapper pushes them:
//
//	                     lines            packed
//	input of the map     lines            splits: a line that names ranges of pack files
//	messages             lines            pairs: a range, and a packed block
//	output of the reduce lines            pack files
//
// A Table is what a solved game is read from. The package mirror below has the mirror images of games of which half of the
// positions are stored: a Table looks either position up, and scans and counts both.
package blocks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Method solves a game by blocks.
type Method struct{ g, stored game.Blockwise } // stored has the positions that the table stores

// New returns the method of a game.
func New(g game.Blockwise) *Method { return &Method{g, Stored(g)} }

// Name returns "blocks".
func (m *Method) Name() string { return "blocks" }

// Game returns the game.
func (m *Method) Game() game.Game { return m.g }

// Tables returns the memory of the game's tables.
func (m *Method) Tables() int { return m.g.Tables() }

// Sends returns false.
func (m *Method) Sends() bool { return false }

// Inline returns a runner for this process.
func (m *Method) Inline(memory int) runner.Runner {
	return &inlineRunner{m: m, memory: inline.Memory(memory)}
}

// Slots returns the number of slots of a tier, and a bound for that of its ranges.
func (m *Method) Slots(tier int) (slots, ranges float64) { return m.g.Slots(tier), m.g.Ranges(tier) }

// MostRecords returns the number of slots of the largest tier.
func (m *Method) MostRecords() (most float64) {
	for tier := range m.g.Tiers() + 1 {
		most = max(most, m.g.Slots(tier))
	}
	return most
}

// gameOf returns the game with the positions of the output of a job.
func (m *Method) gameOf(j *runner.Job) game.Blockwise {
	if j.Stored {
		return m.stored
	}
	return m.g
}

// Borders returns the first keys of all parts except the first.
func (m *Method) Borders(j *runner.Job) (borders []game.Position, err error) {
	g, tier := m.gameOf(j), j.Tier
	if j.Step == step.Final {
		tier = (g.Tiers()*3 + 3) / 4 // for all tiers at once: use the tier with the most positions
	}
	for part := 1; part < j.Reducers; part++ {
		borders = append(borders, g.Border(tier, float64(part)/float64(j.Reducers))<<g.LowBits())
	}
	return borders, nil
}

// Ranges returns keys of which some parts of a tier with few ranges are empty, because a partitioner of Hadoop needs different ones.
func (m *Method) Ranges(tier, parts int) (keys [][]byte, err error) {
	g := m.g
	if tier < 0 || tier > g.Tiers() {
		return nil, fmt.Errorf("%s: tier %d, expected 0 to %d", g.Spec(), tier, g.Tiers())
	}
	if most := mostParts(g); parts < 1 || uint64(parts) > most {
		return nil, fmt.Errorf("%s: %d reducers, expected 1 to %d, which is how many ranges its keys have", g.Spec(), parts, most)
	}
	for _, border := range Borders(g, tier, parts)[1:] {
		keys = append(keys, streamfmt.AppendKey(nil, border<<g.LowBits(), streamfmt.KeyWidth(g.KeyBits())))
	}
	return keys, nil
}

// Properties returns the player to move, and whether the board is full.
func (m *Method) Properties(j *runner.Job, _ [][]byte) []step.Property {
	successors := j.Tier
	if j.Step == step.Solve {
		successors++
	}
	return []step.Property{
		{Name: "turn", Value: Turn(m.g, successors-1)},
		{Name: "last_round", Value: strconv.FormatBool(successors == m.g.Tiers())},
	}
}

// Needs returns the need of compact blocks in data_first.
func (m *Method) Needs() []string {
	if game.DeducerOf(m.g) == nil {
		return nil
	}
	return []string{store.ReachedNeed}
}

// Whole reads the kind of the first pack file.
func (m *Method) Whole(fsys store.FS, dir string, seal *store.Seal) (bool, error) {
	for _, f := range seal.Files {
		if jobdir.IsText(f.Name) {
			continue
		}
		file, err := jobdir.OpenPacked(fsys, path.Join(dir, f.Name), &f)
		if err != nil {
			return false, err
		}
		return file.Kind != streamfmt.HalfBlocks, file.Close()
	}
	return true, nil
}

// ValuedFirst reports whether a tier is the last one, whose positions are all terminal.
func (m *Method) ValuedFirst(tier int) bool { return tier == m.g.Tiers() }

// OpenSender returns an error: jobs send no messages.
func (m *Method) OpenSender(_ store.FS, dir string) (runner.Sender, error) {
	return nil, &store.DamageError{Name: dir, Reason: "it has messages, which no job by blocks sends"}
}

// pieceRanges is the number of ranges of a Piece, and rangeBytes about how many bytes the lines of one take.
const (
	pieceRanges = 64
	rangeBytes  = 64
)

// AddInput adds the tiers that the job reads. The final job reads the table, with its mirror images.
func (m *Method) AddInput(j *runner.Job, in *runner.Input) error {
	dirs, g := j.Input, m.g
	switch j.Step {
	case step.Solve:
		dirs = append(slices.Clone(dirs), j.Predecessors)
	case step.Final:
		g = m.stored
	}
	for i, dir := range dirs {
		tier := j.Tier // the last directory has the predecessors
		if i < len(j.Input) {
			tier = j.InputTier(i)
		}
		t, err := OpenTier(j.FS, dir, g, tier)
		if err != nil {
			return err
		}
		in.Open = append(in.Open, t)
		for from := 0; from < t.Len(); from += pieceRanges {
			to := min(from+pieceRanges, t.Len())
			in.Pieces = append(in.Pieces, runner.Piece{Source: dir, Size: int64(to-from) * rangeBytes, Write: func(w io.Writer) error { return t.WriteLines(w, from, to) }})
		}
	}
	return nil
}

// WriteShard writes shard i of a job from lines.
func (m *Method) WriteShard(j *runner.Job, i int, lines io.Reader, source string) error {
	out, err := j.Create(jobdir.PartName(i))
	if err != nil {
		return err
	}
	w := outputForm(m.g, j.Step).newWriter(out, j.Tier)
	return w.Finish(w.AppendLines(lines, source))
}

// WriteLines writes the records of a job as lines, too.
func (m *Method) WriteLines(j *runner.Job) error {
	for i := range j.Reducers {
		name := path.Join(j.Output, jobdir.PartName(i))
		if _, err := j.FS.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue // a cluster may have fewer reducers
		}
		t, err := OpenTierFiles(j.FS, []jobdir.File{{Name: name}}, m.g, j.Tier)
		if err != nil {
			return err
		}
		out, err := j.Create(jobdir.LinesName(i))
		if err == nil {
			err = errors.Join(t.WriteLines(out, 0, t.Len()), out.Close())
		}
		if err = errors.Join(err, t.Close()); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes a shard of the table from parts.
func (m *Method) WriteTable(ctx context.Context, j *runner.Job, parts []jobdir.File) error {
	return writeTableShard(ctx, j.FS, parts, j.CreateTable, m.stored, j.Tier)
}

// Stored returns the game with the positions that the table of a game stores: a *mirror.Half if it is Halved.
func Stored(g game.Blockwise) game.Blockwise {
	if half := mirror.HalfOf(g); half != nil {
		return half
	}
	return g
}
