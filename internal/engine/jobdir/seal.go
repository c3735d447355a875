package jobdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// Seals finds the seals of files. It caches the seal of the last directory. It must be used by one
// goroutine.
type Seals struct {
	dir   string
	files map[string]*store.SealedFile // by name; nil: the directory has no seal
}

// Of returns the entry of a file in the seal of its directory. It is nil if the directory
// has no seal, because another program made it or it is incomplete.
func (s *Seals) Of(fsys store.FS, name string) (*store.SealedFile, error) {
	if dir := path.Dir(name); dir != s.dir {
		seal, err := store.ReadSeal(fsys, dir)
		if err != nil && !errors.Is(err, store.ErrIncomplete) {
			return nil, err
		}
		s.cache(dir, seal)
	}
	if s.files == nil {
		return nil, nil
	}
	f := s.files[path.Base(name)]
	if f == nil {
		return nil, &store.DamageError{Name: name, Reason: "does not belong there: " + store.Success + " does not name it"}
	}
	return f, nil
}

// cache caches the seal of a directory; nil: it has none.
func (s *Seals) cache(dir string, seal *store.Seal) {
	if s.dir, s.files = dir, nil; seal == nil {
		return
	}
	s.files = make(map[string]*store.SealedFile, len(seal.Files))
	for i := range seal.Files {
		s.files[seal.Files[i].Name] = &seal.Files[i]
	}
}

// Sealed is Of, but computes the entry if the directory has no seal.
func (s *Seals) Sealed(fsys store.FS, name string) (*store.SealedFile, error) {
	f, err := s.Of(fsys, name)
	if f != nil || err != nil {
		return f, err
	}
	made, err := Seal(fsys, name)
	return &made, err
}

// ReadSealed reads a small file, and verifies it against the seal of its directory.
func ReadSealed(fsys store.FS, name string) ([]byte, error) {
	seal, err := new(Seals).Of(fsys, name)
	if err != nil {
		return nil, err
	}
	text, err := store.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var read store.SealedFile
	read.Write(text)
	return text, seal.Verify(name, read.Length, read.Sum)
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

// A SumFS is a file system that computes the seals of files of lines while they
// are written, and can keep those of a tier that was read, so that they need not be read again. It is
// safe for concurrent use.
type SumFS struct {
	store.FS
	seals sync.Map // path → store.SealedFile
}

// Create creates or replaces a file.
func (f *SumFS) Create(name string) (io.WriteCloser, error) {
	out, err := f.FS.Create(name)
	base := path.Base(name)
	if err == nil && store.IsLines(base) {
		out = &summed{WriteCloser: out, fs: f, path: name, seal: store.SealedFile{Name: base}}
	}
	return out, err
}

// Rename renames a file, and keeps its computed seal.
func (f *SumFS) Rename(from, to string) error {
	if err := f.FS.Rename(from, to); err != nil {
		return err
	}
	if v, ok := f.seals.LoadAndDelete(from); ok {
		seal := v.(store.SealedFile)
		seal.Name = path.Base(to)
		f.seals.Store(to, seal)
	}
	return nil
}

// Know keeps the seal of a pack file for Seal, if fsys is a SumFS. The file must be complete. If another file replaces it
// later, its readers find that it does not match its seal.
func Know(fsys store.FS, file *streamfmt.File) {
	if f, ok := fsys.(*SumFS); ok {
		f.seals.Store(file.Name, sealOf(file.Name, file))
	}
}

// summed is a text file that is being written.
type summed struct {
	io.WriteCloser
	fs   *SumFS
	path string
	seal store.SealedFile
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.WriteCloser.Write(b)
	s.seal.Write(b[:n])
	return n, err
}

func (s *summed) Close() error {
	err := s.WriteCloser.Close()
	if err == nil {
		s.fs.seals.Store(s.path, s.seal)
	}
	return err
}

// Seal computes the seal of a file. A packed file is not read completely. A text file is. If fsys is a SumFS
// that knows the seal, Seal only compares the length.
func Seal(fsys store.FS, name string) (store.SealedFile, error) {
	return seal(fsys, name, func() (fs.FileInfo, error) { return fsys.Stat(name) })
}

// seal is Seal; stat describes the file.
func seal(fsys store.FS, name string, stat func() (fs.FileInfo, error)) (s store.SealedFile, err error) {
	if sums, isSum := fsys.(*SumFS); isSum {
		if v, ok := sums.seals.Load(name); ok {
			known := v.(store.SealedFile)
			if info, err := stat(); err != nil || info.Size() == known.Length {
				return known, err
			}
		}
	}
	if !IsText(name) {
		f, err := OpenPacked(fsys, name, nil)
		if err != nil {
			return s, err
		}
		defer f.Close()
		return sealOf(name, f), nil
	}
	in, err := fsys.Open(name)
	if err != nil {
		return s, err
	}
	defer in.Close()
	s.Name = path.Base(name)
	if _, err = io.CopyBuffer(&s, struct{ io.Reader }{in}, make([]byte, 256<<10)); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return s, err
}

// sealOf returns the seal of an open packed file.
func sealOf(name string, f *streamfmt.File) store.SealedFile {
	s := store.SealedFile{Name: path.Base(name), Length: f.Size, Records: f.Records(), Sum: f.Sum}
	if f.Model != nil {
		s.Content = fmt.Sprintf("%016x", f.Content)
	}
	return s
}

// SealAll computes the seals of all files of a directory, except an old seal.
func SealAll(fsys store.FS, dir string) (files []store.SealedFile, err error) {
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() || e.Name() == store.Success {
			continue
		}
		f, err := seal(fsys, path.Join(dir, e.Name()), e.Info)
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
	in, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(io.Discard, seal.Reader(in, name))
	return err
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
