package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"syscall"
)

// A DamageError reports a file or a directory that is not what was written.
type DamageError struct {
	Name   string
	Reason string
}

func (e *DamageError) Error() string { return e.Name + ": " + e.Reason }

// OtherGame returns the error for a file or directory of another game than expected.
func OtherGame(name, expected, found string) error {
	return &DamageError{name, fmt.Sprintf("of another game: expected %q, found %q", expected, found)}
}

// Damaged reports whether an error means that a file or a directory is missing or is not what
// was written. Other errors, e.g. that a cluster does not respond, imply nothing about the
// files.
func Damaged(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrIncomplete) || errors.Is(err, ErrNotRegular) ||
		errors.Is(err, syscall.ENOTDIR)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalSummed returns the JSON of v, an object, with the CRC-32C of all preceding bytes in
// the last line, so that every changed bit is detected.
func MarshalSummed(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n}"))
	return append(text, lastLine(text)...), nil
}

// lastLine returns the last line for a text.
func lastLine(text []byte) string {
	return fmt.Sprintf(",\n \"sum\": \"%08x\"\n}\n", crc32.Checksum(text, castagnoli))
}

// UnmarshalSummed parses the output of MarshalSummed into v. The name is for errors. Any other
// text is a *DamageError.
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

// ReadSummed reads a file of MarshalSummed into v.
func ReadSummed(fsys FS, name string, v any) error {
	text, err := ReadFile(fsys, name)
	if err != nil {
		return err
	}
	return UnmarshalSummed(name, text, v)
}

// maxMetadata is the maximum size of a metadata file, in bytes. A seal has some 130 for each file of a directory, with at
// most 100,000 reducers; others are smaller.
const maxMetadata = 1 << 28

// ReadFile reads a metadata file. A file larger than the maximum is a *DamageError and is not
// read: it might not fit into memory.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxMetadata {
		return nil, &DamageError{name, fmt.Sprintf("damaged: %d bytes, at most %d are possible", info.Size(), maxMetadata)}
	}
	return io.ReadAll(io.LimitReader(f, maxMetadata))
}
