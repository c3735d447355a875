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

// StateSplits divides the input of a pass, the new positions in some directories, into
// splits for about the given number of mappers. Each mapper gets about the same number of
// bytes: an interval of ranges, and for it one split of each file, so that it can merge all
// its messages to one range. lines is the number of splits for each mapper, which is the
// number of files.
func StateSplits(fsys store.FS, dirs []string, g game.Cyclic, mappers int) (ss []Split, lines int, err error) {
	fresh, err := jobdir.OpenNew(fsys, dirs, g)
	if err != nil {
		return nil, 0, err
	}
	defer fresh.Close()
	parts, borders := fresh.Files(), fresh.Split(mappers)
	for i, from := range borders {
		for _, part := range parts {
			ss = append(ss, Split{part, from, end(borders, i)})
		}
	}
	return ss, len(parts), nil
}

// BlockSplits divides the directory of a tier into splits of about the same number of bytes.
// tasks returns the desired number of splits for a number of records. The result has about
// as many, but at least one for each shard that has records.
func BlockSplits(fsys store.FS, dir string, g game.Tiered, tier int, tasks func(records int64) int) (ss []Split, records int64, err error) {
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
	for i, part := range parts {
		if tiers[i], err = jobdir.OpenTierFiles(fsys, []string{part}, g, tier); err != nil {
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
			ss = append(ss, Split{parts[i], from, end(borders, k)})
		}
	}
	return ss, records, nil
}
