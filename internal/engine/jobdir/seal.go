package jobdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A File is a file with its entry in the seal of its directory.
type File struct {
	Name string            // including its path
	Seal *store.SealedFile // nil: the directory has no seal, because another program made it or it is incomplete
}

// Find returns files with these names. It reads the seal of a directory once for consecutive names in it.
func Find(fsys store.FS, names ...string) (files []File, err error) {
	var seal *store.Seal
	for i, name := range names {
		if i == 0 || path.Dir(name) != path.Dir(names[i-1]) {
			if seal, err = store.ReadSeal(fsys, path.Dir(name)); err != nil && !errors.Is(err, store.ErrIncomplete) {
				return nil, err
			}
		}
		f := File{Name: name}
		if seal != nil {
			f.Seal = seal.File(path.Base(name))
		}
		if seal != nil && f.Seal == nil {
			return nil, &store.DamageError{Name: name, Reason: "does not belong there: " + store.Success + " does not name it"}
		}
		files = append(files, f)
	}
	return files, nil
}

// OpenPacked opens a pack file, and checks its length and checksum against its seal. It does not read the complete file.
func OpenPacked(fsys store.FS, name string, seal *store.SealedFile) (f *streamfmt.File, err error) {
	in, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err == nil {
		f, err = streamfmt.OpenFile(in, info.Size(), name)
	}
	if err == nil {
		err = seal.Verify(name, f.Size, f.Sum)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return f, nil
}

// Expect checks that a pack file belongs to a game and has one of some kinds, and that all its cells are of a stage, unless
// that is negative.
func Expect(f *streamfmt.File, g game.Game, stage int, kinds ...streamfmt.CellKind) error {
	if f.Spec != g.Spec() {
		return store.OtherGame(f.Name, g.Spec(), f.Spec)
	}
	if !slices.Contains(kinds, f.Kind) {
		return &store.DamageError{Name: f.Name, Reason: fmt.Sprintf("it has %s, expected %s", f.Kind, kinds[0])}
	}
	for _, found := range f.Stages {
		if found != stage && stage >= 0 {
			return &store.DamageError{Name: f.Name, Reason: fmt.Sprintf("of tier %d, expected tier %d", found, stage)}
		}
	}
	return nil
}

// Seal computes the seal of a file. A packed file is not read completely. A text file is.
func Seal(fsys store.FS, name string) (s store.SealedFile, err error) {
	s.Name = path.Base(name)
	if !IsText(name) {
		f, err := OpenPacked(fsys, name, nil)
		if err != nil {
			return s, err
		}
		defer f.Close()
		s.Length, s.Records, s.Sum = f.Size, f.Records(), f.Sum
		if f.Model != nil {
			s.Content = fmt.Sprintf("%016x", f.Content)
		}
		return s, nil
	}
	in, err := fsys.Open(name)
	if err != nil {
		return s, err
	}
	defer in.Close()
	if _, err = io.CopyBuffer(&s, struct{ io.Reader }{in}, make([]byte, 256<<10)); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return s, err
}

// SealAll computes the seals of all files of a directory, except an old seal.
func SealAll(fsys store.FS, dir string) (files []store.SealedFile, err error) {
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() || e.Name() == store.Success {
			continue
		}
		f, err := Seal(fsys, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, err
}

// CheckFile reads a file completely, and verifies it against its seal if it has one.
func CheckFile(fsys store.FS, name string, seal *store.SealedFile) error {
	if !IsText(name) {
		f, err := OpenPacked(fsys, name, seal)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Check()
	}
	found, err := Seal(fsys, name)
	if err != nil {
		return err
	}
	return seal.Verify(name, found.Length, found.Sum)
}

// Check reads a directory of a game completely, and verifies it against its seal, which
// must exist.
func Check(ctx context.Context, fsys store.FS, dir, game string) (*store.Seal, error) {
	seal, _, err := store.OpenDir(fsys, dir, game)
	if err != nil {
		return nil, err
	}
	if seal == nil {
		return nil, &store.DamageError{Name: dir, Reason: "its " + store.Success + " is empty: another program made it"}
	}
	for i := range seal.Files {
		f := &seal.Files[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := CheckFile(fsys, path.Join(dir, f.Name), f); err != nil {
			return nil, err
		}
	}
	return seal, nil
}

// Damaged reports whether an error is that of damaged data: store.Damaged, or the format
// error of a packed file.
func Damaged(err error) bool {
	var format *streamfmt.FormatError
	return store.Damaged(err) || errors.As(err, &format)
}
