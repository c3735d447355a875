package step

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// The names of the steps of a game with cycles, in the order in which they run. Solve and
// Final have the same names as in a tiered game. Each step except the first and the last is
// repeated, one pass each time, until a pass changes nothing.
const (
	Create = "create" // marks the initial position as reached
	Mark   = "mark"   // finds the successors of the frontier
	Begin  = "begin"  // receives the values from later tiers, in a tier with inner moves
	Values = "values" // sends the values of a tier with inner moves to earlier ones
	Ties   = "ties"   // finds the predecessors of ties in the frontier (Solve: of wins, losses)
)

// CyclicNames lists the steps of a game with cycles in the order in which they run.
func CyclicNames() []string { return []string{Create, Mark, Solve, Ties, Final} }

// After returns the step and number of the pass that follows the given one: the next pass
// of the same step if it found new positions, else the first pass of the next step. Create
// has only one pass.
func After(name string, number int, found bool) (next string, n int) {
	names := CyclicNames()
	i := slices.Index(names, name) + 1
	if found && name != Create || i == len(names) {
		return name, number + 1
	}
	return names[i], 1
}

// NamesOf lists the steps of a game in the order in which they run.
func NamesOf(m game.Method) []string {
	switch {
	case m.States != nil:
		return CyclicNames()
	case m.Layers != nil && !game.IsAcyclic(m.Layers):
		return []string{Init, Possible, Mark, Begin, Solve, Ties, Values, Final}
	}
	return Names()
}

// AllNames lists the steps of all games, each once.
func AllNames() []string { return append(Names(), Mark, Begin, Ties, Values) }

// IsForward reports whether a step belongs to the forward pass, from positions to their
// successors.
func IsForward(step string) bool { return step == Create || step == Mark }

// A Pass is the map and the reduce of one pass over a game with cycles, on whole ranges.
// The messages that Map sends to a range are collected in a block.Inbox, by one mapper or
// several, in any order. Reduce is called once for each range that received messages. A
// Pass reuses its memory and serves one goroutine.
//
// Some games cannot compute the predecessors of a position. For them, Reduce stores the
// outgoing edges of each new position with StoreEdges, and Map reads them in the retrograde
// passes with Moves.
type Pass struct {
	// Messages is the number of edges to successors that Map has emitted in Mark.
	Messages int64
	// StoreEdges, if it is not nil, is called with the moves of each new position in Create and Mark,
	// one for each successor.
	StoreEdges func(from game.Position, moves []game.Move) error
	// Moves contains the stored edges. Solve and Ties need it if the game cannot compute
	// predecessors.
	Moves Moves

	g      game.Cyclic
	mover  game.Mover
	step   string
	number int
	ranges uint64 // in the game
	shown  bool   // turns must alternate, and positions show them
	turns  bool   // they do, and are computed many at once
	set    block.Set
	fresh  block.Set

	// The following fields are for games that cannot compute predecessors.

	moves     []game.Move
	found     []game.Position // predecessors or successors
	sets      *game.Sets
	slots     []uint32
	positions []game.Position
}

// Moves are the edges of a game with cycles, indexed by successor.
type Moves interface {
	// Predecessors calls do with the predecessor of each edge into the set to, whose first slot
	// is position first.
	Predecessors(first game.Position, to block.Set, do func(predecessor game.Position)) error
}

// NewPass returns pass number (from 1) of a step: Create, Mark, Solve or Ties. Positions
// that it decides in Solve or Ties have the remoteness number.
func NewPass(g game.Cyclic, step string, number int) *Pass {
	words, shown := block.Words(g.RangeSize()), game.MustAlternate(g)
	return &Pass{g: g, mover: g.NewMover(), step: step, number: number, ranges: game.Ranges(g),
		set: make(block.Set, words), fresh: make(block.Set, words), sets: game.NewSets(g), shown: shown, turns: shown && game.IsBatched(g)}
}

// StoresEdges reports whether the reduce of a step of a game must store edges with Pass.StoreEdges.
func StoresEdges(g game.Cyclic, step string) bool { return IsForward(step) && !game.KnowsBackward(g) }

// NeedsMoves reports whether the map of a step of a game needs Pass.Moves.
func NeedsMoves(g game.Cyclic, step string) bool {
	return (step == Solve || step == Ties) && !game.KnowsBackward(g)
}

