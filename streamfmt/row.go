package streamfmt

import (
	"bytes"
	"fmt"
	"strconv"
)

// A Row is a key and one word, whose meaning depends on the CellKind. Rows are sorted by Key, then by Word.
type Row struct{ Key, Word uint64 }

// MaxRowTimes is the largest number of moves that a message by layers can stand for.
const MaxRowTimes = 1<<16 - 1

// AppendRow appends the line of a row, with keys of width digits.
func AppendRow(dst []byte, r Row, kind CellKind, width int) []byte {
	dst = AppendKey(dst, r.Key, width)
	switch kind {
	case Predecessors:
		if r.Word != r.Key {
			dst = AppendKey(append(dst, '\t', 'p'), r.Word, width)
		}
	case Messages:
		if r.Word == 0 {
			dst = append(dst, '\t', 'd')
			break
		}
		dst = strconv.AppendUint(append(dst, '\t', 'm'), r.Word&maxRowValue, 10)
		if times := r.Word >> 16; times > 1 {
			dst = strconv.AppendUint(append(dst, 'x'), times, 10)
		}
	case Values:
		dst = strconv.AppendUint(append(dst, '\t'), r.Word, 10)
	}
	return append(dst, '\n')
}

// maxRowValue is the largest value of a row.
const maxRowValue = 1<<16 - 1

// ParseRow parses the line of a row, whose keys have width digits. If it is not a row, want
// describes what was expected.
func ParseRow(line []byte, width int) (r Row, kind CellKind, want string) {
	var word []byte
	if r.Key, word, want = cutKey(line, width); want != "" {
		return r, kind, want
	}
	if len(word) == 0 {
		r.Word = r.Key
		return r, Predecessors, ""
	}
	var ok bool
	var times uint64
	if string(word) == "d" {
		return r, Messages, ""
	}
	switch word[0] {
	case 'p':
		if r.Word, ok = parseKey(word[1:]); !ok || len(word) != 1+width {
			return r, kind, fmt.Sprintf("after p, the key of a predecessor in %d hexadecimal digits (0-9, a-f)", width)
		}
		return r, Predecessors, ""
	case 'm':
		kind, times = Messages, 1
		if value, digits, ok := bytes.Cut(word[1:], []byte{'x'}); ok {
			if times = parseNumber(digits, MaxRowTimes); times < 2 {
				return r, kind, fmt.Sprintf("after m, a value and x a number of 2 to %d", MaxRowTimes)
			}
			word = value
		} else {
			word = word[1:]
		}
	default:
		kind = Values
	}
	if r.Word = parseNumber(word, maxRowValue); r.Word == 0 && string(word) != "0" {
		return r, kind, fmt.Sprintf("after the tab p and a key, a value of 0 to %d, m and such a value, or d", maxRowValue)
	}
	r.Word |= times << 16
	return r, kind, ""
}
