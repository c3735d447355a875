package streamfmt

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

const (
	// CellRows is the maximum number of rows of a cell. It is small because a look-up of one
	// row reads a complete cell. An index entry takes 40 bytes of memory.
	CellRows = 1024
	// maxRowSize is the maximum number of bytes of a row in a cell.
	maxRowSize = 1 + 8 + 8
	maxCell    = 1 + CellRows*maxRowSize
)

// The encodings of the words of a cell. Files have these numbers; codedRows is the next one.
const (
	plainWords = iota // the word itself
	keyWords          // the difference from the key
	nextWords         // the difference from the previous word
	wordForms
)

// zigzag maps differences that are close to zero, positive or negative, to small numbers.
func zigzag(d uint64) uint64 { return d<<1 ^ uint64(int64(d)>>63) }

func unzigzag(z uint64) uint64 { return z>>1 ^ -(z & 1) }

// byteLen returns the number of bytes of n without leading zeros, 0 to 8; it is 0 for 0.
func byteLen(n uint64) int { return (bits.Len64(n) + 7) >> 3 }

// wordForm returns the form that makes the words of a cell shortest. It looks at every eighth
// row, from the second on.
func wordForm(rows []Row) byte {
	var size [wordForms]int
	for i := 1; i < len(rows); i += 8 {
		r := rows[i]
		size[plainWords] += byteLen(r.Word)
		size[keyWords] += byteLen(zigzag(r.Word - r.Key))
		size[nextWords] += byteLen(zigzag(r.Word - rows[i-1].Word))
	}
	form := plainWords
	for f := range size {
		if size[f] < size[form] {
			form = f
		}
	}
	return byte(form)
}

// appendCell appends the rows as a cell; see the package comment.
func appendCell(dst []byte, rows []Row) []byte {
	form := wordForm(rows)
	dst = slices.Grow(dst, 1+len(rows)*maxRowSize+7)
	at := len(dst)
	buf := dst[:cap(dst)]
	buf[at] = form
	at++
	key, before := rows[0].Key, rows[0].Key
	for _, r := range rows {
		step, word := r.Key-key, r.Word
		switch form {
		case keyWords:
			word = zigzag(word - r.Key)
		case nextWords:
			word = zigzag(word - before)
		}
		key, before = r.Key, r.Word
		a, b := byteLen(step), byteLen(word)
		buf[at] = byte(a | b<<4)
		binary.LittleEndian.PutUint64(buf[at+1:], step)
		binary.LittleEndian.PutUint64(buf[at+1+a:], word) // writes at most 7 bytes past the row
		at += 1 + a + b
	}
	return buf[:at]
}

// lowBytes[n] is a mask of the n low bytes. For n above 8 it is 0.
var lowBytes = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}

var errCell = errors.New("its rows are damaged")

// readCell appends the rows of a packed cell with keys up to until. The kind of the cell has words up to most. The caller
// has verified its checksum.
func readCell(dst []Row, src []byte, cell *Cell, most, until uint64) ([]Row, error) {
	if len(src) == 0 || src[0] >= wordForms {
		return dst, errCell
	}
	form := src[0]
	n := int(cell.Records)
	dst = slices.Grow(dst, n)
	rows := dst[len(dst) : len(dst)+n]
	key, before := cell.First, cell.First
	at, end := 1, len(src)
	words := uint64(0) // all bits of the words: above most if a word is
	for i := range rows {
		if at+maxRowSize+7 > len(src) { // near the end: numbers are read eight bytes at a time
			if at >= end {
				return dst, errCell
			}
			src = append(src[at:len(src):len(src)], make([]byte, maxRowSize+7)...)
			at, end = 0, end-at
		}
		row := src[at : at+maxRowSize+7]
		a, b := int(row[0]&15), int(row[0]>>4)
		if a > 8 || b > 8 {
			return dst, errCell
		}
		step := binary.LittleEndian.Uint64(row[1:]) & lowBytes[a]
		word := binary.LittleEndian.Uint64(row[1+a:]) & lowBytes[b]
		at += 1 + a + b
		if key+step < key {
			return dst, errCell
		}
		if key += step; key > until {
			n = i
			break
		}
		switch form {
		case keyWords:
			word = key + unzigzag(word)
		case nextWords:
			word = before + unzigzag(word)
		}
		before = word
		words |= word
		rows[i] = Row{key, word}
	}
	if n == len(rows) && (at != end || key != cell.Last) || words > most {
		return dst, errCell
	}
	return dst[:len(dst)+n], nil
}
