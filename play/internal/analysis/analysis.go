// Package analysis finds the values of a position and of its moves, from the table of the game,
// an opening book, or by a search that improves step by step, and finds the mistakes of a play. The
// terminal user interface, the web page and play review show its results. The package knows none of
// them.
package analysis

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// A Worth is what is known of the value of a position for the player to move, or of a move for
// the player who makes it.
type Worth struct {
	Value game.Value // of the position; for a move, of the position before it if the move is made; 0 for a draw
	Known bool       // Value is known
	Open  bool       // the remoteness in Value is not proven
	// Score is the evaluation by a search of Depth plies, for the player to move. Depth is 0
	// if there is none.
	Score, Depth int
}

// A Move is a legal move and what is known of it.
type Move struct {
	game.Move
	Child game.Value // of the position after the move, if Known
	Worth
}

// A Report is what is known of a position and its moves.
type Report struct {
	Position game.Position
	Worth
	Moves   []Move        // in the order of the game
	Best    int           // index of the best move; -1: not known yet
	Line    []string      // best play, starting with the best move
	Nodes   uint64        // positions searched so far
	Time    time.Duration // of the searches
	Table   bool          // the report comes from the table
	Book    bool          // the value of the position comes from the opening book
	Trouble string        // why the table was not used, or why the search failed
	Done    bool          // the report is final

	round, next int  // where the search continues: the round, which determines the limit, and the move; -1: the position itself
	again       bool // the position is searched though its value is Known, because it is Open
}

// The time limit of a search grows by the factor searchGrows from round to round: quick
// results are available quickly, and after rounds rounds an idle program uses no more CPU time.
const (
	firstLimit  = 50 * time.Millisecond
	searchGrows = 4
	rounds      = 5
)

// reportEvery is the time after which Step returns.
const reportEvery = 60 * time.Millisecond

// maxLine is the maximum length of best play followed in a table.
const maxLine = 40

// An Analyzer analyzes positions of a game. It is safe for concurrent use; it performs one step
// at a time.
type Analyzer struct {
	g       game.Game
	table   *table.Table // nil: no table
	book    *book.Book   // nil: no book
	options search.Options

	working  sync.Mutex
	searcher *search.Searcher // made when it is first needed
}

// New makes an Analyzer that uses a table or, if t is nil, a book of g, which may be nil, as far
// as it reaches, and searches with the options o.
func New(g game.Game, t *table.Table, b *book.Book, o search.Options) *Analyzer {
	if t != nil {
		b = nil
	}
	return &Analyzer{g: g, table: t, book: b, options: o}
}

// Begin returns what can be known of a position at once: how the game has ended, or which moves
// end it, and what the opening book contains.
func (z *Analyzer) Begin(p game.Position) Report {
	r := Report{Position: p, Best: -1, next: -1, Table: z.table != nil}
	values := z.g.Values()
	if v := z.g.Primitive(p); v != 0 {
		r.Value, r.Known, r.Done = values.Ended(v, z.g.ToMove(p)), true, true
		return r
	}
	for _, m := range z.g.Moves(nil, p) {
		move := Move{Move: m}
		if v := z.g.Primitive(m.To); v != 0 {
			move.know(values, values.Ended(v, z.g.ToMove(m.To)))
		} else if v, ok := z.book.Lookup(m.To); ok {
			move.know(values, v)
		}
		r.Moves = append(r.Moves, move)
	}
	if r.Value, r.Book = z.book.Lookup(p); !r.Book {
		return r
	}
	r.Known = true
	r.Line = z.book.Line(p)
	if len(r.Line) > 0 {
		r.Best, r.Done = r.index(r.Line[0]), true
	}
	return r
}

// know records the value of the position that a move leads to.
func (m *Move) know(values game.Values, child game.Value) {
	m.Child, m.Value, m.Known = child, values.Before(child), true
}

// Step continues a report until there is something new to show or ctx ends. It does not
// modify the report passed to it. Meanwhile it calls progress, unless that is nil, about every half
// second with a report that differs only in the work done.
func (z *Analyzer) Step(ctx context.Context, r Report, progress func(Report)) Report {
	z.working.Lock()
	defer z.working.Unlock()
	r.Moves = slices.Clone(r.Moves)
	if r.Table {
		err := z.lookUp(ctx, &r)
		if err == nil {
			return r
		}
		r.Table, r.Trouble = false, err.Error()
	}
	if err := z.search(ctx, &r, progress); err != nil {
		r.Trouble, r.Done = err.Error(), true
	}
	return r
}

// lookUp fills in the report from the table. After an error the report is as before.
func (z *Analyzer) lookUp(ctx context.Context, r *Report) error {
	var line []string
	for c, err := range z.table.Line(r.Position) {
		if err != nil {
			return err
		}
		if line = append(line, c.Name); len(line) == maxLine || ctx.Err() != nil {
			break
		}
	}
	err := z.lookUpMoves(r)
	if err == nil {
		r.Line = line
	}
	return err
}

