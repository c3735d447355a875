package blocks

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// A Step is the map and the reduce of one job over a tier of blocks.
//
// A block sends messages to the ranges that Outputs lists, and a range receives messages
// from the blocks of the ranges that Inputs lists. A runner can therefore pull (process all
// messages to one range) or push (process all messages from one block). When it pulls, the
// existing records of a range are local, and it calls Deliver, then Reduce. When it pushes,
// they are not, and the work is split in two: the sender calls Expect, Deliver and Send to make
// a block of messages, called a piece; the receiver calls Receive to merge the pieces into the
// existing records, then Reduce.
type Step interface {
	// Outputs appends the ranges to which block rng of the input tier sends messages.
	// Inputs appends the ranges whose blocks send messages to range rng of the output tier.
	Outputs(dst []uint64, tier int, rng uint64) []uint64
	Inputs(dst []uint64, tier int, rng uint64) []uint64
	// OutputTier returns the tier to which the blocks of a tier send messages.
	OutputTier(tier int) int
	// Deliver merges the messages of block from into block into. It is called once for each
	// input, in any order.
	Deliver(from, into *block.Block)
	// Reduce turns the messages merged into b into the records of its range.
	Reduce(b *block.Block) error

	// Expect prepares an empty block to accumulate messages where the existing records are
	// not local. home is the range that sends first.
	Expect(home uint64, b *block.Block) error
	// Send turns the messages accumulated in such a block into a piece. Values in a piece
	// are messages.
	Send(b *block.Block)
	// Receive merges a piece into b.
	Receive(piece, b *block.Block) error
}

// NewStep returns the step of the given name, Possible or Solve, on blocks.
func NewStep(name string, g game.Blockwise) Step {
	if name == step.Solve {
		return newSolve(g)
	}
	return newPossible(g)
}

// possible implements the step Possible: it emits the successors of every position that is
// not terminal, each once, and gives terminal positions their values.
type possible struct {
	g       game.Blockwise
	ofMover bool // whether values are from the view of the player to move, see game.Values
}

func newPossible(g game.Blockwise) possible { return possible{g, g.Values().OfMover} }

func (p possible) OutputTier(tier int) int { return tier + 1 }

func (p possible) Outputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(p.g.Targets(dst, tier, rng), rng)
}

func (p possible) Inputs(dst []uint64, tier int, rng uint64) []uint64 {
	return append(p.g.Sources(dst, tier, rng), rng)
}

func (p possible) Deliver(from, into *block.Block) {
	if from.Range != into.Range {
		into.Open.Union(from.Open)
		return
	}
	successors, kinds := p.g.Within(from.Tier, from.Range)
	if successors == nil {
		return
	}
	none := uint32(into.Len())
	for i, w := range from.Open {
		for base := i << 6; w != 0; w &= w - 1 {
			at := (base + bits.TrailingZeros64(w)) * kinds
			for _, successor := range successors[at : at+kinds] {
				if successor != none {
					into.Open.Add(int(successor))
				}
			}
		}
	}
}

func (p possible) Reduce(b *block.Block) error {
	p.finish(b)
	return nil
}

// finish calls game.Blockwise.Finish for a block whose positions are all open, and converts
// the values of terminal positions to the view of game.Values.
func (p possible) finish(b *block.Block) {
	p.g.Finish(b)
	if !p.ofMover {
		return
	}
	mover := p.g.TierToMove(b.Tier)
	for slot := range b.Done.All() { // Ended does not change the remoteness
		b.Val[slot] = byte(game.Values{OfMover: true}.Ended(game.Value(b.Val[slot]), mover))
	}
}

func (p possible) Expect(uint64, *block.Block) error { return nil }

func (p possible) Send(*block.Block) {}

func (p possible) Receive(piece, b *block.Block) error {
	if !piece.Done.Empty() {
		return errors.New("expected successors, found messages")
	}
	b.Open.Union(piece.Open)
	return nil
}

// solve implements the step Solve. A solved successor sends its value to all possible
// predecessors, and an existing predecessor takes the best value that it receives. While a
// block accumulates messages, its open slots are the possible predecessors and Val contains
// their best scores.
type solve struct {
	g      game.Blockwise
	scores [2]*game.Scores
}

