package streaming

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// ofLayers plans a job by layers. If an input has not the format of the output, the job is executed by Small. So is a job
// without rows to read.
func (p *plan) ofLayers(g game.Game) error {
	job := p.job
	rows, err := job.Rows(g)
	if err != nil {
		return err
	}
	defer runner.CloseRows(rows)
	var packed []*layers.Source
	for _, r := range rows {
		if r.Source != nil {
			packed = append(packed, r.Source)
			p.reads += r.Source.Rows()
		}
		if p.small = r.Source != nil && !p.packed() || len(r.Files) > 0 && p.packed(); p.small {
			return nil
		}
	}
	if p.packed() {
		p.input = layers.Inputs(p.tasks(p.reads), packed...)
	} else if err := p.ofText(g, rows); err != nil {
		return err
	}
	of := *job
	of.Reducers = p.reducers()
	borders, err := of.Borders()
	if err != nil {
		return err
	}
	borders = slices.Compact(append([]uint64{0}, borders...)) // Hadoop would reject equal ones
	p.keys = lineKeys(g, borders, 1)
	p.properties = job.Properties(p.keys)
	if p.packed() {
		p.keys = pairKeys(borders)
	}
	return nil
}

// ofText plans the input of a job by layers of which Hadoop reads, sorts and writes lines.
func (p *plan) ofText(g game.Game, rows []runner.Rows) error {
	width := streamfmt.KeyWidth(g.KeyBits())
	files := 0
	for _, r := range rows {
		bytes, err := p.addText(r, p.job.Stage())
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
	// One map for each file would often be too many: every tier can send messages to this one,
	// in a file of each reducer.
	p.maps = files
	if worth := p.tasks(p.reads); files > 2*worth {
		p.together, p.maps = true, worth
	}
	return nil
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
			if game.KnownValue(g, key) != 0 {
				stats.Finished++
			}
		})
	}
	return errors.Join(err, part.Close())
}
