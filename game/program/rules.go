package program

import (
	"bytes"
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
	processes chan *process // those that answer no question; nil: one that may be started

	mu    sync.Mutex
	kept  map[game.Position]answer // to single questions
	shape [2]int                   // rows and cells of pictures
}

var _ game.Batched = (*rules)(nil)

// A tiered is rules with tiers.
type tiered struct{ *rules }

var _ game.Acyclic = (*tiered)(nil)

func (g *tiered) Tiers() int                        { return g.tiers }
func (g *tiered) Tier(p game.Position) int          { return g.tier(p) }
func (g *rules) Spec() string                       { return g.spec }
func (g *rules) KeyBits() uint                      { return g.bits }
func (g *rules) Start() game.Position               { return g.start }
func (g *rules) ToMove(p game.Position) game.Player { return g.answer(p).mover }

func (g *rules) Info() game.Info {
	info := game.Info{Title: g.title, Rules: g.rules, Hashes: g.most + 1} // 0 for all of 64 bits, as it should be
	if info.Rules != "" {
		info.Rules += "\n"
	}
	if info.Title == "" {
		info.Title = strings.Join(append([]string{g.name}, g.words()...), " ")
	}
	return info
}

func (g *rules) Values() game.Values {
	vs := game.Values{OfMover: g.tiers < 0 || g.players == nil, TiesSoon: !g.tiesLate, Puzzle: g.puzzle}
	copy(vs.Players[:], g.players)
	return vs
}

func (g *rules) Primitive(p game.Position) game.Value { return g.answer(p).end() }

// end returns the value of a terminal position, otherwise 0.
func (a answer) end() game.Value {
	switch a.result {
	case game.Wins:
		return game.NewValue(game.WinFor(a.mover), 0)
	case game.Loses:
		return game.NewValue(game.WinFor(a.mover.Other()), 0)
	case game.Ties:
		return game.NewValue(game.Tie, 0)
	}
	return 0
}

func (g *rules) Moves(dst []game.Move, p game.Position) []game.Move {
	return append(dst, g.answer(p).moves...)
}

// Check asks the program whether it knows the position.
func (g *rules) Check(p game.Position) error {
	if p > g.most {
		return fmt.Errorf("position %d: expected a number up to %d", p, g.most)
	}
	_, err := g.ask(p)
	if r := (refusal{}); errors.As(err, &r) {
		return fmt.Errorf("position %d: %w", p, r)
	}
	g.check(err)
	return nil
}

// check ends the command that has asked if there is an error.
func (g *rules) check(err error) {
	if err == nil {
		return
	}
	if g.program.o.Fail != nil {
		g.program.o.Fail(err)
	}
	panic(err)
}

// answer returns the answer for one position.
func (g *rules) answer(p game.Position) answer {
	a, err := g.ask(p)
	g.check(err)
	return a
}

// ask asks for one position, unless the answer is known.
func (g *rules) ask(p game.Position) (answer, error) {
	g.mu.Lock()
	a, ok := g.kept[p]
	g.mu.Unlock()
	if ok {
		return a, nil
	}
	var refused error
	err := g.one(strconv.AppendUint(nil, p, 10), func(line []byte) (err error) {
		a, err = g.parse(line, p, nil, true)
		if r := (refusal{}); errors.As(err, &r) { // the program is well
			refused = fmt.Errorf("rules program %q: position %d: %w", g.program.command, p, r)
			return nil
		}
		if err == nil {
			err = byName(a.moves)
		}
		return err
	})
	if err = cmp.Or(err, refused); err != nil {
		return a, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.kept) >= mostKept {
		clear(g.kept)
	}
	g.kept[p] = a
	return a, nil
}

// byName sorts moves by their names, of which each may occur once.
func byName(moves []game.Move) error {
	slices.SortFunc(moves, func(a, b game.Move) int { return strings.Compare(a.Name, b.Name) })
	for i := range moves {
		if i > 0 && moves[i].Name == moves[i-1].Name {
			return fmt.Errorf("two moves have the name %s", moves[i].Name)
		}
	}
	return nil
}

// one asks one question.
func (g *rules) one(question []byte, do func(line []byte) error) error {
	text := string(question)
	return g.with(func(p *process) error {
		return p.ask(append(question, '\n'), 1, func(int) string { return "question " + strconv.Quote(text) },
			func(_ int, line []byte) error { return do(line) })
	})
}

