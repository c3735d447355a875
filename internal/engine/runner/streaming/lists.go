package streaming

import (
	"errors"
	"path"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// ofLists plans a job of a game of which only the rules are known: Hadoop reads, sorts
// and writes lines. What is packed only this process can read: then the job is Small's.
func (p *plan) ofLists(g game.Acyclic) error {
	job := p.job
	rows, err := job.Rows(g)
	if err != nil {
		return err
	}
	defer runner.CloseRows(rows)
	if slices.ContainsFunc(rows, func(r runner.Rows) bool { return r.Packed != nil }) {
		p.small = true
		return nil
	}
	width := streamfmt.KeyWidth(g.KeyBits())
	files := 0
	for _, r := range rows {
		bytes, err := p.addText(r, job.Tier)
		if err != nil {
			return err
		}
		line := int64(width + len("\tm1\n"))
		if r.Kind == lists.Parents {
			line = int64(2*width + len("\tp\n"))
		}
		p.bytes += bytes
		p.reads += bytes / line
		files += len(r.Text)
	}
	of := *job
	of.Reducers = p.reducers()
	borders, err := of.Borders()
	if err != nil {
		return err
	}
	p.borders = []uint64{0}
	for _, border := range borders {
		if border > p.borders[len(p.borders)-1] { // equal ones Hadoop would refuse
			p.borders = append(p.borders, border)
		}
	}
	p.text(func(key uint64) game.Position { return key })
	// A map for each file would be many that do little: every tier can tell this one
	// something, and does so in a file of each reducer.
	p.maps = files
	if worth := p.tasks(p.reads); files > 2*worth {
		p.together, p.maps = true, worth
	}
	return nil
}

// Codec is the form of the directories of a game's jobs where c was asked for. Of a game
// of which only the rules are known, Hadoop reads and writes lines alone.
func Codec(g game.Game, c jobdir.Codec) jobdir.Codec {
	if runner.ByLists(g) {
		return jobdir.Text
	}
	return c
}

// addText adds files of text to what the maps read, and returns how many bytes they have.
func (p *plan) addText(r runner.Rows, tier int) (bytes int64, err error) {
	pattern := lists.ToldGlob(tier)
	for _, name := range r.Text {
		info, err := p.job.FS.Stat(name)
		if err != nil {
			return 0, err
		}
		bytes += info.Size()
		of := pattern
		if r.Kind == lists.Parents && p.job.Step == step.Solve {
			of = store.PartPrefix + "*"
		}
		if in := path.Join(path.Dir(name), of); !slices.Contains(p.inputs, in) {
			p.inputs = append(p.inputs, in)
		}
	}
	return bytes, nil
}

// countLists counts what is in the parts of a job, where nothing came of its counters.
func countLists(job *runner.Job, g game.Acyclic, stats *runner.Stats) (err error) {
	d, err := lists.OpenDir(job.FS, job.Output, g)
	if err != nil {
		return err
	}
	kind, _ := lists.KindsOf(job.Step)
	part, err := lists.OpenPart(d, job.Tier, kind)
	if err != nil {
		return err
	}
	stats.Records = part.Rows()
	err = part.EachKey(func(key game.Position) {
		stats.Positions++
		if g.Primitive(key) != 0 {
			stats.Finished++
		}
	})
	return errors.Join(err, part.Close())
}