// MapStart is the map of Create: it sends a message to the initial position.
func (p *Pass) MapStart(send func(rng uint64, set block.Set, counted bool)) {
	p.sets.Send([]game.Position{p.g.Start()}, func(rng uint64, to block.Set) { send(rng, to, false) })
}

// Map sends the messages of the new positions of a range. In Mark, open positions send a
// message to their successors, which are thereby reached. In Solve and Ties, decided
// positions send a message to their predecessors. A message from a lost position or a tie
// counts once, however often it is received (block.Inbox.Some); messages from won positions
// are counted (block.Inbox.Times).
func (p *Pass) Map(rng uint64, from *block.State, send func(rng uint64, set block.Set, counted bool)) error {
	set := p.set[:len(from.Reached)]
	if p.step == Mark {
		if from.Open(set); set.Empty() {
			return nil
		}
		var wrong error
		err := p.successors(rng, set, func(to uint64, successors block.Set) {
			if beyond, ok := p.beyond(to, successors); ok && wrong == nil {
				wrong = fmt.Errorf("a move of a position of range %#x leads to %s, expected one below %s", rng, game.Key(p.g, beyond), game.Key(p.g, p.g.Positions()))
			}
			if wrong != nil {
				return
			}
			p.Messages += int64(successors.Count())
			send(to, successors, false)
		})
		return cmp.Or(err, wrong)
	}
	results := []game.Result{game.Loses, game.Wins}
	if p.step == Ties {
		results = []game.Result{game.Ties}
	}
	for _, result := range results {
		if from.With(set, uint8(result)); set.Empty() {
			continue
		}
		counted := result == game.Wins
		if err := p.toPredecessors(rng, set, func(rng uint64, to block.Set) { send(rng, to, counted) }); err != nil {
			return err
		}
	}
	return nil
}

// successors emits the successors of a set of positions that are not terminal, as a Mover does.
func (p *Pass) successors(rng uint64, from block.Set, emit func(to uint64, successors block.Set)) error {
	if _, ok := p.mover.(game.Backward); ok {
		p.mover.Successors(rng, from, emit)
		return nil
	}
	p.found = p.found[:0]
	err := p.each(rng, from, func(g game.Game, at game.Position, _ int) error {
		p.moves = game.DistinctMoves(g.Moves(p.moves[:0], at))
		for _, m := range p.moves {
			p.found = append(p.found, m.To)
		}
		return nil
	})
	if err == nil {
		p.sets.Send(p.found, emit)
	}
	return err
}

// beyond returns the first position of a set that is not below Positions, and whether there
// is one.
func (p *Pass) beyond(rng uint64, set block.Set) (game.Position, bool) {
	n := 0
	if rng < p.ranges {
		n = game.RangeLen(p.g, rng)
	}
	if words := n >> 6; words == len(set) || len(set) == words+1 && set[words]>>(n&63) == 0 {
		return 0, false
	}
	for slot := range set.All() {
		if slot >= n {
			return rng*uint64(p.g.RangeSize()) + uint64(slot), true
		}
	}
	return 0, false
}

// predecessorsAtOnce is the number of predecessors that are collected before messages are sent
// to them.
const predecessorsAtOnce = 1 << 16

// toPredecessors calls send with the predecessors of a set of positions.
func (p *Pass) toPredecessors(rng uint64, to block.Set, send func(rng uint64, from block.Set)) error {
	if b, ok := p.mover.(game.Backward); ok {
		var err error
		b.Predecessors(rng, to, func(from uint64, predecessors block.Set) {
			if beyond, ok := p.beyond(from, predecessors); ok && err == nil {
				err = fmt.Errorf("a predecessor of a position of range %#x is %s, expected one below %s", rng, game.Key(p.g, beyond), game.Key(p.g, p.g.Positions()))
			}
			if err == nil {
				send(from, predecessors)
			}
		})
		return err
	}
	p.found = p.found[:0]
	flush := func() {
		p.sets.Send(p.found, send)
		p.found = p.found[:0]
	}
	err := p.Moves.Predecessors(rng*uint64(p.g.RangeSize()), to, func(predecessor game.Position) {
		if p.found = append(p.found, predecessor); len(p.found) >= predecessorsAtOnce {
			flush()
		}
	})
	flush()
	return err
}

