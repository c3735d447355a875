package streaming

import (
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
)

// ofLayers plans a job by layers.
func (p *plan) ofLayers(g game.Game) error {
	job := p.job
	rows, err := job.Rows(g)
	if err != nil {
		return err
	}
	defer layers.CloseAll(rows)
	for _, s := range rows {
		p.reads += s.Rows()
	}
	p.input = layers.Inputs(p.tasks(p.reads), rows...)
	of := *job
	of.Reducers = p.reducers()
	borders, err := of.Borders()
	if err != nil {
		return err
	}
	borders = slices.Compact(append([]uint64{0}, borders...)) // Hadoop would reject equal ones
	p.properties = job.Properties(lineKeys(g, borders, 1))
	p.keys = pairKeys(borders)
	return nil
}
