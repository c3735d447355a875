package streaming

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// ofLayers plans a job by layers, in which Hadoop reads, sorts and writes lines. Packed inputs can
// only be read in this process; then the job is executed by Small. So is a job without rows to read.
func (p *plan) ofLayers(g game.Game) error {
	job := p.job
	rows, err := job.Rows(g)
	if err != nil {
		return err
	}
	defer runner.CloseRows(rows)
	if slices.ContainsFunc(rows, func(r runner.Rows) bool { return r.Source != nil }) {
		p.small = true
		return nil
	}
	width := streamfmt.KeyWidth(g.KeyBits())
	files := 0
	for _, r := range rows {
		bytes, err := p.addText(r, job.Stage())
		if err != nil {
			return err
		}
		line := int64(width + len("\tm1\n"))
		if r.Kind == layers.Predecessors {
			line = int64(2*width + len("\tp\n"))
		}
		p.bytes += bytes
		p.reads += bytes / line
		files += len(r.Files)
	}
	of := *job
	of.Reducers = p.reducers()
	borders, err := of.Borders()
	if err != nil {
		return err
	}
	p.keys = lineKeys(g, slices.Compact(append([]uint64{0}, borders...)), 1) // Hadoop would reject equal ones
	p.properties = job.Properties(p.keys)
	// One map for each file would often be too many: every tier can send messages to this one,
	// in a file of each reducer.
	p.maps = files
	if worth := p.tasks(p.reads); files > 2*worth {
		p.together, p.maps = true, worth
	}
	return nil
}

// Codec returns the format of the directories of a game's jobs if c was requested. In jobs by
// layers, Hadoop can only read and write lines.
func Codec(m game.Method, c jobdir.Codec) jobdir.Codec {
	if m.Layers != nil {
		return jobdir.Text
	}
	return c
}

// addText adds text files to the input of the maps, and returns their size in bytes.
func (p *plan) addText(r runner.Rows, to layers.Stage) (bytes int64, err error) {
	pattern := layers.OutboxGlob(to)
	for _, name := range r.Files {
		info, err := p.job.FS.Stat(name)
		if err != nil {
			return 0, err
		}
		bytes += info.Size()
		of := pattern
		if strings.HasPrefix(path.Base(name), store.PartPrefix) {
			of = store.PartPrefix + "*"
		}
		if in := path.Join(path.Dir(name), of); !slices.Contains(p.inputs, in) {
			p.inputs = append(p.inputs, in)
		}
	}
	return bytes, nil
}

// countRows counts the records in the parts of a job whose counters are missing. A job on a tier with inner moves must run
// again: the messages that it received are not known without counters.
func countRows(job *runner.Job, g game.Game, stats *runner.Stats) (err error) {
	if game.Loops(g, job.Tier) {
		return &store.DamageError{Name: job.Output, Reason: "the counters of its job are missing"}
	}
	d, err := layers.OpenDir(job.FS, job.Output, g)
	if err != nil {
		return err
	}
	kind := layers.WritesOf(job.Step, g, job.Tier).Shard
	part, err := layers.OpenPart(d, job.Tier, kind)
	if err != nil {
		return err
	}
	stats.Records = part.Rows()
	if job.Step == step.Possible {
		err = part.EachKey(func(key game.Position) {
			stats.Positions++
			if g.Primitive(key) != 0 {
				stats.Finished++
			}
		})
	}
	return errors.Join(err, part.Close())
}