// Reduce updates the state of a range with the received messages, and makes fresh the
// frontier: in Create and Mark the newly reached positions, those that are terminal with
// their value; in Solve and Ties the newly decided positions. It reports whether the state
// has changed.
func (p *Pass) Reduce(rng uint64, s *block.State, h *block.Inbox, fresh *block.State) (changed bool, err error) {
	n := game.RangeLen(p.g, rng)
	fresh.Reset(n)
	switch p.step {
	case Create, Mark:
		copy(fresh.Reached, h.Some)
		fresh.Reached.Subtract(s.Reached)
		if p.turns {
			err = p.alternate(rng, s, h.Some, fresh.Reached)
		}
		if err == nil {
			err = p.reach(rng, s, fresh)
		}
	case Solve:
		return p.solve(rng, s, h, fresh)
	case Ties:
		open := p.set[:len(s.Reached)]
		s.Open(open)
		open.Intersect(open, h.Some)
		err = p.decide(game.Ties, open, s, fresh)
	}
	return !fresh.Reached.Empty(), err
}

// turn returns the player to move in the positions that receive messages in Create or Mark, if turns alternate: all
// of them are as many moves from the initial position as the number of the pass.
func (p *Pass) turn() game.Player {
	if p.step == Create {
		return game.First
	}
	return game.Player(p.number & 1)
}

// alternate checks that the positions that receive messages and were reached before were reached in an odd number of
// moves then too, or in an even one, and remembers which it is for the fresh ones.
func (p *Pass) alternate(rng uint64, s *block.State, received, fresh block.Set) error {
	s.MakeOdd()
	again := p.set[:len(received)]
	again.Intersect(received, s.Reached)
	if p.turn() == game.Second {
		again.Subtract(s.Odd)
		s.Odd.Union(fresh)
	} else {
		again.Intersect(again, s.Odd)
	}
	if again.Empty() {
		return nil
	}
	return &TurnError{Game: p.g, To: rng*uint64(p.g.RangeSize()) + uint64(again.Append(nil)[0])}
}

// UseTiers is the advice in an error of a game that only tiers would make possible: resumed, a run fails again.
const UseTiers = "use tiers, see docs/rules.md"

// A TurnError is the error of a game without tiers in which a player moves twice in a row.
type TurnError struct {
	Game game.Game
	To   game.Position // after the first of these moves
	From game.Position // before it
	Move string        // its name; "": it and From are not known
}

func (e *TurnError) Error() string {
	after := "after a move to position " + game.Key(e.Game, e.To)
	if e.Move != "" {
		after = fmt.Sprintf("position %s: after move %s, to %s,", game.Key(e.Game, e.From), e.Move, game.Key(e.Game, e.To))
	}
	return after + " it is the same player's turn: turns must alternate in a game without tiers (" + UseTiers + ")"
}

// reach adds the newly reached positions to the state: terminal positions with their
// result, the others with their number of moves. It also stores the outgoing edges if
// StoreEdges is not nil.
func (p *Pass) reach(rng uint64, s, fresh *block.State) error {
	s.Reached.Union(fresh.Reached)
	if p.StoreEdges != nil {
		return p.reachStoring(rng, s, fresh)
	}
	open := p.fresh[:len(s.Reached)]
	copy(open, fresh.Reached)
	of := p.set[:len(s.Reached)]
	copy(of, open)
	p.mover.Finished(rng, of, func(result game.Result, set block.Set) {
		s.Decide(uint8(result), 0, set)
		fresh.Decide(uint8(result), 0, set)
		open.Subtract(set)
	})
	p.mover.CountMoves(rng, open, &s.Number)
	s.Number.Zero(of, open)
	if wrong := of.Append(nil); len(wrong) > 0 {
		from := rng*uint64(p.g.RangeSize()) + uint64(wrong[0])
		return p.wrongMoves(from, len(p.g.Moves(nil, from)), "moves")
	}
	return nil
}

// wrongMoves returns the error of a position that has no moves but is not terminal, or more of
// them than a block.Counter can count.
func (p *Pass) wrongMoves(from game.Position, n int, what string) error {
	return fmt.Errorf("position %s is not terminal, and has %d %s: expected 1 to %d", game.Key(p.g, from), n, what, block.MaxCount)
}

