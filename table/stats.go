//go:build !js

package table

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Row counts positions: those of a tier that have an outcome in a number of moves.
type Row struct {
	Tier       int          // or pass of a run that has not solved its game; 0 in a table without tiers
	Outcome    game.Outcome // without tiers a game.Result; Undecided: a draw, or not known yet
	Remoteness int          // NoEnd: a draw, or not known yet
	Positions  uint64
}

// NoEnd is the remoteness of a Row without a number of moves to the end.
const NoEnd = -1

// Stats counts the positions of a game.
type Stats struct {
	Game      string     `json:"game"`                 // spec of the game
	Positions uint64     `json:"positions"`            // in all tiers
	Stored    uint64     `json:"stored,omitempty"`     // of these, if the table stores about half
	Value     string     `json:"value"`                // of the initial position: "X wins in 11", "LOSE in 6"; "": the game is not solved yet
	ValueByte game.Value `json:"value_byte,omitempty"` // the same as a number; omitted for a game with cycles
	Content   string     `json:"content,omitempty"`    // a checksum, if all files are compact: equal for all ways of solving, unlike their bytes
	Outcomes  []string   `json:"outcomes,omitempty"`   // words for a win of the first player, a win of the second, and a tie, if not "X wins", "O wins" and "tie"
	Rows      []Row      `json:"-"`                    // by tier, then by remoteness; draws come last
	Moves     int64      `json:"-"`                    // of all positions of a game with cycles that are not terminal
	Forward   []int64    `json:"-"`                    // for a game with cycles, number of positions by the fewest moves from the initial position

	stored []uint64    // positions that the table stores, by tier; nil: a game with cycles, or one that is not solved yet
	values game.Values // the words of the game
	title  string      // the title of the game; "" if it is not known
	unit   string      // what a tier counts; "" if it is not known
}

// isCyclic reports whether these are the positions of a solved game with cycles.
func (s *Stats) isCyclic() bool { return s.Value != "" && s.stored == nil }

// order returns the outcomes in the order of columns.
func (s *Stats) order() []game.Outcome {
	if s.isCyclic() {
		return []game.Outcome{game.Outcome(game.Loses), game.Outcome(game.Wins), game.Outcome(game.Ties), game.Outcome(game.Draws)}
	}
	return []game.Outcome{game.FirstWins, game.SecondWins, game.Tie}
}

// word returns an outcome in words.
func (s *Stats) word(o game.Outcome) string {
	if s.isCyclic() {
		return game.Result(o).String()
	}
	return s.values.Word(o)
}

// Stats counts the positions of the table. It reads only the value of the initial position,
// the counts recorded in the files, and the index of the passes.
func (t *Table) Stats() (Stats, error) {
	v, err := t.start()
	if err != nil {
		return Stats{}, err
	}
	values := t.g.Values()
	s := Stats{Game: t.g.Spec(), Value: values.Text(v), values: values, title: game.TitleOf(t.g)}
	for tier := range t.Tiers() + 1 {
		if err := s.add(t, tier); err != nil {
			return Stats{}, err
		}
	}
	for _, r := range s.Rows {
		s.Positions += r.Positions
	}
	if states, ok := t.contents.(*states); ok {
		for _, found := range states.index.Passes {
			if step.IsForward(found.Step) {
				s.Moves += found.Messages
				if found.Total() > 0 {
					s.Forward = append(s.Forward, found.Total())
				}
			}
		}
		return s, nil
	}
	s.ValueByte, s.unit, s.Content = v, t.g.Info().TierUnit, t.content()
	for _, o := range s.order() {
		s.Outcomes = append(s.Outcomes, s.word(o))
	}
	if slices.Equal(s.Outcomes, []string{"X wins", "O wins", "tie"}) {
		s.Outcomes = nil
	}
	return s, nil
}

