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
// ranges from From up to, but not including, To, or its cells of rows with these numbers.
type Split struct {
	File     string // the path of a pack file
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
	Place
}

// A Place is a byte of a file.
type Place struct {
	File string // its path
	At   int64  // its offset
}

// BlockInputs divides the directory of a tier among mappers, each of which gets about the same
// number of bytes of one shard. tasks returns the desired number of mappers for a number of
// records. The result has about as many, but at least one for each shard that has records. BlockInputs
// opens only the shards that it divides: what it needs of the others is in the seal, with which the
// mappers compare them.
func BlockInputs(fsys store.FS, dir string, g game.Tiered, tier int, tasks func(records int64) int) (inputs []MapInput, records int64, err error) {
	var seals jobdir.Seals
	parts, err := seals.Parts(fsys, dir, g.Spec())
	if err != nil {
		return nil, 0, err
	}
	sealed := make([]*store.SealedFile, len(parts))
	for i, part := range parts {
		if sealed[i], err = seals.Sealed(fsys, part); err != nil {
			return nil, 0, err
		}
		records += int64(sealed[i].Records)
	}
	perPart := max(1, (tasks(records)+len(parts)-1)/max(1, len(parts)))
	for i, part := range parts {
		if sealed[i].Records == 0 {
			continue
		}
		borders := []uint64{0}
		if perPart > 1 {
			if borders, err = divide(&seals, fsys, part, g, tier, perPart); err != nil {
				return nil, 0, err
			}
		}
		for k, from := range borders {
			middle := sealed[i].Length * int64(2*k+1) / int64(2*len(borders))
			inputs = append(inputs, MapInput{[]Split{{part, from, end(borders, k)}}, Place{part, middle}})
		}
	}
	return inputs, records, nil
}

// divide divides the ranges of a shard of a tier, see jobdir.Tier.Split.
func divide(seals *jobdir.Seals, fsys store.FS, part string, g game.Tiered, tier, n int) ([]uint64, error) {
	t, err := seals.OpenTier(fsys, []string{part}, g, tier)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Split(n)
}
