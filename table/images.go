//go:build !js

package table

import (
	"context"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// imageRows is the number of rows that a worker sorts at a time.
const imageRows = 1 << 20

// An imageScan has the positions of some tiers with their images, sorted, in a file without a name, which is released when
// it is garbage.
type imageScan struct {
	tiers     []*layers.Source
	intervals []layerInterval
}

// images sorts the images of the positions of the tiers that are wanted.
func (t *layerTable) images(ctx context.Context, g game.Symmetric, wanted func(tier int) bool) (*imageScan, error) {
	var sources []*layers.Source
	rows := int64(0)
	for i := range t.tiers {
		if wanted(i) {
			f, err := t.tier(i)
			if err != nil {
				return nil, err
			}
			sources, rows = append(sources, f), rows+f.Rows()
		}
	}
	if rows == 0 {
		return new(imageScan), nil
	}
	file, err := t.temporary()
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	err = layers.WithImages(ctx, g, sources, runtime.GOMAXPROCS(0), imageRows, func() (io.WriteCloser, error) { return file, nil })
	if err != nil {
		return nil, err
	}
	s := new(imageScan)
	if s.tiers, err = layers.OpenImages(store.Local{}, file.Name(), g); err != nil {
		return nil, err
	}
	for tier, f := range s.tiers {
		if !wanted(tier) {
			continue
		}
		for _, interval := range layers.Cut(max(intervalRows, f.Runs()*streamfmt.CellRows), f) { // at least a cell of each run is read
			s.intervals = append(s.intervals, layerInterval{interval, tier})
		}
	}
	return s, nil
}

// temporary creates a file beside the table if it is on this machine and can be written.
func (t *layerTable) temporary() (*os.File, error) {
	dir := ""
	if _, ok := t.fsys.(store.Local); ok {
		dir = t.data
	}
	return store.CreateTemp(dir, "images-*"+jobdir.Suffix)
}

// read reads batch i.
func (s *imageScan) read(l *layers.Loader, i int, b *Batch) error {
	of := s.intervals[i]
	rows, err := l.Load(nil, s.tiers[of.tier], of.Interval)
	b.Tier, b.Positions, b.Values = of.tier, b.Positions[:0], b.Values[:0]
	for _, row := range rows {
		b.Positions, b.Values = append(b.Positions, row.Key), append(b.Values, layers.ValueOf(row.Word))
	}
	return err
}

// imageCounts returns the number of positions of each tier by value, with their images. It reads the complete table.
func (t *Table) imageCounts(ctx context.Context) ([]Counts, error) {
	scan, err := t.Scan(ctx, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	counts := make([]Counts, t.Tiers()+1)
	for i := range counts {
		counts[i] = make(Counts)
	}
	return counts, each(ctx, scan.Len(), func() func(int) error {
		r, b := scan.Reader(), new(Batch)
		var images []game.Position
		return func(i int) error {
			if err := r.Read(i, b); err != nil {
				return err
			}
			here := make(Counts)
			for i, p := range b.Positions {
				images = game.ImagesOf(images[:0], t.g, p)
				here[b.Values[i]] += uint64(len(images))
			}
			mu.Lock()
			defer mu.Unlock()
			for v, n := range here {
				counts[b.Tier][v] += n
			}
			return nil
		}
	})
}
