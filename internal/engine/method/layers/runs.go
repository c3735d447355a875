package layers

import (
	"errors"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// The states of a tier with inner moves are runs: directories, from the oldest to the newest. The newest run that has a
// position has its state. A job writes the states that it changes as a new run, together with those of the runs that it
// absorbs, which are then no longer needed.

// A storedRows is what a job reads beside the rows that it receives: edges, and the states of the tier.
type storedRows struct {
	edges    *Source   // the predecessors of the tier's positions, for a pass that looks them up; nil: none are stored
	runs     []*Source // the states that are only looked up
	absorbed []*Source // the states that are written again, or read completely
}

// openStored opens what is stored in directories. Of the runs, the newest absorb are absorbed.
func openStored(fsys store.FS, edges, runs []string, absorb int, g game.Game, tier int) (s storedRows, err error) {
	if len(edges) > 0 {
		s.edges, err = Open(fsys, g, Predecessors, tier, edges...)
	}
	for i, dir := range runs {
		if err != nil {
			break
		}
		run, failed := Open(fsys, g, States, tier, dir)
		switch err = failed; {
		case err != nil:
		case len(runs)-i <= absorb:
			s.absorbed = append(s.absorbed, run)
		default:
			s.runs = append(s.runs, run)
		}
	}
	if err != nil {
		err = errors.Join(err, CloseAll(s.all()))
	}
	return s, err
}

// all returns the sources.
func (s *storedRows) all() []*Source {
	all := append(slices.Clone(s.runs), s.absorbed...)
	if s.edges != nil {
		all = append(all, s.edges)
	}
	return all
}

// LoadRuns returns the newest rows of an interval in runs, in the memory of dst, sorted.
func (l *Loader) LoadRuns(dst []Row, runs []*Source, in Interval) (_ []Row, err error) {
	dst = dst[:0]
	for _, run := range runs {
		if l.newer, err = l.Load(l.newer, run, in); err != nil {
			return dst, err
		}
		if len(dst) == 0 {
			dst, l.newer = l.newer, dst
			continue
		}
		l.union = unionOf(l.union[:0], dst, l.newer)
		dst, l.union = l.union, dst
	}
	return dst, nil
}

// unionOf appends the rows of two sorted lists of states; of rows with the same key, that of newer.
func unionOf(dst, older, newer []Row) []Row {
	dst = slices.Grow(dst, len(older)+len(newer))
	for _, row := range newer {
		n := 0
		for n < len(older) && older[n].Key < row.Key {
			n++
		}
		dst = append(append(dst, older[:n]...), row)
		if older = older[n:]; len(older) > 0 && older[0].Key == row.Key {
			older = older[1:]
		}
	}
	return append(dst, older...)
}

// Newest returns the newest rows of the keys of rows, which are sorted, in the memory of dst. Keys that no run has are left
// out.
func (l *Loader) Newest(dst []Row, runs []*Source, rows []Row) ([]Row, error) {
	dst, l.wanted = dst[:0], l.wanted[:0]
	for _, row := range rows {
		if n := len(l.wanted); n == 0 || l.wanted[n-1].Key != row.Key {
			l.wanted = append(l.wanted, Row{Key: row.Key})
		}
	}
	for _, run := range slices.Backward(runs) {
		err := l.Pick(run, l.wanted, func(i int, row Row) error {
			l.wanted[i].Word = 1
			dst = append(dst, row)
			return nil
		})
		if err != nil {
			return dst, err
		}
		l.wanted = slices.DeleteFunc(l.wanted, func(r Row) bool { return r.Word == 1 })
	}
	l.sorter.sort(dst)
	return dst, nil
}
