// Package step is the map and reduce steps: of a tiered game InitFirst,
// PossibleMoves, SolveMoves and FinalMoves, on blocks of sorted records; of a game
// with cycles create, mark, solve and ties, on whole ranges (Pass). Each is written
// once; the runners and the commands of Hadoop Streaming all call it. A step knows
// nothing of where its records come from or where they go.
package step

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
)

// The names of the steps of a tiered game, in the order in which they run.
const (
	Init     = "init"
	Possible = "possible"
	Solve    = "solve"
	Final    = "final"
)

// Names lists the steps of a tiered game in the order in which they run.
func Names() []string { return []string{Init, Possible, Solve, Final} }

// InputTier is the tier that a step reads whose reduce writes a tier: possible goes
// forward, solve back.
func InputTier(step string, tier int) int {
	if step == Solve {
		return tier + 1
	}
	return tier - 1
}

// A Step is the map and the reduce of one job over a tier, on blocks.
//
// A block that Map reads speaks to the ranges that Outputs lists, and a range
// hears from the blocks that Inputs lists; so a runner may push (all that one
// block says) or pull (all that one range hears), as it likes. Who pulls has the
// records that exist at hand: Map, then Reduce. Who pushes has not, and cuts the
// way in two: Expect, Map and Say make a piece, which is sent; Hear adds the
// pieces that came to the records that exist; then Reduce.
type Step interface {
	// Outputs appends the ranges to which a block of the tier that Map reads
	// speaks, Inputs those of the blocks that speak to a range of the tier that
	// Reduce writes.
	Outputs(dst []uint64, tier int, rng uint64) []uint64
	Inputs(dst []uint64, tier int, rng uint64) []uint64
	// OutputTier is the tier to which the blocks of a tier speak.
	OutputTier(tier int) int
	// Map adds to into what from says about it. Called for each of the inputs
	// in any order: it combines.
	Map(from, into *block.Block)
	// Reduce turns what has been added to b into the records of its range.
	Reduce(b *block.Block) error

	// Expect readies an empty block to hear, where the records that exist are
	// not at hand.
	Expect(b *block.Block)
	// Say turns what such a block heard into a piece; with values, they are
	// messages.
	Say(b *block.Block)
	// Hear adds a piece to b.
	Hear(piece, b *block.Block) error
}

// New returns the step of a name that works on blocks: Possible or Solve.
func New(name string, g game.Tiered) Step {
	if name == Solve {
		return newSolve(g)
	}
	return newPossible(g)
}

// possible is PossibleMoves: the children of every position that is not
// finished, each once, the finished ones with their value.
type possible struct {
	g       game.Tiered
	ofMover bool // how the values of the finished ones are written, see game.Values
}

func newPossible(g game.Tiered) possible { return possible{g, g.Values().OfMover} }

func (p possible) OutputTier(tier int) int { return tier + 1 }

func (p possible) Outputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(p.g.Targets(dst, tier, rng), rng)
}

func (p possible) Inputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(p.g.Sources(dst, tier, rng), rng)
}

func (p possible) Map(from, into *block.Block) {
	if from.Range != into.Range {
		into.Open.Union(from.Open)
		return
	}
	children, kinds := p.g.Within(from.Tier, from.Range)
	if children == nil {
		return
	}
	none := uint32(into.Len())
	for i, w := range from.Open {
		for base := i << 6; w != 0; w &= w - 1 {
			at := (base + bits.TrailingZeros64(w)) * kinds
			for _, child := range children[at : at+kinds] {
				if child != none {
					into.Open.Add(int(child))
				}
			}
		}
	}
}

func (p possible) Reduce(b *block.Block) error {
	p.finish(b)
	return nil
}

// finish is game.Tiered.Finish of a block in which nothing is done, with the values as
// the game reads them.
func (p possible) finish(b *block.Block) {
	p.g.Finish(b)
	if !p.ofMover {
		return
	}
	mover := p.g.TierToMove(b.Tier)
	for slot := range b.Done.All() {
		b.Val[slot] = byte(game.Values{OfMover: true}.Ended(game.Value(b.Val[slot]), mover))
	}
}

func (p possible) Expect(*block.Block) {}

func (p possible) Say(*block.Block) {}

func (p possible) Hear(piece, b *block.Block) error {
	if !piece.Done.Empty() {
		return errors.New("expected children, found messages")
	}
	b.Open.Union(piece.Open)
	return nil
}

// solve is SolveMoves. A solved child speaks to the parents it may have; a
// parent that exists takes the best of what it hears. While a block hears, its
// open slots are the parents that may exist, and Val holds their best score.
type solve struct {
	g      game.Tiered
	scores [2]*game.Scores
}

