package task

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/tierio"
)

// A Share is what one mapper reads: the blocks of a part whose ranges are at
// least From and below To.
type Share struct {
	Part     string // the path of a block file
	From, To uint64
}

// String is the share as a line of a job's input, without its end.
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

// Shares cuts a directory of a tier into about n shares of as many bytes, or
// one for each part if these are more.
func Shares(fsys store.FS, dir string, g game.Tiered, tier, n int) (ss []Share, records int64, err error) {
	parts, err := tierio.Parts(fsys, dir)
	if err != nil {
		return nil, 0, err
	}
	perPart := max(1, (n+len(parts)-1)/len(parts))
	for _, part := range parts {
		t, err := tierio.OpenParts(fsys, []string{part}, g, tier)
		if err != nil {
			return nil, 0, err
		}
		counts := t.Counts()
		records += int64(counts.Total())
		from := uint64(0)
		for i := 1; i < perPart && t.Len() > 0; i++ {
			if to := t.Range(t.Split(float64(i) / float64(perPart))); to > from {
				ss = append(ss, Share{part, from, to})
				from = to
			}
		}
		if t.Len() > 0 {
			ss = append(ss, Share{part, from, ^uint64(0)})
		}
		if err := t.Close(); err != nil {
			return nil, 0, err
		}
	}
	return ss, records, nil
}
