package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
)

// A Seal is the content of the _SUCCESS file: the list of files of a directory. The checksums
// of the files depend on every bit of them, so the seal identifies the complete content.
type Seal struct {
	Game  string       `json:"game"` // the game's spec
	Job   string       `json:"job"`  // the name of the directory
	Files []SealedFile `json:"files"`

	// Deleted lists files that Drop has deleted, or was about to: they may still exist. Receivers
	// lists the stages that their messages were for.
	Deleted   []string `json:"deleted,omitempty"`
	Receivers []int    `json:"receivers,omitempty"`
	// Passes says what the pass and those before it have done, see package solve.
	Passes json.RawMessage `json:"passes,omitempty"`
}

// A SealedFile is the entry of a file in a seal.
type SealedFile struct {
	Name    string `json:"name"`
	Length  int64  `json:"length"`
	Records uint64 `json:"records"`
	// Sum is the CRC-32C of all bytes. For a pack file it covers only the
	// head, directory, summary and tail, from which the checksums of everything else are
	// verified; see package streamfmt.
	Sum uint32 `json:"crc32c"`
	// Content is the checksum of the content of a compact pack file, in hexadecimal; see streamfmt.File.Content.
	Content string `json:"content,omitempty"`
}

// Records returns the number of records in the shards of the directory.
func (s *Seal) Records() (n uint64) {
	for _, f := range s.Files {
		if strings.HasPrefix(f.Name, PartPrefix) || strings.HasPrefix(f.Name, FinalPrefix) {
			n += f.Records
		}
	}
	return n
}

// File returns the entry of a file; nil: the seal does not list it.
func (s *Seal) File(name string) *SealedFile {
	if i := slices.IndexFunc(s.Files, func(f SealedFile) bool { return f.Name == name }); i >= 0 {
		return &s.Files[i]
	}
	return nil
}

// Write seals a directory. It syncs the files, then the seal, then the directory.
func (s *Seal) Write(fsys FS, dir string) error {
	if err := s.Sync(fsys, dir); err != nil {
		return err
	}
	return s.Replace(fsys, dir, Success)
}

// Sync syncs the files that the seal lists.
func (s *Seal) Sync(fsys FS, dir string) error {
	for _, f := range s.Files {
		if err := fsys.Sync(path.Join(dir, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// Sort sorts the files by name.
func (s *Seal) Sort() {
	sort.Slice(s.Files, func(i, j int) bool { return s.Files[i].Name < s.Files[j].Name })
}

// Replace replaces the file name, a seal of the directory, atomically. It syncs the seal and
// the directory, but not the files: they were synced when they were written, or by Sync.
func (s *Seal) Replace(fsys FS, dir, name string) error {
	text, err := MarshalSummed(s)
	if err != nil {
		return err
	}
	if err := replace(fsys, path.Join(dir, name), text, fsys.Sync); err != nil {
		return err
	}
	return fsys.Sync(dir)
}

// Drop deletes the files of a sealed directory that goes selects. It first removes them from
// the list of files in the seal, on disk and in memory.
func (s *Seal) Drop(fsys FS, dir string, goes func(name string) bool) error {
	kept := *s
	kept.Files, kept.Deleted = nil, slices.Clone(s.Deleted)
	for _, f := range s.Files {
		if goes(f.Name) {
			kept.Deleted = append(kept.Deleted, f.Name)
		} else {
			kept.Files = append(kept.Files, f)
		}
	}
	if err := kept.Replace(fsys, dir, Success); err != nil {
		return err
	}
	*s = kept
	var err error
	for _, name := range kept.Deleted {
		err = errors.Join(err, fsys.RemoveAll(path.Join(dir, name)))
	}
	return err
}

// ErrIncomplete means that a directory has no _SUCCESS.
var ErrIncomplete = errors.New("missing or incomplete: it has no " + Success)

// ReadSeal reads the seal of a directory, and returns ErrIncomplete if there is none. It returns nil
// for a directory that another program made: the _SUCCESS of Hadoop itself is empty.
func ReadSeal(fsys FS, dir string) (*Seal, error) {
	name := path.Join(dir, Success)
	text, err := ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrIncomplete)
	}
	if err != nil || len(text) == 0 {
		return nil, err
	}
	s := new(Seal)
	return s, UnmarshalSummed(name, text, s)
}

// OpenDir reads the seal of a directory, and verifies the directory's name, its game unless
// game is "", and which files exist, with which lengths. It does not verify the content of the
// files; their readers do. For a directory with an empty seal, it returns the names of all
// files.
func OpenDir(fsys FS, dir, game string) (s *Seal, names []string, err error) {
	if s, err = ReadSeal(fsys, dir); err != nil {
		return nil, nil, err
	}
	if s != nil && game != "" && s.Game != game {
		return nil, nil, OtherGame(dir, game, s.Game)
	}
	if s != nil && s.Job != path.Base(dir) {
		return nil, nil, &DamageError{dir, fmt.Sprintf("it is %s, under another name", s.Job)}
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	if s == nil {
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return nil, names, nil
	}
	lengths := make(map[string]int64) // by name; those of the files that the seal names are deleted below
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, nil, err
		}
		lengths[e.Name()] = info.Size()
		if !info.Mode().IsRegular() {
			lengths[e.Name()] = -1
		}
	}
	for _, f := range s.Files {
		if reason := f.fault(lengths); reason != "" {
			return nil, nil, &DamageError{path.Join(dir, f.Name), reason}
		}
		names = append(names, f.Name)
		delete(lengths, f.Name)
	}
	for _, name := range s.Deleted {
		delete(lengths, name)
	}
	for _, e := range entries {
		if _, unlisted := lengths[e.Name()]; unlisted && OwnFile(e.Name()) && !strings.HasPrefix(e.Name(), "_") {
			return nil, nil, &DamageError{path.Join(dir, e.Name()), "does not belong there: " + Success + " does not name it"}
		}
	}
	return s, names, nil
}

// fault returns what is wrong with a file, "" if nothing. lengths has the lengths of all files that
// exist, by name; -1 if one is not a file.
func (f *SealedFile) fault(lengths map[string]int64) string {
	switch length, ok := lengths[f.Name]; {
	case !ok:
		return "missing"
	case length < 0:
		return "not a file"
	case length < f.Length:
		return fmt.Sprintf("cut short: %d of %d bytes", length, f.Length)
	case length > f.Length:
		return fmt.Sprintf("damaged: %d bytes, expected %d", length, f.Length)
	}
	return ""
}

// Verify verifies the length and the checksum of a file. The name is for errors. A nil entry
// matches anything.
func (f *SealedFile) Verify(name string, length int64, sum uint32) error {
	switch {
	case f == nil:
	case f.Length != length:
		return &DamageError{name, fmt.Sprintf("damaged: %d bytes, but %s lists %d", length, Success, f.Length)}
	case f.Sum != sum:
		return &DamageError{name, fmt.Sprintf("damaged: its checksum is %08x, but %s lists %08x", sum, Success, f.Sum)}
	}
	return nil
}

// Write counts the next bytes of a text of lines; it never fails.
func (f *SealedFile) Write(text []byte) (int, error) {
	f.Length += int64(len(text))
	f.Sum = crc32.Update(f.Sum, castagnoli, text)
	f.Records += uint64(bytes.Count(text, []byte{'\n'}))
	return len(text), nil
}