// add adds the rows of a tier of the table.
func (s *Stats) add(t *Table, tier int) error {
	counts, err := t.Counts(tier)
	if err != nil {
		return err
	}
	_, cyclic := t.contents.(*states)
	draws := uint64(0)
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		switch {
		case v.Valid():
			s.Rows = append(s.Rows, Row{tier, v.Outcome(), v.Remoteness(), counts[v]})
		case cyclic:
			draws += counts[v]
		default:
			return fmt.Errorf("table: %q: tier %d has %d positions of value byte %d, which is no value", s.Game, tier, counts[v], v)
		}
	}
	if cyclic {
		s.Rows = append(s.Rows, Row{Remoteness: NoEnd, Positions: draws})
		return nil
	}
	s.stored = append(s.stored, 0)
	if b, ok := t.contents.(*blocks); ok && b.half != nil {
		s.stored[tier] = b.tiers[tier].Stored()
	}
	s.Stored += s.stored[tier]
	return nil
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

// A line adds up rows: those of a tier, of a number of moves to the end, or all.
type line struct {
	key       int // the tier or the number of moves
	name      string
	positions uint64
	by        [4]uint64 // the same by outcome
	finished  uint64    // remoteness 0
	stored    uint64
	rows      []Row
}

// add adds a row.
func (l *line) add(r Row) {
	l.positions += r.Positions
	l.by[r.Outcome&3] += r.Positions
	if r.Remoteness == 0 {
		l.finished += r.Positions
	}
	l.rows = append(l.rows, r)
}

// lines returns a line for each tier; for a game with cycles, one for each number of moves to the end, and one for the
// draws. all is their sum.
func (s *Stats) lines() (lines []line, all line) {
	at := func(key int) *line {
		i := slices.IndexFunc(lines, func(l line) bool { return l.key == key })
		if i < 0 {
			i = len(lines)
			lines = append(lines, line{key: key, name: strconv.Itoa(key)})
		}
		return &lines[i]
	}
	for tier, n := range s.stored {
		at(tier).stored = n
	}
	for _, r := range s.Rows {
		key := r.Tier
		if s.isCyclic() {
			key = r.Remoteness
			for below := range key {
				at(below)
			}
		}
		at(key).add(r)
		all.add(r)
	}
	if s.isCyclic() {
		at(NoEnd).name = "no end"
	}
	all.name, all.stored = "total", s.Stored
	return lines, all
}

// WriteTable writes the statistics as text: a header, a line for each tier, and a total. The last
// column is the number of positions that the table stores, if it stores about half. For a
// game with cycles there is a line for each number of moves to the end, and one for the draws.
func (s Stats) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines, all := s.lines()
	fmt.Fprintln(tw, strings.Join(s.cells(line{}, true), "\t")+"\t")
	for _, l := range append(lines, all) {
		fmt.Fprintln(tw, strings.Join(s.cells(l, false), "\t")+"\t")
	}
	return tw.Flush()
}

// cells returns the cells of a line of the table, or of its header.
func (s *Stats) cells(l line, header bool) (cells []string) {
	add := func(head, text string) {
		if header {
			text = head
		}
		cells = append(cells, text)
	}
	count := func(head string, n uint64) { add(head, numfmt.Number(n)) }
	head := "tier"
	switch {
	case s.isCyclic() && s.values.Puzzle:
		head = "moves to solve"
		if l.key == NoEnd {
			l.name = s.values.Word(game.Undecided)
		}
	case s.isCyclic():
		head = "moves to the end"
	}
	add(head, l.name)
	count("positions", l.positions)
	if s.isCyclic() {
		add("share", percent(l.positions, s.Positions))
		for _, o := range s.order() {
			if !s.values.Puzzle {
				count(s.word(o), l.by[o])
			}
		}
		return cells
	}
	for _, o := range s.order() {
		if s.Value != "" {
			count(cmp.Or(map[string]string{"tie": "ties"}[s.word(o)], s.word(o)), l.by[o])
			add("share", percent(l.by[o], l.positions))
		}
	}
	count("finished", l.finished)
	if s.Stored > 0 {
		count("stored", l.stored)
	}
	return cells
}

