package lists

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// PartName is the name of part i: part-00000, or part-00000.lists if it is packed.
func PartName(i int, c jobdir.Codec) string {
	return fmt.Sprintf("%s%05d%s", store.PartPrefix, i, suffix(c))
}

// OutboxName is the name of what reducer i tells: to-00000.lists, which is of all
// tiers; as text it is a file for each tier that is told to, to-00012-00000.
func OutboxName(i, tier int, c jobdir.Codec) string {
	if c == jobdir.Text {
		return fmt.Sprintf("%s%05d-%05d", store.OutboxPrefix, tier, i)
	}
	return fmt.Sprintf("%s%05d%s", store.OutboxPrefix, i, suffix(c))
}

// ToldGlob is the pattern of the names of the files of text that tell a tier something:
// of each reducer that does, one.
func ToldGlob(tier int) string { return fmt.Sprintf("%s%05d-*", store.OutboxPrefix, tier) }

func suffix(c jobdir.Codec) string {
	if c == jobdir.Text {
		return ""
	}
	return jobdir.ListsSuffix
}

// A Dir is the directory of a job, held to its seal. It keeps some 48 bytes for each
// tier to which a packed outbox of it tells.
type Dir struct{ parts, boxes []*file }

// A file is one of rows of a game: of a directory, or of the table.
type file struct {
	fsys store.FS
	name string // with its path
	seal *store.SealedFile
	g    game.Game

	in    store.File          // nil while it is not open
	list  *streamfmt.ListFile // nil of a text, and before it is opened first
	tier  int                 // that is told, of a text of an outbox
	cells []streamfmt.Cell    // that a Source reads
}

// OpenDir opens the directory of a job of a game. What is not as its seal says, or of
// another game, is a *store.DamageError, or a *streamfmt.FormatError.
func OpenDir(fsys store.FS, dir string, g game.Game) (*Dir, error) {
	seal, names, err := store.OpenDir(fsys, dir, g.Spec())
	if err != nil {
		return nil, err
	}
	d := new(Dir)
	for _, name := range names {
		f := &file{fsys: fsys, name: path.Join(dir, name), g: g}
		if seal != nil {
			f.seal = seal.File(name)
		}
		if strings.HasPrefix(name, store.PartPrefix) {
			d.parts = append(d.parts, f)
		} else if strings.HasPrefix(name, store.OutboxPrefix) {
			if f, err = f.box(); err != nil {
				return nil, err
			}
			d.boxes = append(d.boxes, f)
		}
	}
	return d, nil
}

// box reads to which tiers a file of an outbox tells.
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

func (f *file) isText() bool { return jobdir.IsText(f.name) }

func (f *file) width() int { return streamfmt.KeyWidth(f.g.KeyBits()) }

// tells reports whether a file of an outbox tells a tier something.
func (f *file) tells(tier int) bool {
	if f.isText() {
		return f.tier == tier
	}
	_, ok := f.list.Page(tier)
	return ok
}

// open is the same file, open for its caller.
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

// close closes the file, which then holds nothing but what it says of itself.
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

// with calls do with the file, and opens it if it is not open.
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

// Tells is the tiers to which the outboxes of the directory tell something, ascending.
func (d *Dir) Tells() []int {
	var tiers []int
	for _, b := range d.boxes {
		if b.list == nil {
			tiers = append(tiers, b.tier)
			continue
		}
		for _, p := range b.list.Pages() {
			tiers = append(tiers, p.Tier)
		}
	}
	slices.Sort(tiers)
	return slices.Compact(tiers)
}

// TextTo are the files of text that tell a tier something, with their paths; all is
// whether no file that is packed may do so too.
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
