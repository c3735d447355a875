package step

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Split is a part of the input of a mapper of packed records: the blocks of one file with
// ranges from From up to, but not including, To.
type Split struct {
	File     string // the path of a block file
	From, To uint64
}

// allRanges is larger than any range.
const allRanges = ^uint64(0)

// end returns the range at which partition or split i ends: the border of the next one, or
// allRanges.
func end(borders []uint64, i int) uint64 {
	if i+1 < len(borders) {
		return borders[i+1]
	}
	return allRanges
}

// String returns the split as a line of a job's input, without the newline.
func (s Split) String() string { return fmt.Sprintf("%s\t%x\t%x", s.File, s.From, s.To) }

// parseSplit is the inverse of String.
func parseSplit(line string) (s Split, ok bool) {
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
	jobdir.Place
}

// StateInputs divides the input of a pass, the new positions in some directories, among about
// the given number of mappers. Each mapper gets about the same number of bytes: an interval of
// ranges, and for it one split of each file, so that it can merge all its messages to one
// range.
func StateInputs(fsys store.FS, dirs []string, g game.Cyclic, mappers int) (inputs []MapInput, err error) {
	fresh, err := jobdir.OpenNew(fsys, dirs, g)
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	borders := fresh.Split(mappers)
	places := fresh.Places(borders)
	for i, from := range borders {
		in := MapInput{Place: places[i]}
		for _, part := range fresh.Files() {
			in.Splits = append(in.Splits, Split{part, from, end(borders, i)})
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// BlockInputs divides the directory of a tier among mappers, each of which gets about the same
// number of bytes of one shard. tasks returns the desired number of mappers for a number of
// records. The result has about as many, but at least one for each shard that has records.
func BlockInputs(fsys store.FS, dir string, g game.Tiered, tier int, tasks func(records int64) int) (inputs []MapInput, records int64, err error) {
	parts, err := jobdir.Parts(fsys, dir, g.Spec())
	if err != nil {
		return nil, 0, err
	}
	tiers := make([]*jobdir.Tier, len(parts))
	defer func() {
		for _, t := range tiers {
			if t != nil {
				t.Close()
			}
		}
	}()
	var seals jobdir.Seals
	for i, part := range parts {
		if tiers[i], err = seals.OpenTier(fsys, []string{part}, g, tier); err != nil {
			return nil, 0, err
		}
		counts := tiers[i].Counts()
		records += int64(counts.Total())
	}
	perPart := max(1, (tasks(records)+len(parts)-1)/max(1, len(parts)))
	for i, t := range tiers {
		if t.Len() == 0 {
			continue
		}
		borders, err := t.Split(perPart)
		if err != nil {
			return nil, 0, err
		}
		for k, from := range borders {
			split := Split{parts[i], from, end(borders, k)}
			at, err := middle(t, split)
			if err != nil {
				return nil, 0, err
			}
			inputs = append(inputs, MapInput{[]Split{split}, jobdir.Place{File: parts[i], At: at}})
		}
	}
	return inputs, records, nil
}

// middle returns the offset of a block in the middle of a split of a tier with one file.
func middle(t *jobdir.Tier, s Split) (int64, error) {
	c := t.Cursor(0)
	first, err := c.Search(s.From)
	if err != nil {
		return 0, err
	}
	next := t.Len()
	if s.To != allRanges {
		if next, err = c.Search(s.To); err != nil {
			return 0, err
		}
	}
	e, err := c.Entry((first + next) / 2)
	return int64(e.Offset), err
}