func newSolve(g game.Tiered) *solve {
	values := g.Values()
	return &solve{g, [2]*game.Scores{values.Scores(game.First), values.Scores(game.Second)}}
}

func (s *solve) OutputTier(tier int) int { return tier - 1 }

func (s *solve) Outputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(s.g.Sources(dst, tier, rng), rng)
}

func (s *solve) Inputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(s.g.Targets(dst, tier, rng), rng)
}

func (s *solve) Map(from, into *block.Block) {
	score := &s.scores[s.g.TierToMove(into.Tier)].OfChild
	best, value := into.Val, from.Val
	if from.Range != into.Range {
		value = value[:len(best)]
		for _, slot := range into.OpenSlots() {
			best[slot] = max(best[slot], score[value[slot]])
		}
		return
	}
	children, kinds := s.g.Within(into.Tier, into.Range)
	if children == nil {
		return
	}
	for _, slot := range into.OpenSlots() {
		top := best[slot]
		at := int(slot) * kinds
		for _, child := range children[at : at+kinds] {
			top = max(top, score[value[child]])
		}
		best[slot] = top
	}
}

// Reduce gives each open position the best of its children's values. One that
// has heard from no child is an error: it is not finished, so it has moves.
func (s *solve) Reduce(b *block.Block) error {
	value := &s.scores[s.g.TierToMove(b.Tier)].Value
	for _, slot := range b.OpenSlots() {
		v := value[b.Val[slot]]
		if v == 0 {
			return fmt.Errorf("position %#x is not finished, but none of its children came", b.Key(int(slot)))
		}
		b.Val[slot] = byte(v)
	}
	b.Close()
	return nil
}

// Expect makes every slot a parent that may exist: a child speaks to all that it
// could have.
func (s *solve) Expect(b *block.Block) { b.Open.Fill(b.Len()) }

// Say makes done the slots with a score, with the value that a child must have
// to give it.
func (s *solve) Say(b *block.Block) {
	scores := s.scores[s.g.TierToMove(b.Tier)]
	for slot, score := range b.Val[:b.Len()] {
		if score == 0 {
			continue
		}
		b.Val[slot] = byte(scores.Child[score])
		b.Done.Add(slot)
	}
	clear(b.Open)
}

// Hear takes the better of what b's open positions heard before and what the
// piece says.
func (s *solve) Hear(piece, b *block.Block) error {
	if !piece.Open.Empty() {
		return errors.New("expected messages, found positions")
	}
	score := &s.scores[s.g.TierToMove(b.Tier)].OfChild
	for i, w := range piece.Done {
		for base := i << 6; w != 0; w &= w - 1 {
			slot := base + bits.TrailingZeros64(w)
			heard := score[piece.Val[slot]]
			if heard == 0 {
				return fmt.Errorf("expected the value of a child, found a message of value %d", piece.Val[slot])
			}
			if b.Open.Has(slot) {
				b.Val[slot] = max(b.Val[slot], heard)
			}
		}
	}
	return nil
}

// MostParts is how many parts a tier can be cut into: its keys have so many ranges.
func MostParts(g game.Tiered) uint64 { return 1 << (g.KeyBits() - g.LowBits()) }

// Borders returns the ranges at which n parts of a tier begin, about equal; the
// first is 0. They ascend strictly, so that where a tier has too few ranges, some
// parts are empty. More than MostParts become so many.
func Borders(g game.Tiered, tier, n int) []uint64 {
	ranges := MostParts(g)
	n = int(min(uint64(n), ranges))
	borders := []uint64{0}
	for i := 1; i < n; i++ {
		after := uint64(n - i) // this part and those after it need a range each
		border := max(borders[i-1]+1, g.Border(tier, float64(i)/float64(n)))
		borders = append(borders, min(border, ranges-after))
	}
	return borders
}

// Portion is i n-ths of a number, i at most n.
func Portion(of uint64, i, n int) uint64 {
	high, low := bits.Mul64(of, uint64(i))
	q, _ := bits.Div64(high, low, uint64(n))
	return q
}

// Start is what InitFirst leaves: the block of the position before the first
// move, open.
func Start(g game.Tiered) *block.Block {
	b := new(block.Block)
	p := g.Start()
	rng := p >> g.LowBits()
	low := g.Low(0, rng)
	b.Reset(0, rng, g.LowBits(), low)
	slot, _ := slices.BinarySearch(low, uint32(p-rng<<g.LowBits()))
	b.Open.Add(slot)
	return b
}
