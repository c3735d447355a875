package program

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/game"
)

// rules is a game whose rules are a program.
type rules struct {
	*header
	program   *Program
	spec      string
	processes chan *process // those that answer no question; nil: one that is to be started again

	mu    sync.Mutex
	more  int                      // how many other processes may be started
	kept  map[game.Position]answer // to single questions
	bytes int                      // of the answers that are kept
	shape [2]int                   // rows and cells of pictures
}

// An answer is the answer to the question for a position.
type answer struct {
	standing
	moves   []game.Move // by name
	refused error       // why this is not a position; nil: it is one
}

var _ game.Batched = (*rules)(nil)

// A tiered is rules with tiers.
type tiered struct{ *rules }

var _ game.Tiered = (*tiered)(nil)

func (g *tiered) Tiers() int                        { return g.tiers }
func (g *tiered) Tier(p game.Position) int          { return g.tier(p) }
func (g *tiered) Loops(tier int) bool               { return g.allLoop || g.loops[tier] }
func (g *rules) Spec() string                       { return g.spec }
func (g *rules) KeyBits() uint                      { return g.bits }
func (g *rules) Start() game.Position               { return g.start }
func (g *rules) ToMove(p game.Position) game.Player { return g.answer(p).mover }

func (g *rules) Info() game.Info {
	title := cmp.Or(g.title, strings.Join(append([]string{g.name}, g.words()...), " "))
	info := game.Info{Title: title, Rules: g.rules, Hashes: g.most + 1, Decimal: true} // Hashes is 0 for all of 64 bits, as it should be
	if info.Rules != "" {
		info.Rules += "\n"
	}
	return info
}

func (g *rules) Values() game.Values {
	vs := game.Values{OfMover: g.players == nil, TiesSoon: !g.tiesLate, Puzzle: g.puzzle}
	copy(vs.Players[:], g.players)
	return vs
}

func (g *rules) Primitive(p game.Position) game.Value { return g.answer(p).value() }

func (g *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	return append(dst, g.answer(p).moves...)
}

// Check asks the program whether it knows the position.
func (g *rules) Check(p game.Position) error {
	if p > g.most {
		return fmt.Errorf("position %d: expected a number up to %d", p, g.most)
	}
	return g.ask(p).refused
}

// fail ends the command that has asked.
func (g *rules) fail(err error) {
	if g.program.o.Fail != nil {
		g.program.o.Fail(err)
	}
	panic(err)
}

// answer returns the answer for a position that the program must know.
func (g *rules) answer(p game.Position) answer {
	a := g.ask(p)
	if a.refused != nil {
		g.fail(fmt.Errorf("rules program %q: %w", g.program.command, a.refused))
	}
	return a
}

