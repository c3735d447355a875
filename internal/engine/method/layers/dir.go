package layers

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// statesPrefix is the prefix of the names of files of states.
const statesPrefix = "_states-"

// statesName returns the name of the file of states beside shard i: _states-00000.pack.
func statesName(i int) string { return jobdir.FileName(statesPrefix, i) }

// OutboxName returns the name of the file of messages that reducer i sends to other stages: _to-00000.pack.
func OutboxName(i int) string { return jobdir.FileName(store.OutboxPrefix, i) }

// IsStates reports whether a file of a directory has states.
func IsStates(name string) bool { return strings.HasPrefix(name, statesPrefix) }

// A Dir is the directory of a job, verified against its seal. Each packed outbox file takes
// some 48 bytes of memory for each stage that receives messages from it.
type Dir struct {
	Path                 string
	parts, boxes, states []*file
}

// A file is a file of rows of a game, from a directory or from the table.
type file struct {
	fsys store.FS
	name string // including its path
	seal *store.SealedFile
	g    game.Game

	pack   *streamfmt.File // nil before the file is first opened
	isOpen bool
	cells  []streamfmt.Cell // for a Source
	runs   []run            // see run
}

// A run is consecutive cells of a file whose keys ascend; an outbox emits such runs.
type run struct{ from, to int }

// findRuns finds the runs of cells.
func (f *file) findRuns() {
	f.runs = f.runs[:0]
	from := 0
	for i := 1; i <= len(f.cells); i++ {
		if i == len(f.cells) || f.cells[i].First < f.cells[i-1].Last {
			f.runs = append(f.runs, run{from, i})
			from = i
		}
	}
}

// touching yields the numbers of the cells that may contain keys of an interval, ascending.
func (f *file) touching(sh Interval) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range f.runs {
			at := r.from + sort.Search(r.to-r.from, func(i int) bool { return f.cells[r.from+i].Last >= sh.First })
			for ; at < r.to && f.cells[at].First <= sh.Last; at++ {
				if !yield(at) {
					return
				}
			}
		}
	}
}

// OpenDir opens the directory of a job of a game. If a file does not match the seal or
// belongs to another game, the error is a *store.DamageError or a *streamfmt.FormatError.
func OpenDir(fsys store.FS, dir string, g game.Game) (*Dir, error) {
	seal, names, err := store.OpenDir(fsys, dir, g.Spec())
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: dir}
	for i, name := range names {
		f := &file{fsys: fsys, name: path.Join(dir, name), g: g}
		if seal != nil {
			f.seal = &seal.Files[i] // store.OpenDir returns the names of these
		}
		switch {
		case strings.HasPrefix(name, store.PartPrefix):
			d.parts = append(d.parts, f)
		case IsStates(name):
			d.states = append(d.states, f)
		case strings.HasPrefix(name, store.OutboxPrefix):
			if f, err = f.box(); err != nil {
				return nil, err
			}
			d.boxes = append(d.boxes, f)
		}
	}
	return d, nil
}

// box reads which stages receive messages from an outbox file.
func (f *file) box() (*file, error) {
	opened, err := f.open()
	if err != nil {
		return nil, err
	}
	return opened, opened.close()
}

// sendsTo reports whether an outbox file contains messages to a stage.
func (f *file) sendsTo(to step.Stage) bool {
	_, ok := slices.BinarySearch(f.pack.Stages, int(to))
	return ok
}

// open opens the file, and returns an open copy that the caller must close.
func (f *file) open() (*file, error) {
	o := *f
	o.isOpen = true
	if o.pack == nil {
		var err error
		o.pack, err = jobdir.OpenPacked(o.fsys, o.name, o.seal)
		return &o, err
	}
	in, err := f.fsys.Open(f.name)
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
