package pipe

import (
	"fmt"
	"io"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

const (
	// splitRows is how many packed rows are unpacked at a time for a map. feedMemory includes
	// them and their text.
	splitRows = 1 << 14
	// mapsOfCore is the maximum number of maps per core: in some games many tiers send a few
	// messages to one tier.
	mapsOfCore = 4
)

// ofLayers prepares a job by layers. The reducers write states, and their messages to other jobs, themselves.
func (p *pipeline) ofLayers(g game.Game) error {
	kind := layers.WritesOf(p.Step, g, p.Tier).Shard
	p.partName = jobdir.PartName
	p.shard = func(out io.WriteCloser) shard { return layers.NewPartWriter(out, g, p.Tier, kind, p.Codec) }
	if p.Step == step.Init {
		p.splits = []split{p.fileSplit(p.Input[0])}
		return nil
	}
	rows, err := p.Rows(g)
	if err != nil {
		return err
	}
	var pieces []split
	for _, r := range rows {
		if r.Source != nil {
			p.open = append(p.open, r.Source)
		}
	}
	for _, r := range rows {
		for _, name := range r.Files {
			info, err := p.FS.Stat(name)
			if err != nil {
				return err
			}
			if info.Size() > 0 {
				text := p.fileSplit(name)
				text.size = info.Size()
				pieces = append(pieces, text)
			}
		}
		if r.Source != nil && r.Source.Rows() > 0 {
			pieces = append(pieces, packedPieces(r, streamfmt.KeyWidth(g.KeyBits()))...)
		}
	}
	p.splits = group(pieces, mapsOfCore*runtime.GOMAXPROCS(0))
	return nil
}

// packedPieces divides packed rows into pieces, which may be too small for a map of their own.
func packedPieces(r runner.Rows, width int) (ps []split) {
	for _, interval := range layers.Cut(splitRows, r.Source) {
		write := func(w io.Writer) error {
			rows, err := new(layers.Loader).Load(nil, r.Source, interval)
			if err != nil {
				return err
			}
			var text []byte
			for _, row := range rows {
				text = streamfmt.AppendRow(text, row, r.Kind, width)
			}
			_, err = w.Write(text)
			return err
		}
		ps = append(ps, split{r.Name, interval.Rows * int64(2*width), write})
	}
	return ps
}

// group combines consecutive pieces into splits of about equal size; most is the maximum number
// of splits. An error in a split names the file of its first piece and the number of further
// files. Its line number counts from the first line of that piece.
func group(ps []split, most int) (ss []split) {
	var all, sum int64
	for _, p := range ps {
		all += p.size + 1
	}
	for len(ps) > 0 {
		n := 0
		for end := all * int64(len(ss)+1) / int64(most); n < len(ps) && (n == 0 || len(ps)-n > most-len(ss)-1 && sum < end); n++ {
			sum += ps[n].size + 1
		}
		ss = append(ss, together(ps[:n]))
		ps = ps[n:]
	}
	return ss
}

// together combines consecutive pieces into one split.
func together(ps []split) split {
	more := 0
	for i := 1; i < len(ps); i++ {
		if ps[i].source != ps[i-1].source {
			more++
		}
	}
	s := ps[0]
	if more > 0 {
		s.source = fmt.Sprintf("%s and %d more", s.source, more)
	}
	s.write = func(w io.Writer) error {
		for _, p := range ps {
			if err := p.write(w); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}
