//go:build !js

package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// Stats counts the positions of a solved game: by tier if it has tiers, by the number of moves
// to the end if it has cycles. In JSON, wins of the first player are always x_wins and wins of
// the second player o_wins. If the game uses other words, outcomes contains them.
type Stats struct {
	Game      string      `json:"game"`                 // spec of the game
	Positions uint64      `json:"positions"`            // in all tiers
	Stored    uint64      `json:"stored,omitempty"`     // of these, if the table stores about half
	Value     string      `json:"value"`                // of the initial position: "X wins in 11", "LOSE in 6"
	ValueByte game.Value  `json:"value_byte,omitempty"` // the same as a number; omitted for a game with cycles
	Content   string      `json:"content,omitempty"`    // a checksum, if all files are compact: equal for all ways of solving, unlike their bytes
	Outcomes  []string    `json:"outcomes,omitempty"`   // words for a win of the first player, a win of the second, and a tie
	Tiers     []TierStats `json:"tiers,omitempty"`

	*CyclicStats // nil for a game with tiers

	title  string // the title of the game; "" if it is not known
	unit   string // what a tier counts; "" if it is not known
	puzzle bool   // see game.Values.Puzzle
}

// TierStats counts the positions of a tier.
type TierStats struct {
	Tier       int          `json:"tier"`
	Positions  uint64       `json:"positions"`
	Stored     uint64       `json:"stored,omitempty"`
	XWins      uint64       `json:"x_wins"` // wins of the first player
	OWins      uint64       `json:"o_wins"` // wins of the second player
	Ties       uint64       `json:"ties"`
	Finished   uint64       `json:"finished"`   // remoteness 0
	Remoteness []ValueCount `json:"remoteness"` // the values that occur, ascending
}

// ValueCount is the number of positions with a value.
type ValueCount struct {
	Outcome    string `json:"outcome"` // "X wins", "O wins" or "tie"
	Remoteness int    `json:"remoteness"`
	Positions  uint64 `json:"positions"`
}

// CyclicStats counts the positions of a solved game with cycles.
type CyclicStats struct {
	Lose       uint64            `json:"lose"`
	Win        uint64            `json:"win"`
	Tie        uint64            `json:"tie"`
	Draw       uint64            `json:"draw"`
	Finished   uint64            `json:"finished"`   // remoteness 0
	Remoteness []RemotenessStats `json:"remoteness"` // from 0 to the greatest remoteness that occurs
	Moves      int64             `json:"moves"`      // of all positions that are not terminal
	Forward    []int64           `json:"forward"`    // number of positions by the fewest moves from the initial position
}

// RemotenessStats counts the positions of one remoteness.
type RemotenessStats struct {
	Remoteness int    `json:"remoteness"`
	Lose       uint64 `json:"lose"`
	Win        uint64 `json:"win"`
	Tie        uint64 `json:"tie"`
}

// total returns the number of positions.
func (r RemotenessStats) total() uint64 { return r.Lose + r.Win + r.Tie }

// outcomes contains the outcomes of positions of a game with tiers, in the order of the
// statistics.
var outcomes = []game.Outcome{game.FirstWins, game.SecondWins, game.Tie}

// defaultWords are the words of a Stats without Outcomes.
var defaultWords = []string{"X wins", "O wins", "tie"}

// words returns the words for the outcomes.
func (s Stats) words() []string {
	if s.Outcomes == nil {
		return defaultWords
	}
	return s.Outcomes
}

// Stats counts the positions of the table. It reads only the value of the initial position,
// the counts recorded in the files, and the index of the passes.
func (t *Table) Stats() (Stats, error) {
	v, err := t.start()
	if err != nil {
		return Stats{}, err
	}
	values := t.g.Values()
	s := Stats{Game: t.g.Spec(), Value: values.Text(v), title: game.TitleOf(t.g), puzzle: values.Puzzle}
	if states, ok := t.contents.(*states); ok {
		s.CyclicStats, s.Positions = newCyclicStats(states)
		return s, nil
	}
	s.ValueByte, s.unit = v, t.g.Info().TierUnit
	words := make([]string, len(outcomes))
	for i, o := range outcomes {
		words[i] = values.Word(o)
	}
	if !slices.Equal(words, defaultWords) {
		s.Outcomes = words
	}
	for tier := range t.Tiers() + 1 {
		counts, err := t.Counts(tier)
		if err != nil {
			return Stats{}, err
		}
		ts, err := newTierStats(tier, counts, values)
		if err != nil {
			return Stats{}, fmt.Errorf("table: %q: %w", s.Game, err)
		}
		ts.Stored = t.stored(tier)
		s.Tiers = append(s.Tiers, ts)
		s.Positions += ts.Positions
		s.Stored += ts.Stored
	}
	s.Content = t.content()
	return s, nil
}

// content returns the sum of the checksums of the content of all tiers, in hexadecimal; "" if one is not compact.
func (t *Table) content() string {
	b, ok := t.contents.(*blocks)
	if !ok {
		return ""
	}
	var all uint64
	for _, tier := range b.tiers {
		sum, ok := tier.Content()
		if !ok {
			return ""
		}
		all += sum
	}
	return fmt.Sprintf("%016x", all)
}

// stored returns the number of positions of a tier that the table stores; 0 if it stores all.
func (t *Table) stored(tier int) uint64 {
	if b, ok := t.contents.(*blocks); ok && b.half != nil {
		return b.tiers[tier].Stored()
	}
	return 0
}

