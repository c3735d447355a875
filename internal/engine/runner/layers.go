package runner

import (
	"errors"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// Rows returns the input of the map of a job by layers, except init: the messages to the stage; for the
// steps that write shards of the retrograde pass also the positions of the tier; for the final step the values of each
// tier. The caller must close the sources.
func (j *Job) Rows(g game.Game) (all []*layers.Source, err error) {
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
