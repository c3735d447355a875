package step

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Split is a part of the input of a mapper of packed records: the blocks of one file with
// ranges from From up to, but not including, To, or its cells of rows with these numbers.
type Split struct {
	File     string // the path of a pack file
	From, To uint64
}

// SplitsLine returns the input of a mapper: a line with the fields of each split.
func SplitsLine(splits []Split) string {
	fields := make([]string, len(splits))
	for i, s := range splits {
		fields[i] = fmt.Sprintf("%s\t%x\t%x", s.File, s.From, s.To)
	}
	return strings.Join(fields, "\t") + "\n"
}

// parseSplit returns the split with these fields.
func parseSplit(f []string) (s Split, ok bool) {
	if len(f) != 3 || f[0] == "" {
		return s, false
	}
	from, err := strconv.ParseUint(f[1], 16, 64)
	if err != nil {
		return s, false
	}
	to, err := strconv.ParseUint(f[2], 16, 64)
	if err != nil {
		return s, false
	}
	return Split{f[0], from, to}, true
}

// EachSplit calls do for each split in the input of a mapper, with its file.
func EachSplit(in io.Reader, o Options, do func(Split, jobdir.File) error) error {
	splits, err := readSplits(in, o.Source)
	if err != nil {
		return err
	}
	names := make([]string, len(splits))
	for i, s := range splits {
		names[i] = s.File
	}
	files, err := jobdir.Find(o.FS, names...)
	for i := 0; i < len(splits) && err == nil; i++ {
		err = do(splits[i], files[i])
	}
	return err
}

// readSplits reads the splits in the input of a mapper, which is called source in errors, up to the first that is invalid. The
// lines have no maximum length, unlike those of a streamfmt.LineReader.
func readSplits(in io.Reader, source string) (splits []Split, err error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	number := int64(0) // of the line
	for line := range strings.Lines(string(text)) {
		number++
		for fields := range slices.Chunk(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), 3) {
			split, ok := parseSplit(fields)
			if !ok {
				return splits, &streamfmt.LineError{Source: source, Line: number, Want: "an input split: file, first range or cell, and the one after the last", Got: strings.Join(fields, "\t")}
			}
			splits = append(splits, split)
		}
	}
	return splits, nil
}