func newSolve(g game.Blockwise) *solve {
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

func (s *solve) Deliver(from, into *block.Block) {
	score := &s.scores[s.g.TierToMove(into.Tier)].OfSuccessor
	best, value := into.Val, from.Val
	if from.Range != into.Range {
		value = value[:len(best)]
		for slot := range into.Open.All() {
			best[slot] = max(best[slot], score[value[slot]])
		}
		return
	}
	successors, kinds := s.g.Within(into.Tier, into.Range)
	if successors == nil {
		return
	}
	for slot := range into.Open.All() {
		top := best[slot]
		at := slot * kinds
		for _, successor := range successors[at : at+kinds] {
			top = max(top, score[value[successor]])
		}
		best[slot] = top
	}
}

// Reduce gives each open position the best of its successors' values. A position without a
// message is an error: it is not terminal, so it has successors. If some of its messages are
// missing, but not all, Reduce does not notice.
func (s *solve) Reduce(b *block.Block) error {
	value := &s.scores[s.g.TierToMove(b.Tier)].Value
	for slot := range b.Open.All() {
		v := value[b.Val[slot]]
		if v == 0 {
			return fmt.Errorf("position %s is not terminal, but received no message from a successor", step.KeyText(s.g, b.Key(slot)))
		}
		b.Val[slot] = byte(v)
	}
	b.Close()
	return nil
}

// Expect opens every slot as a possible predecessor: a successor sends messages to all
// positions that may precede it.
func (s *solve) Expect(_ uint64, b *block.Block) error {
	b.Open.Fill(b.Len())
	return nil
}

// Send marks every slot that has a score as done, with the successor's value that yields
// this score.
func (s *solve) Send(b *block.Block) {
	scores := s.scores[s.g.TierToMove(b.Tier)]
	for slot, score := range b.Val[:b.Len()] {
		if score == 0 {
			continue
		}
		b.Val[slot] = byte(scores.Successor[score])
		b.Done.Add(slot)
	}
	clear(b.Open)
}

// Receive raises the score of each open position of b to the score in the piece, if that is
// better.
func (s *solve) Receive(piece, b *block.Block) error {
	if !piece.Open.Empty() {
		return errors.New("expected messages, found positions")
	}
	score := &s.scores[s.g.TierToMove(b.Tier)].OfSuccessor
	for i, w := range piece.Done {
		for base := i << 6; w != 0; w &= w - 1 {
			slot := base + bits.TrailingZeros64(w)
			best := score[piece.Val[slot]]
			if best == 0 {
				return fmt.Errorf("expected the value of a successor, found a message of value %d", piece.Val[slot])
			}
			if b.Open.Has(slot) {
				b.Val[slot] = max(b.Val[slot], best)
			}
		}
	}
	return nil
}

// mostParts returns the largest number of partitions of a tier, which is the number of
// ranges; 1<<63 if there are 1<<64.
func mostParts(g game.Blockwise) uint64 { return 1 << min(63, g.KeyBits()-g.LowBits()) }

// Borders returns the first ranges of n partitions of a tier, which are about equal in
// size. Borders[0] is 0, and the borders ascend strictly; if a tier has too few ranges,
// some partitions are empty. If n exceeds mostParts, there are mostParts borders.
func Borders(g game.Blockwise, tier, n int) []uint64 {
	ranges := mostParts(g)
	n = int(min(uint64(n), ranges))
	borders := []uint64{0}
	for i := 1; i < n; i++ {
		after := uint64(n - i) // this partition and those after it need a range each
		border := max(borders[i-1]+1, g.Border(tier, float64(i)/float64(n)))
		borders = append(borders, min(border, ranges-after))
	}
	return borders
}

// Start returns the output of the step Init: the block of the initial position, which is
// open.
func Start(g game.Blockwise) *block.Block {
	b := new(block.Block)
	p := g.Start()
	rng := p >> g.LowBits()
	low := g.Low(0, rng)
	b.Reset(0, rng, g.LowBits(), low)
	slot, _ := slices.BinarySearch(low, uint32(p-rng<<g.LowBits()))
	b.Open.Add(slot)
	return b
}
