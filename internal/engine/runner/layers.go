package runner

import (
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// Rows are input rows of one kind for the map of a job by layers.
type Rows struct {
	Name   string // the packed source, for errors
	Kind   layers.Kind
	Files  []string       // text files, to be read as they are
	Source *layers.Source // packed rows; nil: there are none
}

// Rows returns the input of the map of a job by layers, except init: the messages to the stage; for the
// steps that write shards of the retrograde pass also the positions of the tier; for the final step the values of each
// tier. The caller must call CloseRows.
func (j *Job) Rows(g game.Game) (all []Rows, err error) {
	add := func(r Rows, err error) error {
		if err == nil {
			all = append(all, r)
		}
		return err
	}
	writes := layers.WritesOf(j.Step, g, j.Tier)
	if j.Step == step.Final {
		err = layers.EachTier(j.FS, j.Input, g, j.InputTier(0), func(s *layers.Source) error {
			return add(Rows{Name: j.Input[len(all)], Kind: layers.Values, Source: s}, nil)
		})
	} else if writes.Shards {
		for _, dir := range j.Edges {
			if err == nil {
				err = add(j.part(dir, g))
			}
		}
	}
	if err == nil && j.Step != step.Final && j.Step != step.Values {
		err = add(j.inbox(writes.Sent))
	}
	if err != nil {
		return nil, errors.Join(err, CloseRows(all))
	}
	return all, nil
}

// CloseRows closes the packed sources of rows.
func CloseRows(all []Rows) error {
	var errs []error
	for _, r := range all {
		if r.Source != nil {
			errs = append(errs, r.Source.Close())
		}
	}
	return errors.Join(errs...)
}

// part returns positions of the job's tier.
func (j *Job) part(dir string, g game.Game) (r Rows, err error) {
	r.Name, r.Kind = dir, layers.Predecessors
	parts, err := jobdir.Parts(j.FS, r.Name, g.Spec())
	if err != nil {
		return r, err
	}
	if len(parts) > 0 && jobdir.IsText(parts[0]) {
		r.Files = parts
		return r, nil
	}
	d, err := layers.OpenDir(j.FS, r.Name, g)
	if err != nil {
		return r, err
	}
	r.Source, err = layers.OpenPart(d, j.Tier, r.Kind)
	return r, err
}

// inbox returns the messages to the job's tier.
func (j *Job) inbox(kind layers.Kind) (r Rows, err error) {
	r.Name, r.Kind = fmt.Sprintf("messages to tier %d", j.Tier), kind
	var packed []*layers.Dir
	for _, d := range j.Inbox {
		if text, all := d.TextTo(j.Stage()); all {
			r.Files = append(r.Files, text...)
		} else {
			packed = append(packed, d)
		}
	}
	if len(packed) > 0 {
		r.Source, err = layers.OpenInbox(packed, j.Stage(), kind)
	}
	return r, err
}