// lookUpMoves is lookUp without best play.
func (z *Analyzer) lookUpMoves(r *Report) error {
	v, ok, err := z.table.Lookup(r.Position)
	if err == nil && !ok {
		err = fmt.Errorf("position %q is missing", z.g.AppendText(nil, r.Position))
	}
	if err != nil {
		return err
	}
	choices, err := z.table.Choices(r.Position)
	if err != nil {
		return err
	}
	for i := range r.Moves {
		at := slices.IndexFunc(choices, func(c table.Choice) bool { return c.Name == r.Moves[i].Name })
		r.Moves[i].know(z.g.Values(), choices[at].Value)
	}
	r.Value, r.Known, r.Done = v, true, true
	r.Best = r.index(choices[0].Name)
	return nil
}

// index returns the index of the move of that name; -1 if there is none.
func (r *Report) index(name string) int {
	return slices.IndexFunc(r.Moves, func(m Move) bool { return m.Name == name })
}

// search continues the search until there is something to report.
func (z *Analyzer) search(ctx context.Context, r *Report, progress func(Report)) error {
	var report func(uint64, time.Duration)
	if progress != nil {
		report = func(nodes uint64, spent time.Duration) {
			now := *r
			now.Moves = slices.Clone(r.Moves)
			now.Nodes += nodes
			now.Time += spent
			progress(now)
		}
	}
	if err := z.prepare(); err != nil {
		return err
	}
	for begun := time.Now(); !r.Done && ctx.Err() == nil && time.Since(begun) < reportEvery; {
		if err := z.searchOnce(ctx, r, report); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the searcher, if there is none yet.
func (z *Analyzer) prepare() (err error) {
	if z.searcher == nil {
		z.searcher, err = search.New(z.g, z.options)
	}
	return err
}

// searchOnce searches the position, or the position after one move. It calls report, unless that is
// nil, with the work done so far.
func (z *Analyzer) searchOnce(ctx context.Context, r *Report, report func(uint64, time.Duration)) error {
	at, l := r.next, limit(r.round)
	l.Report = report
	if r.next++; r.next == len(r.Moves) {
		r.next, r.round = -1, r.round+1
	}
	found := r.Best
	switch {
	case at < 0 && (!r.Known || r.Book || r.again):
		s, err := z.searcher.Search(ctx, r.Position, l)
		if err != nil {
			return err
		}
		if r.take(s) {
			found = r.index(s.Line[0].Name)
		}
	case at >= 0 && !r.Moves[at].Known:
		m := &r.Moves[at]
		l.Bare = true
		s, err := z.searcher.Search(ctx, m.To, l)
		if err != nil {
			return err
		}
		r.add(s)
		if s.Exact {
			m.know(z.g.Values(), s.Value)
			m.Open = s.Weak
		} else if s.Depth >= m.Depth && s.Depth > 0 {
			m.Score, m.Depth = s.Score, s.Depth+1
			if z.g.Values().OfMover || z.g.ToMove(m.To) != z.g.ToMove(r.Position) {
				m.Score = -s.Score
			}
		}
	}
	z.conclude(r, found)
	return nil
}

// take records the result of a search of the position, and reports whether it did: it does not if
// the search was interrupted and is less deep than an earlier one, or if it proves nothing and a
// value is proven.
func (r *Report) take(s search.Result) (taken bool) {
	if r.add(s); !s.Exact && !s.Weak && (r.again || s.Depth < r.Depth) {
		return false
	}
	r.Line = nil
	for _, m := range s.Line {
		r.Line = append(r.Line, m.Name)
	}
	inBook := r.Value
	// If only the winner is proven, Exact is not set but Weak is.
	r.Worth, r.again = Worth{s.Value, s.Exact || s.Weak, s.Weak, s.Score, s.Depth}, !s.Exact && s.Weak
	if r.Book = r.Book && !s.Exact; r.Book { // the value stays that of the book
		r.Value, r.Known, r.Open, r.again = inBook, true, false, false
	}
	return true
}

// add adds the work of a search.
func (r *Report) add(s search.Result) {
	r.Nodes += s.Nodes
	r.Time += s.Time
}

func limit(round int) search.Limit {
	l := search.Limit{Time: firstLimit}
	for range round {
		l.Time *= searchGrows
	}
	return l
}

// conclude derives the value and the best move of a position from what is known of it and
// of its moves. found is the best move that a search of the position has found; -1: none.
func (z *Analyzer) conclude(r *Report, found int) {
	open := !r.Known || r.again // no search has proven the value
	best, all := z.bestKnown(r)
	wins := best >= 0 && z.is(r, best) == game.Wins
	inBook := best >= 0 && r.Book && r.Moves[best].Value == r.Value && !r.Moves[best].Open
	switch r.Best = found; {
	case all || open && wins || inBook:
		if !z.equals(r, found, best) {
			r.Best = best
		}
	case open && found >= 0 && r.Moves[found].Known && z.is(r, found) == game.Loses:
		r.Best = -1
		r.Best = r.Order(z.g)[0]
	}
	if r.Best >= 0 && r.Best != found {
		r.Line = []string{r.Moves[r.Best].Name}
	}
	r.limitScores()
	// A position whose value no search has proven has that of its best move if all moves are known,
	// or if that move wins. Then another move may win sooner, so the remoteness is open, and the
	// position is searched again.
	if open && (all || wins) {
		r.Value, r.Known, r.Open, r.again = r.Moves[r.Best].Value, true, !all || r.Moves[r.Best].Open, !all
	}
	r.Done = r.Known && all || r.round == rounds
}

// is returns the result of a move whose value is known, for the player who makes it.
func (z *Analyzer) is(r *Report, move int) game.Result {
	return ResultOf(z.g, r.Position, r.Moves[move].Value)
}

// bestKnown returns the best of the moves whose values are known, -1 if there is none, and whether
// the values of all moves are known.
func (z *Analyzer) bestKnown(r *Report) (best int, all bool) {
	values, mover := z.g.Values(), z.g.ToMove(r.Position)
	best, all = -1, true
	for i, m := range r.Moves {
		if !m.Known {
			all = false
		} else if best < 0 || values.Better(mover, m.Child, r.Moves[best].Child) {
			best = i
		}
	}
	return best, all
}

// equals reports whether the move that a search has found is, as far as is known, as good as the best
// known move. In that case conclude keeps it.
func (z *Analyzer) equals(r *Report, found, best int) bool {
	return found >= 0 && r.Moves[found].Known && r.Moves[found].Open && z.is(r, found) == z.is(r, best)
}

// limitScores limits the evaluations of the moves by that of the position.
func (r *Report) limitScores() {
	for i := range r.Moves {
		switch m := &r.Moves[i]; {
		case m.Known || r.Depth == 0:
		case i == r.Best: // the value of the search that chose it, also after a deeper search of this move alone
			m.Score, m.Depth = r.Score, r.Depth
		default: // that search has found no better move
			m.Score = min(m.Score, r.Score)
		}
	}
}

// ResultOf returns the result of a value for the player to move at p.
func ResultOf(g game.Game, p game.Position, v game.Value) game.Result {
	if g.Values().OfMover {
		return game.Result(v.Outcome())
	}
	return v.Outcome().For(g.ToMove(p))
}

// Close waits until the current step has ended. The analyzer must not be used after it.
func (z *Analyzer) Close() { z.working.Lock() }

// AllValues is Begin with the values of all moves: from the table, without best play, or as far as a search finds them within a
// time. If the table fails, it does not search, because that might not find the same.
func (z *Analyzer) AllValues(ctx context.Context, p game.Position, limit time.Duration) (r Report, err error) {
	r = z.Begin(p)
	if z.table != nil && !r.Done {
		err = z.lookUpMoves(&r)
	}
	for begun := time.Now(); err == nil && !r.Done && time.Since(begun) < limit; err = context.Cause(ctx) {
		r = z.Step(ctx, r, nil)
	}
	return r, err
}

// Order returns the indices of the moves, the best first as far as is known: the best move of the
// report, with which its line begins; then proven wins, evaluations that are not negative, ties,
// draws, negative evaluations and losses; at the end moves of which nothing is known.
func (r Report) Order(g game.Game) []int {
	values, mover := g.Values(), g.ToMove(r.Position)
	class := func(m Move) int {
		switch {
		case m.Known:
			return [...]int{game.Wins: 6, game.Ties: 4, game.Draws: 3, game.Loses: 1}[ResultOf(g, r.Position, m.Value)]
		case m.Depth == 0:
			return 0
		case m.Score >= 0:
			return 5
		}
		return 2
	}
	order := make([]int, len(r.Moves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := r.Moves[i], r.Moves[j]
		switch c := class(b) - class(a); {
		case i == r.Best:
			return -1
		case j == r.Best:
			return 1
		case c != 0:
			return c
		case !a.Known:
			return b.Score - a.Score
		case values.Better(mover, a.Child, b.Child):
			return -1
		case values.Better(mover, b.Child, a.Child):
			return 1
		}
		return 0
	})
	return order
}

// IsMistake reports whether a move at p is known to give a result away, by the values of p and of the position after it.
func IsMistake(g game.Game, p game.Position, before, after Worth) bool {
	return before.Known && after.Known && Worse(ResultOf(g, p, g.Values().Before(after.Value)), ResultOf(g, p, before.Value))
}

// Worse reports whether a player prefers the result b to a.
func Worse(a, b game.Result) bool {
	rank := [...]int{game.Wins: 3, game.Ties: 2, game.Draws: 1, game.Loses: 0}
	return rank[a] < rank[b]
}