// An object is a JSON object whose keys have an order: keys and values in turn.
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		value, err := json.Marshal(o[i+1])
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, "%q:%s,", o[i], value)
	}
	return append(text[:len(text)-1], '}'), nil
}

// WriteJSON writes the statistics as indented JSON. Wins of the first player are always x_wins and wins of the second
// player o_wins. If the game uses other words, outcomes contains them.
func (s Stats) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	lines, all := s.lines()
	var list []object
	for _, l := range lines {
		switch {
		case s.Value == "":
			list = append(list, object{"tier", l.key, "positions", l.positions, "finished", l.finished})
		case !s.isCyclic():
			list = append(list, s.tierJSON(l))
		case l.key != NoEnd:
			list = append(list, object{"remoteness", l.key, "lose", l.by[game.Loses], "win", l.by[game.Wins], "tie", l.by[game.Ties]})
		}
	}
	switch {
	case s.Value == "":
		return e.Encode(object{"game", s.Game, "solved", false, "tiers", list})
	case !s.isCyclic():
		return e.Encode(struct {
			Stats
			Tiers []object `json:"tiers"`
		}{s, list})
	}
	return e.Encode(struct {
		Stats
		Lose       uint64   `json:"lose"`
		Win        uint64   `json:"win"`
		Tie        uint64   `json:"tie"`
		Draw       uint64   `json:"draw"`
		Finished   uint64   `json:"finished"`
		Remoteness []object `json:"remoteness"`
		Moves      int64    `json:"moves"`
		Forward    []int64  `json:"forward"`
	}{s, all.by[game.Loses], all.by[game.Wins], all.by[game.Ties], all.by[game.Draws], all.finished, list, s.Moves, s.Forward})
}

// tierJSON returns a tier of a table.
func (s *Stats) tierJSON(l line) object {
	o := object{"tier", l.key, "positions", l.positions}
	if l.stored > 0 {
		o = append(o, "stored", l.stored)
	}
	values := []object{}
	for _, r := range l.rows {
		values = append(values, object{"outcome", s.word(r.Outcome), "remoteness", r.Remoteness, "positions", r.Positions})
	}
	return append(o, "x_wins", l.by[game.FirstWins], "o_wins", l.by[game.SecondWins], "ties", l.by[game.Tie], "finished", l.finished, "remoteness", values)
}

// WriteCSV writes a header (tier, outcome, remoteness, positions) and a line for each row. A game with cycles has no
// column for the tier, and draws have no remoteness. If the game is not solved yet, there is a line for each tier (tier,
// positions, finished).
func (s Stats) WriteCSV(w io.Writer) error {
	records := [][]string{{"tier", "positions", "finished"}}
	if s.Value == "" {
		lines, _ := s.lines()
		for _, l := range lines {
			records = append(records, []string{l.name, fmt.Sprint(l.positions), fmt.Sprint(l.finished)})
		}
		return csv.NewWriter(w).WriteAll(records)
	}
	records[0] = []string{"tier", "outcome", "remoteness", "positions"}
	for _, r := range s.Rows {
		remoteness := ""
		if r.Remoteness != NoEnd {
			remoteness = strconv.Itoa(r.Remoteness)
		}
		records = append(records, []string{strconv.Itoa(r.Tier), s.word(r.Outcome), remoteness, fmt.Sprint(r.Positions)})
	}
	for i := range records {
		if s.isCyclic() {
			records[i] = records[i][1:]
		}
	}
	return csv.NewWriter(w).WriteAll(records)
}

// percent returns n as a percentage of all, or "-" if all is 0.
func percent(n, all uint64) string {
	if all == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(n)/float64(all), 'f', 1, 64) + "%"
}