func newTierStats(tier int, counts Counts, values game.Values) (TierStats, error) {
	s := TierStats{Tier: tier, Positions: counts.Total(), Remoteness: []ValueCount{}}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		n := counts[v]
		switch v.Outcome() {
		case game.FirstWins:
			s.XWins += n
		case game.SecondWins:
			s.OWins += n
		case game.Tie:
			s.Ties += n
		default:
			return TierStats{}, fmt.Errorf("tier %d has %d positions of value byte %d, which is no value", tier, n, v)
		}
		if v.Remoteness() == 0 {
			s.Finished += n
		}
		s.Remoteness = append(s.Remoteness, ValueCount{values.Word(v.Outcome()), v.Remoteness(), n})
	}
	return s, nil
}

// newCyclicStats returns the statistics of a game with cycles, and its number of positions.
func newCyclicStats(t *states) (s *CyclicStats, positions uint64) {
	s = new(CyclicStats)
	for value, n := range t.file.Counts() {
		v := game.Value(value)
		if n == 0 {
			continue
		}
		positions += n
		if !v.Valid() {
			s.Draw += n
			continue
		}
		for len(s.Remoteness) <= v.Remoteness() {
			s.Remoteness = append(s.Remoteness, RemotenessStats{Remoteness: len(s.Remoteness)})
		}
		r := &s.Remoteness[v.Remoteness()]
		switch game.Result(v.Outcome()) {
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
	return s, positions
}

// WriteTable writes the statistics as text: a header, a line for each tier, and a total. The last
// column is the number of positions that the table stores, if it stores about half. For a
// game with cycles there is a line for each number of moves to the end, and one for the draws.
func (s Stats) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if s.CyclicStats != nil {
		s.writeRemoteness(tw)
		return tw.Flush()
	}
	words := slices.Clone(s.words())
	if words[2] == defaultWords[2] {
		words[2] = "ties"
	}
	fmt.Fprintf(tw, "tier\tpositions\t%s\tshare\t%s\tshare\t%s\tshare\tfinished\t", words[0], words[1], words[2])
	if s.Stored > 0 {
		fmt.Fprint(tw, "stored\t")
	}
	fmt.Fprintln(tw)
	var all TierStats
	for _, t := range s.Tiers {
		t.writeLine(tw, strconv.Itoa(t.Tier), s.Stored > 0)
		all.Positions += t.Positions
		all.XWins += t.XWins
		all.OWins += t.OWins
		all.Ties += t.Ties
		all.Finished += t.Finished
		all.Stored += t.Stored
	}
	all.writeLine(tw, "total", s.Stored > 0)
	return tw.Flush()
}

// writeLine writes to a tabwriter, which keeps errors until Flush.
func (t TierStats) writeLine(w io.Writer, name string, stored bool) {
	fmt.Fprintf(w, "%s\t%s\t", name, numfmt.Number(t.Positions))
	for _, n := range t.byOutcome() {
		fmt.Fprintf(w, "%s\t%s\t", numfmt.Number(n), percent(n, t.Positions))
	}
	fmt.Fprintf(w, "%s\t", numfmt.Number(t.Finished))
	if stored {
		fmt.Fprintf(w, "%s\t", numfmt.Number(t.Stored))
	}
	fmt.Fprintln(w)
}

// writeRemoteness writes a line for each number of moves to the end.
func (s Stats) writeRemoteness(w io.Writer) {
	head, none := "moves to the end\tpositions\tshare\tLOSE\tWIN\tTIE\tDRAW\t\n", "no end"
	if s.puzzle {
		head, none = "moves to solve\tpositions\tshare\t\n", game.Values{Puzzle: true}.Word(game.Undecided)
	}
	fmt.Fprint(w, head)
	line := func(name string, r RemotenessStats, draws uint64) {
		n := r.total() + draws
		fmt.Fprintf(w, "%s\t%s\t%s\t", name, numfmt.Number(n), percent(n, s.Positions))
		if !s.puzzle {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t", numfmt.Number(r.Lose), numfmt.Number(r.Win), numfmt.Number(r.Tie), numfmt.Number(draws))
		}
		fmt.Fprintln(w)
	}
	for _, r := range s.Remoteness {
		line(strconv.Itoa(r.Remoteness), r, 0)
	}
	line(none, RemotenessStats{}, s.Draw)
	line("total", RemotenessStats{Lose: s.Lose, Win: s.Win, Tie: s.Tie}, s.Draw)
}

// WriteJSON writes the statistics as indented JSON.
func (s Stats) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// WriteCSV writes a header (tier, outcome, remoteness, positions) and a line for each value of
// each tier. A game with cycles has no column for the tier, and draws have no remoteness.
func (s Stats) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := func(fields ...any) {
		words := make([]string, len(fields))
		for i, f := range fields {
			words[i] = fmt.Sprint(f)
		}
		out.Write(words) // the writer keeps the error
	}
	if s.CyclicStats == nil {
		line("tier", "outcome", "remoteness", "positions")
		for _, t := range s.Tiers {
			for _, v := range t.Remoteness {
				line(t.Tier, v.Outcome, v.Remoteness, v.Positions)
			}
		}
	} else {
		line("outcome", "remoteness", "positions")
		for _, r := range s.Remoteness {
			for i, n := range []uint64{r.Lose, r.Win, r.Tie} {
				if n > 0 {
					line(game.Loses+game.Result(i), r.Remoteness, n)
				}
			}
		}
		line(game.Draws, "", s.Draw)
	}
	out.Flush()
	return out.Error()
}

// percent returns n as a percentage of all, or "-" if all is 0.
func percent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(n)/float64(all), 'f', 1, 64) + "%"
}
