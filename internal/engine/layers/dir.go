package layers

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// statesPrefix is the prefix of the names of files of states, which no map reads.
const statesPrefix = "_states-"

// StatesName returns the name of the file of states beside shard i: _states-00000.pack. It is packed, even if
// the shard is text.
func StatesName(i int) string {
	return jobdir.FileName(statesPrefix, i, jobdir.Packed)
}

// IsStates reports whether a file of a directory has states.
func IsStates(name string) bool { return strings.HasPrefix(name, statesPrefix) }

// OutboxName returns the name of the file of messages that reducer i sends to other stages:
// to-00000.pack, which contains those to all stages. Text has one file for each receiving
// stage, such as to-00012-00000 for tier 12, or to-00012.3-00000 for pass 3 over it.
func OutboxName(i int, to Stage, c jobdir.Codec) string {
	if c == jobdir.Text {
		return fmt.Sprintf("%s%05d%s-%05d", store.OutboxPrefix, to.Tier(), to.Suffix(), i)
	}
	return jobdir.FileName(store.OutboxPrefix, i, c)
}

// OutboxGlob returns a pattern that matches the text files of messages to a stage, one from
// each reducer that sends any.
func OutboxGlob(to Stage) string {
	return fmt.Sprintf("%s%05d%s-*", store.OutboxPrefix, to.Tier(), to.Suffix())
}

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

	in       store.File       // nil if not open
	pack     *streamfmt.File  // nil for text, and before the file is first opened
	receiver Stage            // for a text file of an outbox
	cells    []streamfmt.Cell // for a Source
	runs     []run            // of cells
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
	if !f.isText() {
		opened, err := f.open()
		if err != nil {
			return nil, err
		}
		return opened, opened.close()
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(path.Base(f.name), store.OutboxPrefix), "-")
	var ok bool
	if f.receiver, ok = ParseStage(text, game.LastTier(f.g)); !ok {
		return nil, &store.DamageError{Name: f.name, Reason: fmt.Sprintf("expected a name like %s, of a tier up to %d", OutboxName(0, 12, jobdir.Text), game.LastTier(f.g))}
	}
	return f, nil
}

func (f *file) isText() bool { return jobdir.ReadsText && jobdir.IsText(f.name) }

func (f *file) width() int { return streamfmt.KeyWidth(f.g.KeyBits()) }

// sendsTo reports whether an outbox file contains messages to a stage.
func (f *file) sendsTo(to Stage) bool {
	if f.isText() {
		return f.receiver == to
	}
	_, ok := slices.BinarySearch(f.pack.Stages, int(to))
	return ok
}

// open opens the file, and returns an open copy that the caller must close.
func (f *file) open() (*file, error) {
	o := *f
	var err error
	if o.in, err = f.fsys.Open(f.name); err != nil {
		return nil, err
	}
	switch {
	case o.isText():
	case o.pack != nil:
		o.pack = o.pack.With(o.in)
	default:
		o.pack, err = jobdir.OpenPacked(o.in, o.name, o.seal)
		if err != nil {
			return nil, errors.Join(err, o.in.Close())
		}
	}
	return &o, nil
}

// close closes the file. Its metadata stays in memory.
func (f *file) close() error {
	in := f.in
	if in == nil {
		return nil
	}
	if f.in = nil; f.pack != nil {
		f.pack = f.pack.With(nil)
	}
	return in.Close()
}

// with calls do with the file, and opens it for the call if it is not open.
func (f *file) with(do func(f *file) error) error {
	if f.in != nil {
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
		if b.pack != nil {
			stages = append(stages, b.pack.Stages...)
		} else {
			stages = append(stages, int(b.receiver))
		}
	}
	slices.Sort(stages)
	return slices.Compact(stages)
}

// Rows returns the number of rows that the directory has for a stage.
func (d *Dir) Rows(to Stage) (n int64) {
	for _, b := range d.boxes {
		switch {
		case b.pack != nil:
			n += int64(b.pack.StageRecords(int(to)))
		case b.receiver == to && b.seal != nil:
			n += int64(b.seal.Records)
		}
	}
	return n
}

// TextTo returns the paths of the text files of messages to a stage. all reports whether
// these are complete, because no outbox file of the directory is packed.
func (d *Dir) TextTo(to Stage) (files []string, all bool) {
	all = true
	for _, b := range d.boxes {
		switch {
		case b.pack != nil:
			all = false
		case b.receiver == to:
			files = append(files, b.name)
		}
	}
	return files, all
}
