package pipe

import (
	"fmt"
	"io"

	"github.com/treereduce/treereduce/internal/engine/runner"
)

// mapsOfCore is the maximum number of maps per core: in some games many tiers send a few messages to one tier.
const mapsOfCore = 4

// group combines consecutive pieces into splits of about equal size; most is the maximum number
// of splits. An error in a split names the file of its first piece and the number of further
// files. Its line number counts from the first line of that piece.
func group(ps []runner.Piece, most int) (ss []runner.Piece) {
	var all, sum int64
	for _, p := range ps {
		all += p.Size + 1
	}
	for len(ps) > 0 {
		n := 0
		for end := all * int64(len(ss)+1) / int64(most); n < len(ps) && (n == 0 || len(ps)-n > most-len(ss)-1 && sum < end); n++ {
			sum += ps[n].Size + 1
		}
		ss = append(ss, together(ps[:n]))
		ps = ps[n:]
	}
	return ss
}

// together combines consecutive pieces into one split.
func together(ps []runner.Piece) runner.Piece {
	more := 0
	for i := 1; i < len(ps); i++ {
		if ps[i].Source != ps[i-1].Source {
			more++
		}
	}
	s := ps[0]
	if more > 0 {
		s.Source = fmt.Sprintf("%s and %d more", s.Source, more)
	}
	s.Write = func(w io.Writer) error {
		for _, p := range ps {
			if err := p.Write(w); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}
