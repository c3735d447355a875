package layers

import (
	"context"
	"errors"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// withImages writes the rows of sources of Values, and rows with the same values for all images of their positions, to
// a file, which create creates with a name. It sorts up to most rows at a time for each worker. It returns a source for each
// tier. They share the open file, whose name may be removed.
func withImages(ctx context.Context, g game.Symmetric, sources []*Source, workers, most int, fsys store.FS, name string, create func() (io.WriteCloser, error)) (tiers []*Source, err error) {
	var all []stretch
	for _, s := range sources {
		all = append(all, s.stretches(pieceRows)...)
	}
	w := NewOutboxWriter(create, g, Values)
	outboxes := make(chan *Outbox, workers)
	for range workers {
		outboxes <- NewOutbox(g, Values, most, w.Append)
	}
	err = parallel.Each(ctx, workers, len(all), 1, func() func(int) error {
		var loader Loader
		var rows []Row
		var images []game.Position
		return func(i int) (err error) {
			if rows, err = loader.stretch(rows, all[i]); err != nil {
				return err
			}
			o, to := <-outboxes, step.At(all[i].Tier(), 0)
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
		return nil, err
	}
	f, err := (&file{fsys: fsys, name: name, g: g}).open()
	if err != nil {
		return nil, err
	}
	for tier := range game.LastTier(g) + 1 {
		s, of := &Source{tier: tier, kind: Values}, *f
		if of.cells, err = s.cellsOf(&of, false); err != nil {
			return nil, errors.Join(err, f.close())
		}
		if len(of.cells) > 0 {
			err = s.add(&of)
		}
		tiers = append(tiers, s)
	}
	return tiers, err
}
