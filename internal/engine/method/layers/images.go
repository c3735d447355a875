package layers

import (
	"context"
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

// sort writes positions with their values, and all their images with the same values. It returns a source for each tier.
// They share the open file, whose name may be removed.
func (x *imageSorter) sort(ctx context.Context, of *tableRows) (tiers []*Source, err error) {
	w := NewOutboxWriter(x.create, x.g, Values)
	outboxes := make(chan *Outbox, x.workers)
	for range x.workers {
		o := new(Outbox)
		o.Reset(x.g, Values, x.most, w.Append)
		outboxes <- o
	}
	err = parallel.Each(ctx, x.workers, len(of.all), 1, func() func(int) error {
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
	f, err := (&file{fsys: x.fsys, name: x.name, g: x.g, sent: true}).open()
	for tier := range game.LastTier(x.g) + 1 {
		s, at := &Source{kind: Values}, step.At(tier, 0)
		if err == nil && f.sendsTo(at) {
			err = s.add(at, f)
		}
		tiers = append(tiers, s)
	}
	return tiers, err
}
