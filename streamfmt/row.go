package streamfmt

import (
	"bytes"
	"fmt"
	"strconv"
)

// A Row is a record of a list: what is to say of a key is one word, whose meaning the
// kind of the list tells. Rows are sorted by Key, then by Word.
type Row struct{ Key, Word uint64 }

// A RowKind says what the words of a list are.
type RowKind uint8

// The kinds of lists.
const (
	// Parents: Word is the key of a position from which a move leads to Key, NoParent
	// if Key is the start of the game.
	Parents RowKind = iota
	// Messages: Word is the value of a position to which a move leads from Key, and
	// from bit 16 on the number of moves for which the message stands, at least 1.
	Messages
	// Values: Word is the value of Key.
	Values
)

// NoParent is the word of a position that no move has led to.
const NoParent = ^uint64(0)

// String is parents, messages or values.
func (k RowKind) String() string {
	if int(k) < len(rowKinds) {
		return rowKinds[k]
	}
	return "rows of an unknown kind"
}

var rowKinds = [...]string{Parents: "parents", Messages: "messages", Values: "values"}

// MaxRowTimes is for how many moves a message of a list may stand.
const MaxRowTimes = 1<<16 - 1

// AppendRow appends the line of a row of a list, its keys in width digits.
func AppendRow(dst []byte, r Row, kind RowKind, width int) []byte {
	dst = AppendKey(dst, r.Key, width)
	switch kind {
	case Parents:
		if r.Word != NoParent {
			dst = AppendKey(append(dst, '\t', 'p'), r.Word, width)
		}
	case Messages:
		dst = strconv.AppendUint(append(dst, '\t', 'm'), r.Word&maxRowValue, 10)
		if times := r.Word >> 16; times > 1 {
			dst = strconv.AppendUint(append(dst, 'x'), times, 10)
		}
	case Values:
		dst = strconv.AppendUint(append(dst, '\t'), r.Word, 10)
	}
	return append(dst, '\n')
}

// maxRowValue is the largest value in a list.
const maxRowValue = 1<<16 - 1

// ParseRow reads the line of a row, whose keys have width digits; want says what was
// expected if it is none.
func ParseRow(line []byte, width int) (r Row, kind RowKind, want string) {
	if len(line) < width || len(line) > width && line[width] != '\t' {
		return r, kind, fmt.Sprintf("a key of %d hexadecimal digits, then nothing or a tab", width)
	}
	var ok bool
	if r.Key, ok = parseKey(line[:width]); !ok {
		return r, kind, fmt.Sprintf("a key of %d hexadecimal digits (0-9, a-f)", width)
	}
	if len(line) <= width+1 {
		r.Word = NoParent
		return r, Parents, ""
	}
	times := uint64(1)
	word := line[width+1:]
	switch word[0] {
	case 'p':
		if r.Word, ok = parseKey(word[1:]); !ok || len(word) != 1+width {
			return r, kind, fmt.Sprintf("after p, the key of a parent in %d hexadecimal digits (0-9, a-f)", width)
		}
		return r, Parents, ""
	case 'm':
		kind, word = Messages, word[1:]
		if digits, after, ok := bytes.Cut(word, []byte{'x'}); ok {
			word = digits
			if times = parseNumber(after, MaxRowTimes); times < 2 {
				return r, kind, fmt.Sprintf("after m, a value and x a number of 2 to %d", MaxRowTimes)
			}
		}
	default:
		kind, times = Values, 0
	}
	if r.Word = parseNumber(word, maxRowValue); r.Word == 0 {
		return r, kind, fmt.Sprintf("after the tab p and a key, a value of 1 to %d, or m and such a value", maxRowValue)
	}
	r.Word |= times << 16
	return r, kind, ""
}

// parseNumber reads a number of 1 to most in decimal; 0 if it is none.
func parseNumber(digits []byte, most uint64) (n uint64) {
	for _, c := range digits {
		if c < '0' || c > '9' || n == 0 && c == '0' || n > most {
			return 0
		}
		n = n*10 + uint64(c-'0')
	}
	if n > most {
		return 0
	}
	return n
}
