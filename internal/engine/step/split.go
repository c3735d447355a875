package step

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/streamfmt"
)

// A Split is a part of the input of a mapper of packed records: the blocks of one file with
// ranges from From up to, but not including, To, or its cells of rows with these numbers.
type Split struct {
	File     string // the path of a pack file
	From, To uint64
}

// String returns the split as a line of a job's input, without the newline.
func (s Split) String() string { return fmt.Sprintf("%s\t%x\t%x", s.File, s.From, s.To) }

// ParseSplit is the inverse of String.
func ParseSplit(line string) (s Split, ok bool) {
	f := strings.Split(line, "\t")
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

// SplitsName returns the name of the input of a mapper whose splits are the bytes from from up
// to, but not including, to of the file of splits in the directory plan. It ends with that name,
// because Hadoop ignores files whose names begin with an underscore.
func SplitsName(plan string, from, to int) string { return fmt.Sprintf("%d-%d-%s", from, to, plan) }

// ParseSplitsName is the inverse of SplitsName. The name of an input of another plan is an error.
func ParseSplitsName(plan, name string) (from, to int, err error) {
	_, err = fmt.Sscanf(name, "%d-%d", &from, &to)
	if err != nil || from < 0 || from > to || name != SplitsName(plan, from, to) {
		return 0, 0, fmt.Errorf("name of the input: expected FROM-TO-%s, found %q: another driver may have replaced the archive of this job; driver solve --resume continues", plan, name)
	}
	return from, to, nil
}

// A MapInput is the input of one mapper of packed records: splits, and the place of a byte of
// them, on whose node the mapper should run.
type MapInput struct {
	Splits []Split
	Place
}

// A Place is a byte of a file.
type Place struct {
	File string // its path
	At   int64  // its offset
}

// EachSplit calls do for each line of the input of a mapper, which is called source in errors.
func EachSplit(in io.Reader, source string, do func(Split) error) error {
	lines := streamfmt.NewLineReader(in, source)
	return lines.Each(func(line []byte) error {
		split, ok := ParseSplit(string(line))
		if !ok {
			return lines.Errorf("an input split: file, first range or cell, and the one after the last", line)
		}
		return do(split)
	})
}
