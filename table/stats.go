//go:build !js

package table

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// A Row counts positions: those of a tier that have an outcome in a number of moves.
type Row struct {
	Tier       int          // or pass of a run that has not solved its game; 0 in a table without tiers
	Outcome    game.Outcome // Undecided: a draw, or not known yet
	Remoteness int          // NoEnd: a draw, or not known yet
	Positions  uint64
}

// NoEnd is the remoteness of a Row without a number of moves to the end.
const NoEnd = -1

// Stats counts the positions of a game.
type Stats struct {
	Game      string // spec of the game
	Positions uint64 // in all tiers
	Stored    uint64 // of these, if the table does not store all
	Bytes     int64  // of the table
	Value     string // of the initial position: "X wins in 11", "LOSE in 6"; "": the game is not solved yet
	Content   string // a checksum, if all files are compact: equal for all ways of solving, unlike their bytes
	Rows      []Row  // by tier, then by remoteness; draws come last

	value   game.Value  // of the initial position
	noTiers bool        // the game is solved, and has no tiers
	draws   bool        // play may never end
	folded  bool        // of the images of a position, one is counted
	stored  []uint64    // positions that the table stores, by tier, if these are not all; nil: the game is not solved yet
	values  game.Values // the words of the game
	title   string      // the title of the game; "" if it is not known
	unit    string      // what a tier counts; "" if it is not known
}

// byResult reports whether outcomes are the results of the player to move, as they are called without tiers.
func (s *Stats) byResult() bool { return s.noTiers && s.values.OfMover }

// order returns the outcomes in the order of columns.
func (s *Stats) order() []game.Outcome {
	order := []game.Outcome{game.FirstWins, game.SecondWins, game.Tie}
	if s.byResult() {
		order = []game.Outcome{game.Outcome(game.Loses), game.Outcome(game.Wins), game.Outcome(game.Ties)}
	}
	if s.draws {
		order = append(order, game.Undecided)
	}
	return order
}

// word returns an outcome in words.
func (s *Stats) word(o game.Outcome) string {
	if s.byResult() {
		return game.Result(o).String()
	}
	return s.values.Word(o)
}

// Stats counts the positions of the table. It reads only the value of the initial position, and
// the counts recorded in the files. Of the images of a position of a game.Symmetric, it counts one.
func (t *Table) Stats() (Stats, error) { return t.stats(nil) }

// StatsWithImages is like Stats, but counts all images of each position of a game.Symmetric. It reads the complete table
// of such a game.
func (t *Table) StatsWithImages(ctx context.Context) (Stats, error) {
	if _, ok := t.g.(game.Symmetric); !ok {
		return t.Stats()
	}
	counts, err := t.imageCounts(ctx)
	if err != nil {
		return Stats{}, err
	}
	return t.stats(counts)
}

// imageCounts returns the number of positions of each tier by value, with their images. It reads the complete table.
func (t *Table) imageCounts(ctx context.Context) ([]Counts, error) {
	scan, err := t.Scan(ctx, Selection{Images: true})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	counts := make([]Counts, t.Tiers()+1)
	for i := range counts {
		counts[i] = make(Counts)
	}
	return counts, parallel.All(ctx, scan.Len(), func() func(int) error {
		read, b := scan.Reader(), new(Batch)
		return func(i int) error {
			if err := read(i, b); err != nil {
				return err
			}
			here := make(Counts)
			for _, v := range b.Values {
				here[v]++
			}
			mu.Lock()
			defer mu.Unlock()
			for v, n := range here {
				counts[b.Tier][v] += n
			}
			return nil
		}
	})
}

// stats returns the statistics. images are the numbers of positions of all tiers with their images; nil: they are not wanted.
func (t *Table) stats(images []Counts) (Stats, error) {
	v, err := t.start()
	if err != nil {
		return Stats{}, err
	}
	values := t.g.Values()
	s := Stats{Game: t.g.Spec(), Value: values.Text(v), Bytes: t.bytes, value: v, draws: !game.IsAcyclic(t.g), values: values, title: game.TitleOf(t.g)}
	_, symmetric := t.g.(game.Symmetric)
	_, tiers := t.g.(game.Tiered)
	s.folded, s.noTiers = symmetric && images == nil, !tiers
	for tier := range t.Tiers() + 1 {
		counts, err := t.Counts(tier)
		if err != nil {
			return Stats{}, err
		}
		stored := t.method.Stored(tier)
		if images != nil {
			counts, stored = images[tier], counts.Total()
		}
		if err := s.add(tier, counts); err != nil {
			return Stats{}, err
		}
		s.Positions, s.Stored, s.stored = s.Positions+counts.Total(), s.Stored+stored, append(s.stored, stored)
	}
	if tiers {
		s.unit, s.Content = t.g.Info().TierUnit, t.method.Content()
	}
	return s, nil
}

// add adds the rows of a tier of the table.
func (s *Stats) add(tier int, counts Counts) error {
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		switch {
		case v.Valid():
			s.Rows = append(s.Rows, Row{tier, v.Outcome(), v.Remoteness(), counts[v]})
		case v != 0 || !s.draws:
			return fmt.Errorf("table: %q: tier %d has %d positions of value byte %d, which is no value", s.Game, tier, counts[v], v)
		}
	}
	if n := counts[0]; n > 0 || s.noTiers {
		s.Rows = append(s.Rows, Row{tier, game.Undecided, NoEnd, n})
	}
	return nil
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

