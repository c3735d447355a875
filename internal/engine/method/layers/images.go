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

// An imageSorter sorts positions together with all their images.
type imageSorter struct {
	g       game.Symmetric
	workers int
	most    int                            // rows that each of them sorts at a time
	create  func() (io.WriteCloser, error) // creates the file that it writes
	fsys    store.FS
	name    string // of that file
}

// sort writes the rows of sources of Values, and rows with the same values for all images of their positions. It returns a
// source for each tier. They share the open file, whose name may be removed.
func (x *imageSorter) sort(ctx context.Context, sources []*Source) (tiers []*Source, err error) {
	var all []stretch
	for _, s := range sources {
		all = append(all, s.stretches(pieceRows)...)
	}
	w := NewOutboxWriter(x.create, x.g, Values)
	outboxes := make(chan *Outbox, x.workers)
	for range x.workers {
		outboxes <- NewOutbox(x.g, Values, x.most, w.Append)
	}
	err = parallel.Each(ctx, x.workers, len(all), 1, func() func(int) error {
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
				images = x.g.Images(images[:0], row.Key)
				for _, image := range images {
					if err := o.Send(to, Row{Key: image, Word: row.Word}); err != nil {
						return err
					}
				}
			}
			return nil
		}
	})
	for range x.workers {
		if o := <-outboxes; err == nil {
			err = o.Flush()
		}
	}
	if err := w.Finish(err); err != nil {
		return nil, err
	}
	f, err := (&file{fsys: x.fsys, name: x.name, g: x.g}).open()
	if err != nil {
		return nil, err
	}
	for tier := range game.LastTier(x.g) + 1 {
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
