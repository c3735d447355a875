package layers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Method solves a game by layers.
type Method struct{ g game.Game }

// New returns the method of a game.
func New(g game.Game) *Method { return &Method{g} }

// Name returns "layers".
func (m *Method) Name() string { return "layers" }

// Game returns the game.
func (m *Method) Game() game.Game { return m.g }

// Tables returns 0: the method does not know tables of a game.
func (m *Method) Tables() int { return 0 }

// Sends returns true.
func (m *Method) Sends() bool { return true }

// Inline returns a runner for this process.
func (m *Method) Inline(memory int) runner.Runner {
	return &inlineRunner{m: m, memory: inline.Memory(memory)}
}

// Slots returns 0.
func (m *Method) Slots(int) (slots, ranges float64) { return 0, 0 }

// rowFactor is how many rows a job by layers reads for a position, typically at most: one for each
// predecessor, one for each move.
const rowFactor = 64

// MostRecords returns the number of rows of all positions that the keys can express.
func (m *Method) MostRecords() float64 { return math.Exp2(float64(m.g.KeyBits())) * rowFactor }

// Borders returns the first keys of all parts except the first.
func (m *Method) Borders(j *runner.Job) ([]game.Position, error) {
	return bordersOf(j.FS, j.BordersFrom, m.g, j.Reducers)
}

// Ranges returns an error: the rows of an earlier tier divide those of a tier, and a pass needs an index of the one before it.
func (m *Method) Ranges(int, int) ([][]byte, error) {
	return nil, fmt.Errorf("%s: its tiers have no ranges", m.g.Spec())
}

// Properties returns the tier and the pass, the borders, and the directories that a reducer reads.
func (m *Method) Properties(j *runner.Job, borders [][]byte) (ps []step.Property) {
	add := func(name, value string) { ps = append(ps, step.Property{Name: name, Value: value}) }
	names := func(dirs []string) string {
		var all []string
		for _, dir := range dirs {
			all = append(all, path.Base(dir))
		}
		return strings.Join(all, ",")
	}
	pass := j.Pass
	if pass > step.TiesPass {
		pass -= step.TiesPass
	}
	add("tier", strconv.Itoa(j.Tier))
	add("pass", strconv.Itoa(pass))
	add("borders", string(bytes.Join(borders, []byte(","))))
	if len(j.Runs) > 0 {
		add("data", path.Dir(j.Runs[0]))
		add("states", names(j.Runs))
		add("absorb", strconv.Itoa(j.Absorb))
	}
	if !WritesOf(j.Step, m.g, j.Tier).Shards {
		add("edges", names(j.Edges))
	}
	return ps
}

// Needs returns none.
func (m *Method) Needs() []string { return nil }

// Whole returns true.
func (m *Method) Whole(store.FS, string, *store.Seal) (bool, error) { return true, nil }

// ValuedFirst returns false.
func (m *Method) ValuedFirst(int) bool { return false }

// OpenSender opens a directory as a *Dir.
func (m *Method) OpenSender(fsys store.FS, dir string) (runner.Sender, error) {
	return OpenDir(fsys, dir, m.g)
}

// senders returns the directories of the inbox of a job.
func senders(j *runner.Job) (dirs []*Dir) {
	for _, s := range j.Inbox {
		dirs = append(dirs, s.(*Dir)) // from OpenSender
	}
	return dirs
}

// rowsOfPiece is the number of rows of a Piece.
const rowsOfPiece = 1 << 14

// AddInput adds the rows that the job reads.
func (m *Method) AddInput(j *runner.Job, in *runner.Input) error {
	sources, err := m.Rows(j)
	width := streamfmt.KeyWidth(m.g.KeyBits())
	for _, s := range sources {
		name := fmt.Sprintf("%s of tier %d", s.kind, j.Tier)
		if j.Step == step.Final {
			name = "the table"
		}
		in.Open = append(in.Open, s)
		if s.Rows() == 0 {
			continue
		}
		for _, interval := range Cut(rowsOfPiece, s) {
			in.Pieces = append(in.Pieces, runner.Piece{Source: name, Size: interval.Rows * int64(2*width), Write: func(w io.Writer) error {
				rows, err := new(Loader).Load(nil, s, interval)
				if err != nil {
					return err
				}
				_, err = w.Write(appendLines(nil, m.g, s.kind, rows))
				return err
			}})
		}
	}
	return err
}

// WriteShard writes shard i of a job from lines.
func (m *Method) WriteShard(j *runner.Job, i int, lines io.Reader, source string) error {
	writes := WritesOf(j.Step, m.g, j.Tier)
	if !writes.Shards {
		if text, err := io.ReadAll(io.LimitReader(lines, 1)); err != nil || len(text) > 0 {
			return cmp.Or(err, fmt.Errorf("%s: expected no line", source))
		}
		return nil
	}
	out, err := j.Create(jobdir.PartName(i))
	if err != nil {
		return err
	}
	w, one := NewPartWriter(out, m.g, j.Tier, writes.Shard), make([]Row, 1)
	return w.Finish(eachRow(lines, source, streamfmt.KeyWidth(m.g.KeyBits()), nil, []Kind{writes.Shard}, func(row Row, _ Kind) (string, error) {
		one[0] = row
		return "", w.Append(one)
	}))
}

// WriteTable writes a shard of the table from parts.
func (m *Method) WriteTable(_ context.Context, j *runner.Job, parts []jobdir.File) error {
	out, err := j.CreateTable()
	if err != nil {
		return err
	}
	w := NewPartWriter(out, m.g, j.Tier, Values)
	w.chunk.SetCoded()
	in, err := OpenValues(j.FS, parts, m.g, j.Tier)
	if err == nil {
		err = errors.Join(in.Each(w.Append), in.Close())
	}
	return w.Finish(err)
}

// Rows returns the input of the map of a job by layers, except init: the messages to the stage; for the
// steps that write shards of the retrograde pass also the positions of the tier; for the final step the values of all
// tiers. The caller must close the sources.
func (m *Method) Rows(j *runner.Job) (all []*Source, err error) {
	g := m.g
	add := func(s *Source, err error) error {
		if err == nil {
			all = append(all, s)
		}
		return err
	}
	writes := WritesOf(j.Step, g, j.Tier)
	if j.Step == step.Final {
		err = add(Open(j.FS, g, Values, j.InputTier(0), j.Input...))
	} else if writes.Shards && len(j.Edges) > 0 {
		err = add(Open(j.FS, g, Predecessors, j.Tier, j.Edges...))
	}
	if err == nil && j.Step != step.Final && j.Step != step.Values {
		err = add(OpenInbox(senders(j), j.Stage(), writes.Sent))
	}
	if err != nil {
		return nil, errors.Join(err, CloseAll(all))
	}
	return all, nil
}