// reachStoring does the part of reach that concerns the fresh positions, and stores their outgoing edges.
func (p *Pass) reachStoring(rng uint64, s, fresh *block.State) error {
	var ended [game.Ties + 1]block.Set
	err := p.each(rng, fresh.Reached, func(g game.Game, at game.Position, slot int) error {
		if p.turns && g.ToMove(at) != p.turn() {
			if p.step == Create {
				return errors.New("player 2 moves in the initial position, expected player 1")
			}
			return &TurnError{Game: p.g, To: at}
		}
		end := g.Primitive(at)
		if end == 0 {
			return p.storeEdges(g, at, slot, &s.Number)
		}
		set := &ended[end.Outcome().For(g.ToMove(at))]
		if *set == nil {
			*set = make(block.Set, len(s.Reached))
		}
		set.Add(slot)
		return nil
	})
	for result, set := range ended {
		if set != nil {
			s.Decide(uint8(result), 0, set)
			fresh.Decide(uint8(result), 0, set)
		}
	}
	return err
}

// each calls do with each position of a set, and with the game that has the position computed.
func (p *Pass) each(rng uint64, of block.Set, do func(g game.Game, at game.Position, slot int) error) error {
	p.slots = of.Append(p.slots[:0])
	for slots := range slices.Chunk(p.slots, game.BatchSize) {
		p.positions = p.positions[:0]
		for _, slot := range slots {
			p.positions = append(p.positions, rng*uint64(p.g.RangeSize())+uint64(slot))
		}
		g, err := game.BatchOf(p.g, p.positions)
		if err != nil {
			return err
		}
		for i, at := range p.positions {
			if err := do(g, at, int(slots[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// storeEdges counts and stores the outgoing edges of a position that is not terminal.
func (p *Pass) storeEdges(g game.Game, from game.Position, slot int, into *block.Counter) error {
	p.moves = game.DistinctMoves(g.Moves(p.moves[:0], from))
	if n := len(p.moves); n == 0 || n > block.MaxCount {
		return p.wrongMoves(from, n, "successors")
	}
	into.Put(slot, len(p.moves))
	mover, positions := g.ToMove(from), p.g.Positions()
	for _, m := range p.moves {
		switch {
		case m.To >= positions:
			return fmt.Errorf("a move of position %s leads to %s, expected one below %s", game.Key(p.g, from), game.Key(p.g, m.To), game.Key(p.g, positions))
		case !p.turns && (mover == game.Second || p.shown) && g.ToMove(m.To) == mover: // otherwise alternate finds it
			return &TurnError{p.g, m.To, from, cmp.Or(m.Name, "?")}
		}
	}
	return p.StoreEdges(from, p.moves)
}

// solve decides wins before losses: a position with a lost successor is won, whatever its
// other successors are. Each message from a won successor lowers the number of undecided
// moves, and a position with none left is lost.
func (p *Pass) solve(rng uint64, s *block.State, h *block.Inbox, fresh *block.State) (changed bool, err error) {
	open, set := p.fresh[:len(s.Reached)], p.set[:len(s.Reached)]
	s.Open(open)
	set.Intersect(open, h.Some)
	if err := p.decide(game.Wins, set, s, fresh); err != nil {
		return false, err
	}
	changed = !set.Empty()
	open.Subtract(set)
	clear(set)
	for _, plane := range h.Times {
		set.Union(plane)
	}
	open.Intersect(open, set) // only these counts change; all others are above 0
	if !s.Number.SubCounter(&h.Times, open) {
		return false, fmt.Errorf("range %#x: a position has more successors that are won than moves", rng)
	}
	changed = changed || !open.Empty()
	s.Number.Zero(set, open)
	return changed, p.decide(game.Loses, set, s, fresh)
}

// decide gives positions a result, with the number of the pass as remoteness.
func (p *Pass) decide(result game.Result, of block.Set, s, fresh *block.State) error {
	if of.Empty() {
		return nil
	}
	if p.number > game.MaxByteRemoteness {
		return fmt.Errorf("a position is decided in %d moves: at most %d are provided for in a game without tiers (%s)", p.number, game.MaxByteRemoteness, UseTiers)
	}
	s.Decide(uint8(result), p.number, of)
	fresh.Reached.Union(of)
	fresh.Decide(uint8(result), p.number, of)
	return nil
}

// CyclicBorders returns the first ranges of n partitions of a game with cycles. They ascend
// strictly; if the game has fewer ranges than n, each range is a partition.
func CyclicBorders(g game.Cyclic, n int) []uint64 {
	n = int(min(uint64(n), game.Ranges(g)))
	borders := make([]uint64, n)
	for i := range borders {
		borders[i] = Portion(game.Ranges(g), i, n)
	}
	return borders
}
