package runner

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// WriteTable writes the shard of the table that has the values in the parts of the output.
func (j *Job) WriteTable(ctx context.Context) error {
	entries, err := j.FS.ReadDir(j.Output)
	var parts []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), store.PartPrefix) {
			parts = append(parts, path.Join(j.Output, e.Name()))
		}
	}
	if err != nil {
		return err
	}
	create := func() (io.WriteCloser, error) { return j.create(jobdir.ShardName(jobdir.TablePart, 0)) }
	g := j.Method.Layers
	if g == nil {
		return jobdir.WriteTableShard(ctx, j.FS, parts, create, j.Method.Blocks, j.Tier)
	}
	out, err := create()
	if err != nil {
		return err
	}
	w := layers.NewTableWriter(out, g, j.Tier)
	for _, part := range parts {
		in, failed := layers.OpenFile(j.FS, part, g, j.Tier, layers.Values, nil)
		if failed == nil {
			failed = errors.Join(in.Each(w.Append), in.Close())
		}
		err = cmp.Or(err, failed)
	}
	return w.Finish(err)
}