// ask asks for one position, unless the answer is known.
func (g *rules) ask(p game.Position) answer {
	g.mu.Lock()
	a, ok := g.kept[p]
	g.mu.Unlock()
	if ok {
		return a
	}
	size := 0
	g.one(strconv.FormatUint(p, 10), func(line []byte) (err error) {
		if refused := refusal(line); refused != nil {
			a.refused = fmt.Errorf("position %d: %w", p, refused)
			return nil
		}
		var to []game.Position
		var names []string
		if a.standing, to, err = g.parse(line, p, nil, &names); err == nil {
			a.moves, err = byName(to, names)
		}
		size = len(line) + bytesOfMove*len(to)
		return err
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bytes += size; len(g.kept) >= mostKept || g.bytes > mostKeptBytes {
		clear(g.kept)
		g.bytes = size
	}
	g.kept[p] = a
	return a
}

// byName returns moves, sorted by their names, of which each may occur once.
func byName(to []game.Position, names []string) (moves []game.Move, err error) {
	for i, p := range to {
		moves = append(moves, game.Move{Name: names[i], To: p})
	}
	slices.SortFunc(moves, func(a, b game.Move) int { return strings.Compare(a.Name, b.Name) })
	for i := range moves {
		if i > 0 && moves[i].Name == moves[i-1].Name {
			return nil, fmt.Errorf("two moves have the name %s", moves[i].Name)
		}
	}
	return moves, nil
}

// one asks one question, and calls do with the answer. An error ends the command.
func (g *rules) one(question string, do func(line []byte) error) {
	err := g.with(func(p *process) error {
		return p.ask([]byte(question+"\n"), 1, func(int) string { return "question " + strconv.Quote(question) },
			func(_ int, line []byte) error { return do(line) })
	})
	if err != nil {
		g.fail(err)
	}
}

// with calls do with a process that answers no other question. If there is none, it starts one more, if it may, and
// takes the first that is ready.
func (g *rules) with(do func(p *process) error) (err error) {
	var p *process
	select {
	case p = <-g.processes:
	default:
		g.mu.Lock()
		if g.more > 0 {
			g.more--
			go func() {
				p, _ := g.program.start(g.words()) // after an error, the next question tries again
				g.processes <- p
			}()
		}
		g.mu.Unlock()
		p = <-g.processes
	}
	if g.program.closed() {
		err = errClosed
	} else if p == nil {
		p, err = g.program.start(g.words())
	}
	if err == nil {
		err = do(p)
	}
	if err != nil {
		p = nil
	}
	g.processes <- p
	return err
}

// renew ends the input of a copy of the program that answers no question, so that it exits: the next question starts
// another one.
func (g *rules) renew() {
	if p := <-g.processes; p != nil {
		p.Stdin.Close()
	}
	g.processes <- nil
}

// Batch implements game.Batched.
func (g *rules) Batch(ps []game.Position) (game.Game, error) {
	b := &batch{rules: g, ps: ps, standings: make([]standing, 0, len(ps)), ends: make([]int, 1, len(ps)+1), moves: make([]game.Position, 0, 8*len(ps))}
	questions := make([]byte, 0, 12*len(ps))
	for _, p := range ps {
		questions = append(strconv.AppendUint(questions, p, 10), '\n')
	}
	return b, g.with(func(process *process) error {
		return process.ask(questions, len(ps), func(i int) string { return fmt.Sprintf("position %d", ps[i]) }, func(i int, line []byte) error {
			if refusal(line) != nil {
				return errors.New("it is refused")
			}
			s, moves, err := g.parse(line, ps[i], b.moves, nil)
			b.standings, b.moves, b.ends = append(b.standings, s), moves, append(b.ends, len(moves))
			return err
		})
	})
}

// A batch is rules with the answers for some positions.
type batch struct {
	*rules
	ps        []game.Position
	at        int // the position that was asked for last
	standings []standing
	moves     []game.Position // where those of position i lead to, from ends[i] to ends[i+1]
	ends      []int
}

// find returns the number of a position; ok is false if it is none of the batch.
func (b *batch) find(p game.Position) (i int, ok bool) {
	if b.at < len(b.ps) && b.ps[b.at] < p {
		b.at++ // mostly, positions are asked for in their order
	}
	if b.at == len(b.ps) || b.ps[b.at] != p {
		b.at, ok = slices.BinarySearch(b.ps, p)
		return b.at, ok
	}
	return b.at, true
}

// standing returns that of a position.
func (b *batch) standing(p game.Position) standing {
	if i, ok := b.find(p); ok {
		return b.standings[i]
	}
	return b.answer(p).standing
}

func (b *batch) Primitive(p game.Position) game.Value { return b.standing(p).value() }
func (b *batch) ToMove(p game.Position) game.Player   { return b.standing(p).mover }
func (b *batch) Moves(dst []game.Move, p game.Position) []game.Move {
	i, ok := b.find(p)
	if !ok {
		return b.rules.Moves(dst, p)
	}
	for _, to := range b.moves[b.ends[i]:b.ends[i+1]] {
		dst = append(dst, game.Move{To: to})
	}
	return dst
}

// AppendText returns the text of the program, or the number of a position.
func (g *rules) AppendText(dst []byte, p game.Position) []byte {
	if !g.text {
		return strconv.AppendUint(dst, p, 10)
	}
	g.one(fmt.Sprint("text ", p), func(line []byte) error {
		if len(line) == 0 || refusal(line) != nil {
			return errors.New("expected the position as text")
		}
		dst = append(dst, line...)
		return nil
	})
	return dst
}

// Parse reads a number, or asks the program for the position of a text.
func (g *rules) Parse(text string) (p game.Position, err error) {
	if !g.text {
		if p, err = between(text, 0, g.most); err != nil {
			return 0, err
		}
		return p, g.Check(p)
	}
	if strings.ContainsAny(text, "\r\n") {
		return 0, errors.New("expected one line")
	}
	var refused error
	g.one("parse "+text, func(line []byte) (err error) {
		if refused = refusal(line); refused == nil {
			p, err = between(string(line), 0, g.most)
		}
		return err
	})
	if refused != nil {
		return 0, refused
	}
	return p, g.Check(p)
}

// Picture returns the cells of the program's picture, with coordinates, or one cell with the text of the position. All
// pictures of a game have the same numbers of rows and cells.
func (g *rules) Picture(p game.Position) (pic game.Picture) {
	if !g.picture {
		return game.Picture{Rows: [][]game.Square{{{Text: string(g.AppendText(nil, p))}}}}
	}
	g.one(fmt.Sprint("picture ", p), func(line []byte) error {
		for row := range strings.SplitSeq(string(line), "/") {
			var squares []game.Square
			for _, cell := range strings.Fields(row) {
				squares = append(squares, game.Square{Text: cell})
			}
			pic.Rows = append(pic.Rows, squares)
		}
		shape := [2]int{len(pic.Rows), len(pic.Rows[0])}
		if slices.ContainsFunc(pic.Rows, func(row []game.Square) bool { return len(row) == 0 || len(row) != shape[1] }) {
			return errors.New("expected rows, separated by /, of as many cells, separated by blanks")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.shape == [2]int{} {
			g.shape = shape
		}
		if g.shape != shape {
			return fmt.Errorf("it has %d rows of %d cells, another picture %d rows of %d: expected the same", shape[0], shape[1], g.shape[0], g.shape[1])
		}
		return nil
	})
	return pic.WithCoordinates()
}
