package runner

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// Rows returns the input of the map of a job by layers, except init: the messages to the stage; for the
// steps that write shards of the retrograde pass also the positions of the tier; for the final step the values of each
// tier. The caller must close the sources.
func (j *Job) Rows() (all []*layers.Source, err error) {
	g := j.Method.Layers
	add := func(s *layers.Source, err error) error {
		if err == nil {
			all = append(all, s)
		}
		return err
	}
	writes := layers.WritesOf(j.Step, g, j.Tier)
	if j.Step == step.Final {
		err = layers.EachTier(j.FS, j.Input, g, j.InputTier(0), func(s *layers.Source) error { return add(s, nil) })
	} else if writes.Shards && len(j.Edges) > 0 {
		err = add(layers.OpenParts(j.FS, j.Edges, g, j.Tier, layers.Predecessors))
	}
	if err == nil && j.Step != step.Final && j.Step != step.Values {
		err = add(layers.OpenInbox(j.Inbox, j.Stage(), writes.Sent))
	}
	if err != nil {
		return nil, errors.Join(err, layers.CloseAll(all))
	}
	return all, nil
}

// A layersJob is a job by layers.
type layersJob struct {
	*Job
	g game.Game
}

func (j *layersJob) borders() ([]game.Position, error) {
	return layers.Borders(j.FS, j.BordersFrom, j.g, j.Reducers)
}

func (j *layersJob) splits(tasks func(records int64) int) (maps []step.MapInput, records int64, err error) {
	rows, err := j.Rows()
	if err != nil {
		return nil, 0, err
	}
	defer layers.CloseAll(rows)
	for _, s := range rows {
		records += s.Rows()
	}
	return layers.Inputs(tasks(records), rows...), records, nil
}

func (j *layersJob) partitions(reducers int) ([]uint64, []step.Property, error) {
	borders, err := layers.Borders(j.FS, j.BordersFrom, j.g, reducers)
	if err != nil {
		return nil, nil, err
	}
	borders = slices.Compact(append([]uint64{0}, borders...))[1:] // Hadoop would reject equal ones
	return borders, j.Properties(lineKeys(j.g, borders)), nil
}

func (j *layersJob) properties(borders [][]byte) (ps []step.Property) {
	add := func(name, value string) { ps = append(ps, step.Property{Name: name, Value: value}) }
	names := func(dirs []string) string {
		var all []string
		for _, dir := range dirs {
			all = append(all, path.Base(dir))
		}
		return strings.Join(all, ",")
	}
	pass := j.Pass
	if pass > layers.Ties {
		pass -= layers.Ties
	}
	add("pass", strconv.Itoa(pass))
	add("borders", string(bytes.Join(borders, []byte(","))))
	if len(j.Runs) > 0 {
		add("data", path.Dir(j.Runs[0]))
		add("states", names(j.Runs))
		add("absorb", strconv.Itoa(j.Absorb))
	}
	if !layers.WritesOf(j.Step, j.g, j.Tier).Shards {
		add("edges", names(j.Edges))
	}
	return ps
}

// pieceRows is the number of rows of a Piece.
const pieceRows = 1 << 14

func (j *layersJob) addInput(in *Input) error {
	sources, err := j.Rows()
	width := streamfmt.KeyWidth(j.g.KeyBits())
	for _, s := range sources {
		in.open = append(in.open, s)
		if s.Rows() == 0 {
			continue
		}
		for _, interval := range layers.Cut(pieceRows, s) {
			in.Pieces = append(in.Pieces, Piece{fmt.Sprintf("%s of tier %d", s.Kind(), s.Tier()), interval.Rows * int64(2*width), func(w io.Writer) error {
				rows, err := new(layers.Loader).Load(nil, s, interval)
				if err != nil {
					return err
				}
				_, err = w.Write(s.AppendLines(nil, rows))
				return err
			}})
		}
	}
	return err
}

func (j *layersJob) writeShard(i int, lines io.Reader, source string) error {
	writes := layers.WritesOf(j.Step, j.g, j.Tier)
	if !writes.Shards {
		if text, err := io.ReadAll(io.LimitReader(lines, 1)); err != nil || len(text) > 0 {
			return cmp.Or(err, fmt.Errorf("%s: expected no line", source))
		}
		return nil
	}
	out, err := j.create(jobdir.PartName(i))
	if err != nil {
		return err
	}
	w := layers.NewPartWriter(out, j.g, j.Tier, writes.Shard)
	return w.Finish(w.AppendLines(lines, source))
}

func (j *layersJob) writeLines() error { return layers.WriteLines(j.FS, j.Output, j.g, j.create) }

func (j *layersJob) writeTable(_ context.Context, parts []string, create func() (io.WriteCloser, error)) error {
	out, err := create()
	if err != nil {
		return err
	}
	w := layers.NewTableWriter(out, j.g, j.Tier)
	for _, part := range parts {
		in, err := layers.OpenFile(j.FS, part, j.g, j.Tier, layers.Values, nil)
		if err == nil {
			err = errors.Join(in.Each(w.Append), in.Close())
		}
		if err != nil {
			return w.Finish(err)
		}
	}
	return w.Finish(nil)
}
