package layers

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// statesName returns the name of the file of states beside shard i: _states-00000.pack.
func statesName(i int) string { return jobdir.FileName(store.StatesPrefix, i) }

// OutboxName returns the name of the file of messages that reducer i sends to other stages: _to-00000.pack.
func OutboxName(i int) string { return jobdir.FileName(store.OutboxPrefix, i) }

// A file is a file of rows of a game, from the directory of a job or from the table.
type file struct {
	jobdir.File
	fsys store.FS
	g    game.Game
	sent bool // it has rows of several stages, in stretches, as an outbox writes them; otherwise sorted ones of a tier

	pack      *streamfmt.File // nil before the file is first opened
	isOpen    bool
	cells     []streamfmt.Cell // for a Source
	stretches []stretch
}

// A stretch is consecutive cells of a file whose keys ascend; an outbox emits such stretches.
type stretch struct{ from, to int }

// filesOf returns the files with a prefix in the directory of a job of a game, or those of a tier of the table. If one does
// not match its seal or belongs to another game, the error is a *store.DamageError.
func filesOf(fsys store.FS, name, prefix string, g game.Game) (files []*file, err error) {
	listed, err := jobdir.List(fsys, name, g.Spec(), prefix)
	for _, f := range listed {
		files = append(files, &file{fsys: fsys, File: f, g: g, sent: prefix == store.OutboxPrefix})
	}
	return files, err
}

// locate finds the cells of a stage in the open file, and their stretches. The keys of a sorted file come after those of the one
// before, if there is one.
func (f *file) locate(at step.Stage, kind Kind, before *file) error {
	only := int(at)
	if f.sent {
		only = -1
	}
	err := jobdir.Expect(f.pack, f.g, only, kind)
	if err == nil {
		f.cells, err = f.pack.Cells(int(at))
	}
	if err != nil {
		return err
	}
	f.stretches = nil
	from, twice := 0, false // whether a key may be there twice that must not
	for i := 1; i <= len(f.cells); i++ {
		if i == len(f.cells) || f.cells[i].First < f.cells[i-1].Last {
			f.stretches = append(f.stretches, stretch{from, i})
			from = i
		} else if f.cells[i].First == f.cells[i-1].Last {
			twice = twice || kind == Values || kind == States
		}
	}
	switch {
	case f.sent || len(f.cells) == 0:
	case len(f.stretches) > 1 || twice:
		return &store.DamageError{Name: f.Name, Reason: "its keys do not ascend"}
	case before != nil && f.cells[0].First <= before.cells[len(before.cells)-1].Last:
		return &store.DamageError{Name: f.Name, Reason: "its keys do not come after those of the previous shard"}
	}
	return nil
}

// touching yields the numbers of the cells that may contain keys of an interval, ascending.
func (f *file) touching(in Interval) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, s := range f.stretches {
			at := s.from + sort.Search(s.to-s.from, func(i int) bool { return f.cells[s.from+i].Last >= in.First })
			for ; at < s.to && f.cells[at].First <= in.Last; at++ {
				if !yield(at) {
					return
				}
			}
		}
	}
}

// open opens the file, and returns an open copy that the caller must close. The copy of an open file shares its reader.
func (f *file) open() (*file, error) {
	o := *f
	o.isOpen = true
	switch {
	case f.isOpen:
		return &o, nil
	case f.pack == nil:
		var err error
		o.pack, err = jobdir.OpenPacked(o.fsys, o.Name, o.Seal)
		return &o, err
	}
	in, err := f.fsys.Open(f.Name)
	o.pack = o.pack.With(in)
	return &o, err
}

// close closes the file. Its index stays in memory.
func (f *file) close() error {
	if !f.isOpen {
		return nil
	}
	err := f.pack.Close()
	f.isOpen, f.pack = false, f.pack.With(nil)
	return err
}

// with calls do with the file, and opens it for the call if it is not open.
func (f *file) with(do func(f *file) error) error {
	if f.isOpen {
		return do(f)
	}
	o, err := f.open()
	if err != nil {
		return err
	}
	return cmp.Or(do(o), o.close())
}

// read reads a cell, in the memory of dst. It may read ahead the cells up to, but not including, end.
func (f *file) read(r *streamfmt.RowReader, dst []Row, cell, end int) (rows []Row, err error) {
	err = f.with(func(f *file) error {
		rows, err = r.Append(dst[:0], f.pack, f.cells[cell:end], math.MaxUint64)
		return err
	})
	return rows, err
}

// eachStage calls do for the rows of each stage in the file, once if it has no rows.
func (f *file) eachStage(do func(at step.Stage, s *Source) error) error {
	return f.with(func(f *file) error {
		stages := f.pack.Stages
		if len(stages) == 0 {
			stages = []int{0}
		}
		for _, stage := range stages {
			s := &Source{kind: f.pack.Kind}
			err := s.add(step.Stage(stage), f)
			if err == nil {
				err = do(step.Stage(stage), s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// A Dir is the directory of a job that sends messages. It takes some 48 bytes of memory for each stage that receives messages
// from one of its files.
type Dir struct {
	Path  string
	boxes []*file
}

// OpenDir opens the directory of a job of a game.
func OpenDir(fsys store.FS, dir string, g game.Game) (*Dir, error) {
	boxes, err := filesOf(fsys, dir, store.OutboxPrefix, g)
	for i, f := range boxes {
		if f, err = f.open(); err == nil {
			err = f.close()
		}
		if err != nil {
			return nil, err
		}
		boxes[i] = f
	}
	return &Dir{dir, boxes}, err
}

// Receivers returns the numbers of the stages that receive messages from the directory, ascending: those of tiers, then
// those of passes.
func (d *Dir) Receivers() []int {
	var stages []int
	for _, b := range d.boxes {
		stages = append(stages, b.pack.Stages...)
	}
	slices.Sort(stages)
	return slices.Compact(stages)
}

// Rows returns the number of rows that the directory has for a stage.
func (d *Dir) Rows(to step.Stage) (n int64) {
	for _, b := range d.boxes {
		n += int64(b.pack.StageRecords(int(to)))
	}
	return n
}