// lines returns a line for each tier; for a game without tiers, one for each number of moves to the end, and one for the
// draws. all is their sum.
func (s *Stats) lines() (lines []line, all line) {
	at := func(key int) *line {
		if key >= 0 && key < len(lines) && lines[key].key == key {
			return &lines[key]
		}
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
		if s.noTiers {
			key = r.Remoteness
			for below := range key {
				at(below)
			}
		}
		at(key).add(r)
		all.add(r)
	}
	if s.noTiers {
		at(NoEnd).name = "no end"
	}
	all.name, all.stored = "total", s.Stored
	return lines, all
}

// WriteTable writes the statistics as text: a header, a line for each tier, and a total. The last
// column is the number of positions that the table stores, if it does not store all. For a
// game without tiers there is a line for each number of moves to the end, and one for the draws. The size of the table
// is below.
func (s Stats) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines, all := s.lines()
	fmt.Fprintln(tw, strings.Join(s.cells(line{}, true), "\t")+"\t")
	for _, l := range append(lines, all) {
		fmt.Fprintln(tw, strings.Join(s.cells(l, false), "\t")+"\t")
	}
	if err := tw.Flush(); err != nil || s.Bytes == 0 {
		return err
	}
	folded := ""
	if s.folded {
		folded = "; of each position and its images, one is counted"
	}
	_, err := fmt.Fprintf(w, "table: %s, %.2f bits a position%s\n", numfmt.Bytes(float64(s.Bytes)), s.bits(), folded)
	return err
}

// bits returns the size of the table divided by the number of positions, in bits.
func (s *Stats) bits() float64 { return 8 * float64(s.Bytes) / float64(s.Positions) }

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
	case s.noTiers && s.values.Puzzle:
		head = "moves to solve"
		if l.key == NoEnd {
			l.name = s.values.Word(game.Undecided)
		}
	case s.noTiers:
		head = "moves to the end"
	}
	add(head, l.name)
	count("positions", l.positions)
	if s.noTiers {
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
			word := s.word(o)
			if word == "tie" || word == "draw" {
				word += "s"
			}
			count(word, l.by[o])
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

// unlessZero appends a key and its value, unless it is the zero value.
func (o object) unlessZero(key string, value any) object {
	if reflect.ValueOf(value).IsZero() {
		return o
	}
	return append(o, key, value)
}

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
// player o_wins; without tiers, the results of the player to move are lose, win, tie and draw. If the game uses other
// words, outcomes contains them. If of the images of a position only the canonical one is counted, canonical is true.
func (s Stats) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	lines, all := s.lines()
	var list []object
	for _, l := range lines {
		switch {
		case s.Value == "":
			list = append(list, object{"tier", l.key, "positions", l.positions, "finished", l.finished})
		case !s.noTiers:
			list = append(list, s.tierJSON(l))
		case l.key != NoEnd:
			list = append(list, append(object{"remoteness", l.key}, s.outcomes(l)[:6]...)) // without draws
		}
	}
	if s.Value == "" {
		return e.Encode(object{"game", s.Game, "solved", false, "tiers", list})
	}
	o := append(object{"game", s.Game, "positions", s.Positions}.unlessZero("canonical", s.folded).unlessZero("stored", s.Stored).unlessZero("bytes", s.Bytes), "value", s.Value)
	if !s.noTiers {
		var words []string
		for _, outcome := range s.order() {
			words = append(words, s.word(outcome))
		}
		if slices.Equal(words[:3], []string{"X wins", "O wins", "tie"}) {
			words = nil
		}
		o = o.unlessZero("value_byte", s.value).unlessZero("content", s.Content).unlessZero("outcomes", words)
	}
	if s.Bytes > 0 {
		o = append(o, "bits_per_position", math.Round(100*s.bits())/100)
	}
	if !s.noTiers {
		return e.Encode(append(o, "tiers", list))
	}
	return e.Encode(append(append(o, s.outcomes(all)...), "finished", all.finished, "remoteness", list))
}

// outcomes returns the numbers of a line by outcome.
func (s *Stats) outcomes(l line) (o object) {
	keys := [...]string{game.FirstWins: "x_wins", game.SecondWins: "o_wins", game.Tie: "ties", game.Undecided: "draws"}
	if s.byResult() {
		keys = [...]string{game.Loses: "lose", game.Wins: "win", game.Ties: "tie", game.Draws: "draw"}
	}
	for _, outcome := range s.order() {
		o = append(o, keys[outcome], l.by[outcome])
	}
	return o
}

// tierJSON returns a tier of a table.
func (s *Stats) tierJSON(l line) object {
	o := object{"tier", l.key, "positions", l.positions}.unlessZero("stored", l.stored)
	values := []object{}
	for _, r := range l.rows {
		if r.Remoteness != NoEnd {
			values = append(values, object{"outcome", s.word(r.Outcome), "remoteness", r.Remoteness, "positions", r.Positions})
		}
	}
	return append(append(o, s.outcomes(l)...), "finished", l.finished, "remoteness", values)
}

// WriteCSV writes a header (tier, outcome, remoteness, positions) and a line for each row. A game without tiers has no
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
	for i := 0; i < len(records) && s.noTiers; i++ {
		records[i] = records[i][1:]
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
