package table

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// Stats counts the positions of a solved game.
type Stats struct {
	Game      string      `json:"game"`       // the spec
	Positions uint64      `json:"positions"`  // in all tiers
	Value     string      `json:"value"`      // of the start: "X wins in 11"
	ValueByte game.Value  `json:"value_byte"` // the same as the value byte
	Tiers     []TierStats `json:"tiers"`
}

// TierStats counts the positions of a tier.
type TierStats struct {
	Tier       int          `json:"tier"`
	Positions  uint64       `json:"positions"`
	XWins      uint64       `json:"x_wins"`
	OWins      uint64       `json:"o_wins"`
	Ties       uint64       `json:"ties"`
	Finished   uint64       `json:"finished"`   // remoteness 0
	Remoteness []ValueCount `json:"remoteness"` // the values that occur, in the order of their bytes
}

// ValueCount is the number of positions that have a value.
type ValueCount struct {
	Outcome    string `json:"outcome"` // "X wins", "O wins" or "tie"
	Remoteness int    `json:"remoteness"`
	Positions  uint64 `json:"positions"`
}

var outcomeNames = map[game.Outcome]string{
	game.FirstWins:  "X wins",
	game.SecondWins: "O wins",
	game.Tie:        "tie",
}

// Stats counts the positions of the table. It reads no block but the start's.
func (t *Table) Stats() (Stats, error) {
	spec := t.g.Spec()
	v, ok, err := t.Lookup(t.g.Start())
	if err != nil {
		return Stats{}, err
	}
	if !ok {
		return Stats{}, fmt.Errorf("table: the start of %q is missing", spec)
	}
	s := Stats{Game: spec, Value: v.String(), ValueByte: v}
	for tier := range t.files {
		ts, err := newTierStats(tier, t.Counts(tier))
		if err != nil {
			return Stats{}, fmt.Errorf("table: %q: %w", spec, err)
		}
		s.Tiers = append(s.Tiers, ts)
		s.Positions += ts.Positions
	}
	return s, nil
}

func newTierStats(tier int, counts streamfmt.Counts) (TierStats, error) {
	s := TierStats{Tier: tier, Positions: counts.Total(), Remoteness: []ValueCount{}}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		v := game.Value(i)
		switch v.Outcome() {
		case game.FirstWins:
			s.XWins += n
		case game.SecondWins:
			s.OWins += n
		case game.Tie:
			s.Ties += n
		default:
			return TierStats{}, fmt.Errorf("tier %d holds %d positions of value byte %d, which is no value", tier, n, i)
		}
		if v.Remoteness() == 0 {
			s.Finished += n
		}
		s.Remoteness = append(s.Remoteness, ValueCount{outcomeNames[v.Outcome()], v.Remoteness(), n})
	}
	return s, nil
}

// WriteTable writes the statistics as text: a header, a line for each tier and
// one for all of them.
func (s Stats) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "tier\tpositions\tX wins\tshare\tO wins\tshare\tties\tshare\tfinished\t\n")
	var all TierStats
	for _, t := range s.Tiers {
		t.writeLine(tw, strconv.Itoa(t.Tier))
		all.Positions += t.Positions
		all.XWins += t.XWins
		all.OWins += t.OWins
		all.Ties += t.Ties
		all.Finished += t.Finished
	}
	all.writeLine(tw, "total")
	return tw.Flush()
}

// writeLine writes to a tabwriter, which keeps its error for Flush.
func (t TierStats) writeLine(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%s\t", name, commas(t.Positions))
	for _, n := range []uint64{t.XWins, t.OWins, t.Ties} {
		fmt.Fprintf(w, "%s\t%s\t", commas(n), percent(n, t.Positions))
	}
	fmt.Fprintf(w, "%s\t\n", commas(t.Finished))
}

// WriteJSON writes the statistics as indented JSON.
func (s Stats) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// commas writes n with a comma before every three digits: 1,234,567.
func commas(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent is the share of n in all, "-" of nothing.
func percent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(n)/float64(all), 'f', 1, 64) + "%"
}
