package lists

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/store"
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
type Dir struct {
	fsys  store.FS
	path  string
	g     game.Game
	parts []entry
	boxes []entry
}

// An entry is a file of a directory.
type entry struct {
	name string // with its path
	seal *store.SealedFile

	// What follows is of an outbox.

	tier int                 // that is told, of a text
	list *streamfmt.ListFile // nil of a text; it cannot be read, but With a reader
}

// OpenDir opens the directory of a job of a game. What is not as its seal says, or of
// another game, is a *store.DamageError, or a *streamfmt.FormatError.
func OpenDir(fsys store.FS, dir string, g game.Game) (*Dir, error) {
	seal, names, err := store.OpenDir(fsys, dir, g.Spec())
	if err != nil {
		return nil, err
	}
	d := &Dir{fsys: fsys, path: dir, g: g}
	for _, name := range names {
		f := entry{name: path.Join(dir, name)}
		if seal != nil {
			f.seal = seal.File(name)
		}
		if strings.HasPrefix(name, store.PartPrefix) {
			d.parts = append(d.parts, f)
		} else if strings.HasPrefix(name, store.OutboxPrefix) {
			if err := d.openBox(&f); err != nil {
				return nil, err
			}
			d.boxes = append(d.boxes, f)
		}
	}
	return d, nil
}

// openBox reads to which tiers a file of an outbox tells.
func (d *Dir) openBox(f *entry) error {
	name := path.Base(f.name)
	if jobdir.IsText(name) {
		digits, _, _ := strings.Cut(strings.TrimPrefix(name, store.OutboxPrefix), "-")
		tier, err := strconv.ParseUint(digits, 10, 31)
		if last := game.LastTier(d.g); err != nil || int(tier) > last {
			return &store.DamageError{Name: f.name, Reason: fmt.Sprintf("expected a name like %s, of a tier up to %d", OutboxName(0, 12, jobdir.Text), last)}
		}
		f.tier = int(tier)
		return nil
	}
	in, list, err := d.openList(*f)
	if err != nil {
		return err
	}
	f.list = list.With(nil)
	return in.Close()
}

// tells reports whether a file of an outbox tells a tier something.
func (f *entry) tells(tier int) bool {
	if f.list == nil {
		return f.tier == tier
	}
	_, ok := f.list.Page(tier)
	return ok
}

// openList opens a packed file of the game.
func (d *Dir) openList(f entry) (in store.File, list *streamfmt.ListFile, err error) {
	if in, err = d.fsys.Open(f.name); err != nil {
		return nil, nil, err
	}
	list, err = jobdir.OpenPacked(in, f.name, f.seal, streamfmt.OpenListFile)
	if err == nil && list.Spec() != d.g.Spec() {
		err = &store.DamageError{Name: f.name, Reason: fmt.Sprintf("of another game: expected %q, found %q", d.g.Spec(), list.Spec())}
	}
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, list, nil
}

// Path is the path of the directory.
func (d *Dir) Path() string { return d.path }

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
