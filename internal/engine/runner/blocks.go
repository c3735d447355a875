package runner

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A blocksJob is a job by blocks.
type blocksJob struct {
	*Job
	g game.Tiered
}

func (j *blocksJob) borders() (borders []game.Position, err error) {
	g, tier := j.g, j.Tier
	if j.Half != nil {
		g = j.Half
	}
	if j.Step == step.Final {
		tier = (g.Tiers()*3 + 3) / 4 // for all tiers at once: use the tier with the most positions
	}
	for part := 1; part < j.Reducers; part++ {
		borders = append(borders, g.Border(tier, float64(part)/float64(j.Reducers))<<g.LowBits())
	}
	return borders, nil
}

func (j *blocksJob) splits(tasks func(records int64) int) ([]step.MapInput, int64, error) {
	return step.BlockInputs(j.FS, j.Input[0], j.g, j.InputTier(0), tasks)
}

func (j *blocksJob) partitions(reducers int) ([]uint64, []step.Property, error) {
	properties := append(j.Properties(nil), step.Property{Name: "tier", Value: strconv.Itoa(j.Tier)},
		step.Property{Name: "parents", Value: j.Predecessors})
	return step.Borders(j.g, j.Tier, reducers)[1:], properties, nil
}

func (j *blocksJob) properties([][]byte) []step.Property { return nil }

// pieceRanges is the number of ranges of a Piece.
const pieceRanges = 64

// addInput adds the tiers that the job reads. The table has half of the positions, the final job reads all.
func (j *blocksJob) addInput(in *Input) error {
	dirs, g := j.Input, j.g
	switch half := game.HalfOf(g); {
	case j.Step == step.Solve:
		dirs = append(slices.Clone(dirs), j.Predecessors)
	case j.Step == step.Final && half != nil:
		g = half
	}
	for i, dir := range dirs {
		tier := j.Tier // the last directory has the predecessors
		if i < len(j.Input) {
			tier = j.InputTier(i)
		}
		t, err := jobdir.OpenTier(j.FS, dir, g, tier)
		if err != nil {
			return err
		}
		in.open = append(in.open, t)
		for from := 0; from < t.Len(); from += pieceRanges {
			to := min(from+pieceRanges, t.Len())
			in.Pieces = append(in.Pieces, Piece{dir, int64(to-from) * pieceRanges, func(w io.Writer) error { return t.WriteLines(w, from, to) }})
		}
	}
	return nil
}

func (j *blocksJob) writeShard(i int, lines io.Reader, source string) error {
	out, err := j.create(jobdir.PartName(i))
	if err != nil {
		return err
	}
	w := jobdir.NewWriter(out, j.g, j.Tier)
	return w.Finish(w.AppendLines(lines, source))
}

func (j *blocksJob) writeLines() error {
	for i := range j.Reducers {
		name := path.Join(j.Output, jobdir.PartName(i))
		if _, err := j.FS.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue // a cluster may have fewer reducers
		}
		t, err := jobdir.OpenTierFiles(j.FS, []string{name}, j.g, j.Tier)
		if err != nil {
			return err
		}
		out, err := j.create(jobdir.LinesName(i))
		if err == nil {
			err = errors.Join(t.WriteLines(out, 0, t.Len()), out.Close())
		}
		if err = errors.Join(err, t.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (j *blocksJob) writeTable(ctx context.Context, parts []string, create func() (io.WriteCloser, error)) error {
	return jobdir.WriteTableShard(ctx, j.FS, parts, create, j.g, j.Tier)
}
