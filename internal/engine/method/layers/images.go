package layers

import (
	"context"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// withImages replaces the positions by those with all their images, which have the same values. Workers sort up to most rows
// at a time into a file, which create creates and f names. It stays open; its name may be removed.
func (of *tableRows) withImages(ctx context.Context, g game.Symmetric, workers, most int, create createFunc, f *file) error {
	of.all = slices.DeleteFunc(of.all, func(i tierInterval) bool { return i.Rows == 0 })
	if len(of.all) == 0 {
		return nil
	}
	w := NewOutboxWriter(func() (io.WriteCloser, error) { return create(f.name) }, g, Values)
	outboxes := make(chan *Outbox, workers)
	for range workers {
		o := new(Outbox)
		o.Reset(g, Values, most, w.Append)
		outboxes <- o
	}
	err := parallel.Each(ctx, workers, len(of.all), 1, func() func(int) error {
		var loader Loader
		var rows []Row
		var images []game.Position
		return func(i int) (err error) {
			if rows, err = of.read(&loader, rows, i); err != nil {
				return err
			}
			o, to := <-outboxes, step.At(of.all[i].tier, 0)
			defer func() { outboxes <- o }()
			for _, row := range rows {
				images = g.Images(images[:0], row.Key)
				for _, image := range images {
					if err := o.Send(to, Row{Key: image, Word: row.Word}); err != nil {
						return err
					}
				}
			}
			return nil
		}
	})
	for range workers {
		if o := <-outboxes; err == nil {
			err = o.Flush()
		}
	}
	if err := w.Finish(err); err != nil {
		return err
	}
	f, err = f.open()
	if err != nil {
		return err
	}
	tiers := make(map[int]*Source)
	of.tier, of.all = func(i int) (*Source, error) { return tiers[i], nil }, nil
	for _, tier := range f.pack.Stages {
		s := &Source{kind: Values}
		if err := s.add(step.At(tier, 0), f); err != nil {
			return err
		}
		tiers[tier] = s
		of.add(tier, s.Runs()*streamfmt.CellRows, s) // at least a cell of each run is read
	}
	return nil
}
