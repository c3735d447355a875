package step

import (
	"fmt"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/streamfmt"
)

// FinalLines is the reduce of the final step: it prints one line for each position.
// Positions arrive sorted, and may arrive several times with the same value. In a game with
// cycles, no value means a draw. In any other game, a position may also arrive without a
// value, as it was before it was solved.
type FinalLines struct {
	w      *Writer
	g      game.Game
	cyclic bool // a position without a value is a draw

	begun bool
	last  game.Position
	value game.Value // of the last position, 0 if not received
}

// NewFinalLines returns a FinalLines that prints the positions of a game to w.
func NewFinalLines(w *Writer, g game.Game) *FinalLines {
	return &FinalLines{w: w, g: g, cyclic: !game.IsAcyclic(g)}
}

// Add prints the line of the next position. If the position is invalid, it returns a
// description of what was expected instead.
func (f *FinalLines) Add(p game.Position, v game.Value) (want string) {
	same := f.begun && p == f.last
	switch {
	case f.begun && p < f.last:
		return WantSorted
	case same && (v == f.value || v == 0 && !f.cyclic):
		return ""
	case same && (f.value != 0 || f.cyclic):
		return fmt.Sprintf("the value %d that another line gave this key", f.value)
	case !same:
		if want := f.End(); want != "" {
			return want + " in the lines before this one"
		}
	}
	f.begun, f.last, f.value = true, p, v
	before := len(f.w.Buf)
	if f.cyclic {
		f.w.Buf = AppendCyclicFinal(f.w.Buf, f.g.Values(), p, v)
	} else {
		f.w.Buf = AppendFinal(f.w.Buf, f.g, p, v)
	}
	if len(f.w.Buf) > before {
		f.w.Records++
	}
	return ""
}

// End checks that the last position has a value.
func (f *FinalLines) End() (want string) {
	if f.begun && f.value == 0 && !f.cyclic {
		return fmt.Sprintf("a value for position %s, which has none", KeyText(f.g, f.last))
	}
	return ""
}

// KeyText returns a key as it is written in a line.
func KeyText(g game.Game, key uint64) string {
	return string(streamfmt.AppendKey(nil, key, streamfmt.KeyWidth(g.KeyBits())))
}

// AppendFinal appends the line of a position: its text in quotes, a tab, and its value. It
// appends nothing for positions without a value and positions that the game does not list.
func AppendFinal(dst []byte, g game.Game, p game.Position, v game.Value) []byte {
	if v == 0 || !game.Listed(g, p) {
		return dst
	}
	dst = g.AppendText(append(dst, '\''), p)
	dst = append(dst, '\'', '\t')
	return append(strconv.AppendUint(dst, uint64(v), 10), '\n')
}

// AppendCyclicFinal appends the line of a position of a game with cycles: its hash in
// decimal, a tab, its outcome, a tab, and its remoteness (empty for a draw).
func AppendCyclicFinal(dst []byte, values game.Values, p game.Position, v game.Value) []byte {
	word := game.Result(v.Outcome()).String()
	if !values.OfMover {
		word = values.Word(v.Outcome())
	}
	dst = append(strconv.AppendUint(dst, p, 10), '\t')
	dst = append(append(dst, word...), '\t')
	if v.Valid() {
		dst = strconv.AppendInt(dst, int64(v.Remoteness()), 10)
	}
	return append(dst, '\n')
}
