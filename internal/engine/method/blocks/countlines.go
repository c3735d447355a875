package blocks

import (
	"fmt"

	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/streamfmt"
)

// A countingMapper is the map of solve for lines. It counts the moves that each message stands for,
// so that the reducer notices a missing successor. Packed blocks have no such count:
// it would take 7 % of the time of a solve.
type countingMapper struct {
	*solve
	moves map[*block.Block][]uint8 // of the blocks that receive messages, by slot
}

// Expect resets the counts. No slot needs to be open: a successor sends messages to all
// positions that may precede it.
func (t *countingMapper) Expect(_ uint64, b *block.Block) error {
	moves := t.moves[b]
	if cap(moves) < b.Len() {
		moves = make([]uint8, b.Len())
	}
	moves = moves[:b.Len()]
	clear(moves)
	t.moves[b] = moves
	return nil
}

func (t *countingMapper) Map(from, into *block.Block) {
	score := &t.scores[t.g.TierToMove(into.Tier)].OfSuccessor
	best, value, moves := into.Val, from.Val, t.moves[into]
	if from.Range != into.Range {
		for slot := range from.Done.All() {
			best[slot] = max(best[slot], score[value[slot]])
			moves[slot]++
		}
		return
	}
	successors, kinds := t.g.Within(into.Tier, into.Range)
	for slot := range len(successors) / max(1, kinds) {
		top, n := best[slot], uint8(0)
		for _, successor := range successors[slot*kinds : (slot+1)*kinds] {
			s := score[value[successor]]
			top = max(top, s)
			n += (s | -s) >> 7 // 1 if there is a score
		}
		best[slot] = top
		moves[slot] += n
	}
}

// write prints the messages in a block: a line for each slot, or several if the message
// stands for more moves than one line can express.
func (t *countingMapper) write(w *step.Writer, b *block.Block) {
	moves := t.moves[b]
	for slot := range b.Done.All() {
		rec := streamfmt.Record{Key: b.Key(slot), Kind: streamfmt.Message, Value: b.Val[slot]}
		for left := moves[slot]; left > 0; left -= rec.Times {
			rec.Times = min(left, streamfmt.MaxTimes)
			w.Line(rec)
		}
	}
}

// A countingReducer is the reduce of solve for lines. It compares the number of messages that a
// position receives with the number of its moves.
type countingReducer struct {
	*solve
	moves  []uint32 // by slot, the number of moves whose messages were received
	line   []int64  // by slot, the line of the position
	across []uint64
}

// add adds a record to the block: an open position, a terminal position, or a message from
// successors.
func (h *countingReducer) add(b *block.Block, slot int, rec streamfmt.Record, line int64) string {
	if len(h.moves) < b.Len() {
		h.moves, h.line = make([]uint32, b.Len()), make([]int64, b.Len())
	}
	if rec.Kind != streamfmt.Message {
		h.line[slot] = line
		return AddRecord(b, slot, rec)
	}
	score := h.scores[h.g.TierToMove(b.Tier)].OfSuccessor[rec.Value]
	if score == 0 {
		return "a message with the value of a successor"
	}
	if !b.Done.Has(slot) {
		b.Val[slot] = max(b.Val[slot], score)
	}
	h.moves[slot] += uint32(max(1, rec.Times))
	return ""
}

// check returns an error unless each open position has received a message for each of its
// moves. It then resets the counts.
func (h *countingReducer) check(b *block.Block, source string) error {
	h.across = h.g.Targets(h.across[:0], b.Tier, b.Range)
	successors, kinds := h.g.Within(b.Tier, b.Range)
	none := uint32(len(h.g.Low(b.Tier+1, b.Range)))
	for _, slot := range b.OpenSlots() {
		moves := uint32(len(h.across)) // a few
		if successors != nil {
			for _, successor := range successors[int(slot)*kinds : (int(slot)+1)*kinds] {
				if successor != none {
					moves++
				}
			}
		}
		received, why := h.moves[slot], "messages are missing"
		switch {
		case received == moves && moves > 0:
			continue
		case received > moves:
			why = "duplicate messages"
		case moves == 0:
			why = "it is terminal, and has no value"
		}
		return fmt.Errorf("%s:%d: position %s has %s, but received messages for %d: %s",
			source, h.line[slot], step.KeyText(h.g, b.Key(int(slot))), numfmt.Count(int(moves), "move"), received, why)
	}
	clear(h.moves[:b.Len()])
	return nil
}
