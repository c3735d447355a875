package table

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/step"
)

// CyclicStats counts the positions of a solved game with cycles.
type CyclicStats struct {
	Game       string            `json:"game"` // the spec
	Positions  uint64            `json:"positions"`
	Value      string            `json:"value"` // of the start: "LOSE in 6"
	Lose       uint64            `json:"lose"`
	Win        uint64            `json:"win"`
	Tie        uint64            `json:"tie"`
	Draw       uint64            `json:"draw"`
	Finished   uint64            `json:"finished"`   // remoteness 0
	Remoteness []RemotenessStats `json:"remoteness"` // from 0 to the greatest that occurs
	Moves      int64             `json:"moves"`      // of all positions that are not finished
	Forward    []int64           `json:"forward"`    // positions by the fewest moves that lead to them
}

// RemotenessStats counts the positions that are decided in so many moves.
type RemotenessStats struct {
	Remoteness int    `json:"remoteness"`
	Lose       uint64 `json:"lose"`
	Win        uint64 `json:"win"`
	Tie        uint64 `json:"tie"`
}

// total is the number of positions.
func (r RemotenessStats) total() uint64 { return r.Lose + r.Win + r.Tie }

// Stats counts the positions of the table. It reads no range but the start's; the
// index, which the loop of jobs has left, tells of the passes.
func (t *Cyclic) Stats() (CyclicStats, error) {
	worth, ok, err := t.Lookup(t.g.Start())
	if err != nil {
		return CyclicStats{}, err
	}
	if !ok {
		return CyclicStats{}, fmt.Errorf("table: the start of %q is missing", t.g.Spec())
	}
	s := CyclicStats{Game: t.g.Spec(), Value: worth.String()}
	counts := t.Counts()
	for value, n := range counts {
		w := game.WorthOf(byte(value))
		if n == 0 {
			continue
		}
		s.Positions += n
		if w.Result == game.Draws {
			s.Draw += n
			continue
		}
		for len(s.Remoteness) <= w.Remoteness {
			s.Remoteness = append(s.Remoteness, RemotenessStats{Remoteness: len(s.Remoteness)})
		}
		r := &s.Remoteness[w.Remoteness]
		switch w.Result {
		case game.Loses:
			r.Lose, s.Lose = n, s.Lose+n
		case game.Wins:
			r.Win, s.Win = n, s.Win+n
		case game.Ties:
			r.Tie, s.Tie = n, s.Tie+n
		}
	}
	if len(s.Remoteness) > 0 {
		s.Finished = s.Remoteness[0].total()
	}
	for _, found := range t.index.Passes {
		if step.IsForward(found.Step) {
			s.Moves += found.Messages
			if found.Total() > 0 {
				s.Forward = append(s.Forward, found.Total())
			}
		}
	}
	return s, nil
}

// WriteTable writes the statistics as text: a header, a line for each remoteness,
// one for the draws and one for all.
func (s CyclicStats) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "moves to the end\tpositions\tshare\tLOSE\tWIN\tTIE\tDRAW\t\n")
	line := func(name string, r RemotenessStats, draws uint64) {
		n := r.total() + draws
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, commas(n), percent(n, s.Positions),
			commas(r.Lose), commas(r.Win), commas(r.Tie), commas(draws))
	}
	for _, r := range s.Remoteness {
		line(strconv.Itoa(r.Remoteness), r, 0)
	}
	line("no end", RemotenessStats{}, s.Draw)
	line("total", RemotenessStats{Lose: s.Lose, Win: s.Win, Tie: s.Tie}, s.Draw)
	return tw.Flush()
}

// WriteJSON writes the statistics as indented JSON.
func (s CyclicStats) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
