package task

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Share is the input of one mapper: the blocks of one file with ranges from From up to,
// but not including, To.
type Share struct {
	Part     string // the path of a block file
	From, To uint64
}

// allRanges is larger than any range.
const allRanges = ^uint64(0)

// end returns the range at which share number one ends: the border of the next share, or
// last for the last share.
func end(borders []uint64, one int, last uint64) uint64 {
	if one+1 < len(borders) {
		return borders[one+1]
	}
	return last
}

// String returns the share as a line of a job's input, without the newline.
func (s Share) String() string { return fmt.Sprintf("%s\t%x\t%x", s.Part, s.From, s.To) }

// parseShare is the inverse of String.
func parseShare(line string) (s Share, ok bool) {
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
	return Share{f[0], from, to}, true
}

// PassShares divides the input of a pass, the new positions in some directories, into
// shares for about the given number of mappers. Each mapper gets about the same number of
// bytes: an interval of ranges, and for it one share of each file, so that it can merge all
// its messages to one range. lines is the number of shares for each mapper, which is the
// number of files.
func PassShares(fsys store.FS, dirs []string, g game.Cyclic, mappers int) (ss []Share, lines int, err error) {
	fresh, err := jobdir.OpenNew(fsys, dirs, g)
	if err != nil {
		return nil, 0, err
	}
	defer fresh.Close()
	parts, borders := fresh.Files(), fresh.Split(mappers)
	for i, from := range borders {
		for _, part := range parts {
			ss = append(ss, Share{part, from, end(borders, i, allRanges)})
		}
	}
	return ss, len(parts), nil
}

// StartShare returns the input of the only mapper of create: the seed file.
func StartShare(seed string) Share { return Share{seed, 0, allRanges} }

// Shares divides the directory of a tier into shares of about the same number of bytes.
// tasks returns the desired number of shares for a number of records. The result has about
// as many, but at least one for each shard that has records.
func Shares(fsys store.FS, dir string, g game.Tiered, tier int, tasks func(records int64) int) (ss []Share, records int64, err error) {
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
		borders := t.Split(perPart)
		for k, from := range borders {
			ss = append(ss, Share{parts[i], from, end(borders, k, allRanges)})
		}
	}
	return ss, records, nil
}