// with calls do with a process that answers no other question.
func (g *rules) with(do func(p *process) error) error {
	p := <-g.processes
	err := g.program.open()
	if err == nil && p == nil {
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

// Batch implements game.Batched.
func (g *rules) Batch(ps []game.Position) (game.Game, error) {
	tiers := g.tiers >= 0
	b := &batch{rules: g, ps: ps, answers: make([]brief, 0, len(ps)), moves: make([]game.Position, 0, 8*len(ps))}
	questions := make([]byte, 0, 12*len(ps))
	for _, p := range ps {
		questions = append(strconv.AppendUint(questions, p, 10), '\n')
	}
	return b, g.with(func(process *process) error {
		return process.ask(questions, len(ps), func(i int) string { return fmt.Sprintf("position %d", ps[i]) }, func(i int, line []byte) error {
			a, err := g.parse(line, ps[i], process.moves[:0], false)
			for _, m := range a.moves {
				b.moves = append(b.moves, m.To)
			}
			if a.moves != nil {
				process.moves = a.moves
			}
			if !tiers { // the engine, for which values are those of the mover, does not need the player
				a.mover = game.First
			}
			b.answers = append(b.answers, brief{a.mover, a.result, len(b.moves)})
			return err
		})
	})
}

// A batch is rules with the answers for some positions.
type batch struct {
	*rules
	ps      []game.Position
	at      int // the position that was asked for last
	answers []brief
	moves   []game.Position // where they lead to
}

// A brief is an answer; its moves end at the given place.
type brief struct {
	mover  game.Player
	result game.Result
	end    int
}

// find returns the number of a position; ok is false if it is none of the batch.
func (b *batch) find(p game.Position) (i int, ok bool) {
	switch i = b.at; {
	case i < len(b.ps) && b.ps[i] == p:
	case i+1 < len(b.ps) && b.ps[i+1] == p:
		i++
	default:
		if i, ok = slices.BinarySearch(b.ps, p); !ok {
			return 0, false
		}
	}
	b.at = i
	return i, true
}

// answered returns the answer for a position, without the moves.
func (b *batch) answered(p game.Position) answer {
	i, ok := b.find(p)
	if !ok {
		return b.answer(p)
	}
	return answer{mover: b.answers[i].mover, result: b.answers[i].result}
}

// Check knows that the positions of the batch are positions: the program has answered.
func (b *batch) Check(p game.Position) error {
	if _, ok := b.find(p); ok {
		return nil
	}
	return b.rules.Check(p)
}

func (b *batch) Primitive(p game.Position) game.Value { return b.answered(p).end() }
func (b *batch) ToMove(p game.Position) game.Player   { return b.answered(p).mover }
func (b *batch) Moves(dst []game.Move, p game.Position) []game.Move {
	i, ok := b.find(p)
	if !ok {
		return b.rules.Moves(dst, p)
	}
	first := 0
	if i > 0 {
		first = b.answers[i-1].end
	}
	for _, to := range b.moves[first:b.answers[i].end] {
		dst = append(dst, game.Move{To: to})
	}
	return dst
}

// AppendText returns the text of the program, or the number of a position.
func (g *rules) AppendText(dst []byte, p game.Position) []byte {
	if !g.text {
		return strconv.AppendUint(dst, p, 10)
	}
	g.check(g.one(strconv.AppendUint([]byte("text "), p, 10), func(line []byte) error {
		if len(line) == 0 || bytes.HasPrefix(line, []byte("error ")) {
			return errors.New("expected the position as text")
		}
		dst = append(dst, line...)
		return nil
	}))
	return dst
}

func (g *rules) Parse(text string) (p game.Position, err error) {
	if !g.text {
		p, ok := number([]byte(text), g.most)
		if !ok {
			return 0, fmt.Errorf("expected a position, a number up to %d", g.most)
		}
		return p, g.Check(p)
	}
	if strings.ContainsAny(text, "\r\n") {
		return 0, errors.New("expected one line")
	}
	g.check(g.one([]byte("parse "+text), func(line []byte) error {
		if text, ok := bytes.CutPrefix(line, []byte("error ")); ok {
			err = errors.New(string(text))
			return nil
		}
		var ok bool
		if p, ok = number(line, g.most); !ok {
			return fmt.Errorf("expected a number up to %d, or error", g.most)
		}
		return nil
	}))
	if err == nil {
		err = g.Check(p)
	}
	return p, err
}

// Picture returns the cells of the program's picture, or one cell with the text of the position. All pictures of a game
// have the same numbers of rows and cells.
func (g *rules) Picture(p game.Position) (pic game.Picture) {
	if !g.picture {
		return game.Picture{Rows: [][]game.Square{{{Text: string(g.AppendText(nil, p))}}}}
	}
	g.check(g.one(strconv.AppendUint([]byte("picture "), p, 10), func(line []byte) error {
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
	}))
	return pic
}
