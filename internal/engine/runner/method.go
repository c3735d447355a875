package runner

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A method is what differs between jobs by blocks and by layers.
type method interface {
	// borders is Job.Borders.
	borders() ([]game.Position, error)
	// splits is Job.Splits, and partitions is Job.Partitions.
	splits(tasks func(records int64) int) ([]step.MapInput, int64, error)
	partitions(reducers int) ([]uint64, []step.Property, error)
	// properties returns the properties of the tasks in addition to those of the step, except for Init and Final.
	properties(borders [][]byte) []step.Property
	// addInput adds the lines that the maps of a job read, except for Init.
	addInput(in *Input) error
	// writeShard is Job.WriteShard, except for Final. source describes the lines.
	writeShard(i int, lines io.Reader, source string) error
	// writeLines is Job.WriteLines.
	writeLines() error
	// writeTable writes the values in the parts to a new shard of the table.
	writeTable(ctx context.Context, parts []string, create func() (io.WriteCloser, error)) error
}

func (j *Job) method() method {
	if g := j.Method.Blocks; g != nil {
		return &blocksJob{j, g}
	}
	return &layersJob{j, j.Method.Layers}
}

// Borders returns the first keys of all parts except the first, ascending. For a game with
// blocks they are the first keys of ranges.
func (j *Job) Borders() (borders []game.Position, err error) { return j.method().borders() }

// Splits divides the input of the job among mappers that read packed records. tasks returns the desired number of mappers
// for a number of records. Splits also returns the number of records.
func (j *Job) Splits(tasks func(records int64) int) (maps []step.MapInput, records int64, err error) {
	return j.method().splits(tasks)
}

// Partitions divides the pairs of the job among at most the given number of reducers. It returns the first keys of all
// partitions except the first, strictly ascending and as the pairs have them, and the properties of the tasks.
func (j *Job) Partitions(reducers int) (keys []uint64, properties []step.Property, err error) {
	return j.method().partitions(reducers)
}

// WriteTable writes the shard of the table that has the values in the parts of the output.
func (j *Job) WriteTable(ctx context.Context) error {
	entries, err := j.FS.ReadDir(j.Output)
	if err != nil {
		return err
	}
	var parts []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), store.PartPrefix) {
			parts = append(parts, path.Join(j.Output, e.Name()))
		}
	}
	return j.method().writeTable(ctx, parts, func() (io.WriteCloser, error) { return j.create(jobdir.ShardName(jobdir.TablePart, 0)) })
}

// create creates a file in the directory of the job.
func (j *Job) create(name string) (io.WriteCloser, error) {
	return j.FS.Create(path.Join(j.Output, name))
}
