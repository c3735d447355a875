package copies

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A state has the files of a data directory, or of its copy, by their names.
type state map[string]file

// A file is what files are compared by.
type file struct {
	length int64
	text   string // the content of a small file, otherwise the checksum that a seal lists for this length; "" if there is none
}

// isSmall reports whether a file is the manifest, the journal or a seal.
func isSmall(name string) bool { return name == top(name) || slices.Contains(seals(top(name)), name) }

// seals returns the names that the seal of a directory may have.
func seals(dir string) []string {
	return []string{path.Join(dir, store.Success), path.Join(dir, solve.TiersSeal)}
}

// addSums sets the text of files that are listed in the seals of their directories.
func (s state) addSums() {
	for _, dir := range s.tops() {
		for _, name := range seals(dir) {
			seal := new(store.Seal)
			if store.UnmarshalSummed(name, []byte(s[name].text), seal) != nil {
				continue
			}
			for _, f := range seal.Files {
				name := path.Join(dir, f.Name)
				if old, ok := s[name]; ok && old.length == f.Length {
					s[name] = file{f.Length, fmt.Sprintf("%08x", f.Sum)}
				}
			}
			break
		}
	}
}

// tops returns the first elements of all names.
func (s state) tops() (names []string) {
	for name := range s {
		names = append(names, top(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// differing returns the names that wanted selects of what s has and other has not, or differs there.
func (s state) differing(other state, wanted func(name string) bool) (names []string) {
	for name, f := range s {
		if f != other[name] && wanted(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// without returns what s has and other has not: directories, and files in directories of which other has files.
func (s state) without(other state) (names []string) {
	tops := other.tops()
	for name := range s {
		if _, ok := other[name]; ok {
			continue
		}
		if !slices.Contains(tops, top(name)) {
			name = top(name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// scan returns the state of the data directory, without files that no seal lists. It reads the journal first, so that
// the journal lists no job that was committed after the rest was read.
func (c *Copy) scan() (state, error) {
	here := make(state)
	if err := c.read(store.JournalFile, here); err != nil {
		return nil, err
	}
	if err := c.scanDir("", here); err != nil {
		return nil, err
	}
	here.addSums()
	maps.DeleteFunc(here, func(_ string, f file) bool { return f.text == "" })
	return here, nil
}

// read adds a small file of the data directory to a state, if it exists.
func (c *Copy) read(name string, here state) error {
	text, err := store.ReadFile(c.fsys, path.Join(c.data, name))
	if err == nil {
		here[name] = file{int64(len(text)), string(text)}
	} else if store.Damaged(err) {
		return nil
	}
	return err
}

// scanDir adds the files of a directory in the data directory to a state, except the journal; "" is the data directory itself.
func (c *Copy) scanDir(dir string, here state) error {
	entries, err := c.fsys.ReadDir(path.Join(c.data, dir))
	for _, e := range entries {
		if err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		switch {
		case !belongs(top(name)) || name == store.JournalFile:
		case e.IsDir():
			err = c.scanDir(name, here)
		case isSmall(name):
			err = c.read(name, here)
		default:
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				here[name] = file{length: info.Size()}
			}
		}
	}
	return err
}

// list sets there, and returns the lengths of all files of the copy.
func (c *Copy) list() (lengths map[string]int64, err error) {
	if lengths, err = c.place.List(c.ctx); err != nil {
		return nil, err
	}
	there := make(state)
	var small []string
	for name, length := range lengths {
		if !belongs(top(name)) {
			continue
		}
		if there[name] = (file{length: length}); isSmall(name) {
			small = append(small, name)
		}
	}
	if len(small) > 0 {
		text, err := c.place.Read(c.ctx, small)
		if err != nil {
			return nil, err
		}
		for _, name := range small {
			n := lengths[name]
			if n > int64(len(text)) {
				return nil, fmt.Errorf("%s has changed while it was read: does another run keep its copy there?", name)
			}
			there[name], text = file{n, string(text[:n])}, text[n:]
		}
	}
	there.addSums()
	c.there = there
	return lengths, nil
}
