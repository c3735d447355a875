package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"syscall"
)

// A DamageError is a file or a directory that is not what was written.
type DamageError struct {
	Name   string
	Reason string
}

func (e *DamageError) Error() string { return e.Name + ": " + e.Reason }

// OtherGame is the error of what is of another game than expected.
func OtherGame(name, expected, found string) error {
	return &DamageError{name, fmt.Sprintf("of another game: expected %q, found %q", expected, found)}
}

// Damaged reports whether an error says that a file or a directory is not there, or
// is not what was written; of any other, as that a cluster does not answer, nothing
// follows for what lies there.
func Damaged(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrHalf) || errors.Is(err, ErrNotRegular) ||
		errors.Is(err, syscall.ENOTDIR)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalSummed is the JSON of v, an object, whose last line has the CRC-32C of all
// before it, so that no bit of it can change unseen.
func MarshalSummed(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n}"))
	return append(text, lastLine(text)...), nil
}

// lastLine is how a text ends that begins so.
func lastLine(text []byte) string {
	return fmt.Sprintf(",\n \"sum\": \"%08x\"\n}\n", crc32.Checksum(text, castagnoli))
}

// UnmarshalSummed reads what MarshalSummed made into v; name is what the text is
// called in errors. What is not exactly that is a *DamageError.
func UnmarshalSummed(name string, text []byte, v any) error {
	if len(text) == 0 {
		return &DamageError{name, "damaged: it is empty"}
	}
	end := len(text) - len(lastLine(nil))
	if end < 0 || string(text[end:]) != lastLine(text[:end]) {
		return &DamageError{name, "damaged: its checksum is wrong or missing"}
	}
	text = append(bytes.Clone(text[:end]), "\n}"...)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		err = errors.New("something after its end")
	}
	line := 1 + bytes.Count(text[:min(d.InputOffset(), int64(len(text)))], []byte{'\n'})
	return &DamageError{name, fmt.Sprintf("line %d: not what treereduce writes: %v", line, err)}
}

// The most bytes that a file of metadata can have. A manifest has a game and a few options;
// a journal some 400 bytes for each job, of which there are two a tier; a seal some 130 for
// each file of a directory, with at most 100,000 reducers.
const (
	maxManifest = 1 << 20
	maxJournal  = 1 << 26
	maxSeal     = 1 << 28
)

// ReadFile reads a file of metadata whole. One that is larger than it can be is a
// *DamageError, and not read: it might not fit into memory.
func ReadFile(fsys FS, name string) ([]byte, error) {
	most := int64(maxSeal)
	switch path.Base(name) {
	case ManifestFile:
		most = maxManifest
	case JournalFile:
		most = maxJournal
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, &DamageError{name, fmt.Sprintf("damaged: %d bytes, at most %d are possible", info.Size(), most)}
	}
	return io.ReadAll(io.LimitReader(f, most))
}
