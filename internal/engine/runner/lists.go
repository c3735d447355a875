package runner

import (
	"errors"
	"fmt"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// ByLists reports whether the jobs of a game go by lists: it has tiers, and no blocks.
func ByLists(g game.Game) bool {
	_, tiers := g.(game.Acyclic)
	_, blocks := g.(game.Tiered)
	return tiers && !blocks
}

// ReducersHold reports whether the reducers of a game's jobs hold rows back that they
// tell, as mappers do in order to merge.
func ReducersHold(g game.Game) bool {
	c, cycles := game.ByMethod(g).(game.Cyclic)
	return ByLists(g) || cycles && !game.KnowsBackward(c)
}

// Rows are rows of one kind that the map of a job on lists reads.
type Rows struct {
	Name   string // what is packed, for messages
	Kind   lists.Kind
	Text   []string      // files of lines, as they lie there
	Packed *lists.Source // what is packed; nil: nothing is
}

// Rows is what the map of a job on lists reads, but that of init: what is told to the
// tier, in solve the positions of the tier too, in the final step the values of each
// tier. What is open then is the caller's to close, by CloseRows.
func (j *Job) Rows(g game.Acyclic) (all []Rows, err error) {
	add := func(r Rows, err error) error {
		if err == nil {
			all = append(all, r)
		}
		return err
	}
	switch j.Step {
	case step.Final:
		err = lists.EachTier(j.FS, j.Input, g, j.InputTier(0), func(s *lists.Source) error {
			return add(Rows{Name: j.Input[len(all)], Kind: lists.Values, Packed: s}, nil)
		})
	case step.Solve:
		if err = add(j.part(g)); err == nil {
			err = add(j.told(lists.Messages))
		}
	default:
		err = add(j.told(lists.Parents))
	}
	if err != nil {
		return nil, errors.Join(err, CloseRows(all))
	}
	return all, nil
}

// CloseRows closes what is open of rows.
func CloseRows(all []Rows) error {
	var errs []error
	for _, r := range all {
		if r.Packed != nil {
			errs = append(errs, r.Packed.Close())
		}
	}
	return errors.Join(errs...)
}

// part is the positions of the job's tier.
func (j *Job) part(g game.Acyclic) (r Rows, err error) {
	r.Name, r.Kind = j.Parents, lists.Parents
	parts, err := jobdir.Parts(j.FS, j.Parents, g.Spec())
	if err != nil {
		return r, err
	}
	if len(parts) > 0 && jobdir.IsText(parts[0]) {
		r.Text = parts
		return r, nil
	}
	d, err := lists.OpenDir(j.FS, j.Parents, g)
	if err != nil {
		return r, err
	}
	r.Packed, err = lists.OpenPart(d, j.Tier, r.Kind)
	return r, err
}

// told is what the job's tier is told.
func (j *Job) told(kind lists.Kind) (r Rows, err error) {
	r.Name, r.Kind = fmt.Sprintf("what tier %d is told", j.Tier), kind
	var packed []*lists.Dir
	for _, d := range j.Told {
		if text, all := d.TextTo(j.Tier); all {
			r.Text = append(r.Text, text...)
		} else {
			packed = append(packed, d)
		}
	}
	if len(packed) > 0 {
		r.Packed, err = lists.OpenTold(packed, j.Tier, kind)
	}
	return r, err
}
