package layers

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// PartName returns the name of shard i: part-00000, or part-00000.lists if it is packed.
func PartName(i int, c jobdir.Codec) string {
	return jobdir.FileName(store.PartPrefix, i, c, jobdir.ListsSuffix)
}

// answersPrefix is the prefix of the names of files of answers, which no step reads.
const answersPrefix = "_answers-"

// AnswersName returns the name of the file of answers beside shard i: _answers-00000.lists. It is packed, even if
// the shard is text.
func AnswersName(i int) string {
	return jobdir.FileName(answersPrefix, i, jobdir.Packed, jobdir.ListsSuffix)
}

// OutboxName returns the name of the file of messages that reducer i sends to other tiers:
// to-00000.lists, which contains those to all tiers. Text has one file for each receiving
// tier, such as to-00012-00000 for tier 12.
func OutboxName(i, tier int, c jobdir.Codec) string {
	if c == jobdir.Text {
		return fmt.Sprintf("%s%05d-%05d", store.OutboxPrefix, tier, i)
	}
	return jobdir.FileName(store.OutboxPrefix, i, c, jobdir.ListsSuffix)
}

// OutboxGlob returns a pattern that matches the text files of messages to a tier, one from
// each reducer that sends any.
func OutboxGlob(tier int) string { return fmt.Sprintf("%s%05d-*", store.OutboxPrefix, tier) }

// A Dir is the directory of a job, verified against its seal. Each packed outbox file takes
// some 48 bytes of memory for each tier that receives messages from it.
type Dir struct {
	Path                  string
	parts, boxes, answers []*file
}

// A file is a file of rows of a game, from a directory or from the table.
type file struct {
	fsys store.FS
	name string // including its path
	seal *store.SealedFile
	g    game.Game

	in    store.File          // nil if not open
	list  *streamfmt.ListFile // nil for text, and before the file is first opened
	tier  int                 // the receiving tier, for a text file of an outbox
	cells []streamfmt.Cell    // for a Source
	runs  []run               // of cells
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
		case strings.HasPrefix(name, answersPrefix):
			d.answers = append(d.answers, f)
		case strings.HasPrefix(name, store.OutboxPrefix):
			if f, err = f.box(); err != nil {
				return nil, err
			}
			d.boxes = append(d.boxes, f)
		}
	}
	return d, nil
}

// box reads which tiers receive messages from an outbox file.
func (f *file) box() (*file, error) {
	if !f.isText() {
		opened, err := f.open()
		if err != nil {
			return nil, err
		}
		return opened, opened.close()
	}
	digits, _, _ := strings.Cut(strings.TrimPrefix(path.Base(f.name), store.OutboxPrefix), "-")
	tier, err := strconv.ParseUint(digits, 10, 31)
	if last := game.LastTier(f.g); err != nil || int(tier) > last {
		return nil, &store.DamageError{Name: f.name, Reason: fmt.Sprintf("expected a name like %s, of a tier up to %d", OutboxName(0, 12, jobdir.Text), last)}
	}
	f.tier = int(tier)
	return f, nil
}

func (f *file) isText() bool { return jobdir.ReadsText && jobdir.IsText(f.name) }

func (f *file) width() int { return streamfmt.KeyWidth(f.g.KeyBits()) }

// sendsTo reports whether an outbox file contains messages to a tier.
func (f *file) sendsTo(tier int) bool {
	if f.isText() {
		return f.tier == tier
	}
	_, ok := slices.BinarySearch(f.list.Tiers(), tier)
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
	case o.list != nil:
		o.list = o.list.With(o.in)
	default:
		o.list, err = jobdir.OpenPacked(o.in, o.name, o.seal, streamfmt.OpenListFile)
		if err == nil && o.list.Spec() != o.g.Spec() {
			err = store.OtherGame(o.name, o.g.Spec(), o.list.Spec())
		}
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
	if f.in = nil; f.list != nil {
		f.list = f.list.With(nil)
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

// Receivers returns the tiers that receive messages from the directory, ascending.
func (d *Dir) Receivers() []int {
	var tiers []int
	for _, b := range d.boxes {
		if b.list != nil {
			tiers = append(tiers, b.list.Tiers()...)
		} else {
			tiers = append(tiers, b.tier)
		}
	}
	slices.Sort(tiers)
	return slices.Compact(tiers)
}

// TextTo returns the paths of the text files of messages to a tier. all reports whether
// these are complete, because no outbox file of the directory is packed.
func (d *Dir) TextTo(tier int) (files []string, all bool) {
	all = true
	for _, b := range d.boxes {
		switch {
		case b.list != nil:
			all = false
		case b.tier == tier:
			files = append(files, b.name)
		}
	}
	return files, all
}
