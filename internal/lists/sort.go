package lists

import (
	"cmp"
	"math/bits"
	"slices"
)

// fewRows are sorted faster without counting digits.
const fewRows = 64

// compareRows orders rows by Key, then Word.
func compareRows(a, b Row) int {
	if a.Key != b.Key {
		return cmp.Compare(a.Key, b.Key)
	}
	return cmp.Compare(a.Word, b.Word)
}

// sortRows sorts rows by Key, then Word. It needs as much memory again; of the two it
// returns the one in which the rows are now, and the other.
//
// It is a radix sort from the lowest digit up, of eight bits each, on those bits of the
// keys alone in which they differ: the keys of a tier that lie near one another differ
// in few. Words are sorted afterwards, as few rows have the same key.
func sortRows(rows, spare []Row) (sorted, other []Row) {
	if len(rows) <= fewRows {
		insertionSort(rows)
		return rows, spare
	}
	var differ uint64
	inOrder := true
	first := rows[0].Key
	for i, r := range rows[1:] {
		differ |= r.Key ^ first
		inOrder = inOrder && compareRows(rows[i], r) <= 0
	}
	if inOrder {
		return rows, spare
	}
	rows, spare = sortKeys(rows, spare, differ)
	sortWords(rows)
	return rows, spare
}

// sortKeys sorts rows by the bits of their keys in which they differ.
func sortKeys(rows, spare []Row, differ uint64) (sorted, other []Row) {
	var shifts [8]uint
	digits := 0
	for bit := 0; differ>>bit != 0; bit += 8 {
		bit += bits.TrailingZeros64(differ >> bit)
		shifts[digits] = uint(bit)
		digits++
	}
	var counts [8][256]uint32
	for _, r := range rows {
		for d, shift := range shifts[:digits] {
			counts[d][byte(r.Key>>(shift&63))]++
		}
	}
	for d, shift := range shifts[:digits] {
		next := &counts[d]
		at := uint32(0)
		for digit, n := range next {
			next[digit] = at
			at += n
		}
		to := spare[:len(rows)]
		for _, r := range rows {
			digit := byte(r.Key >> (shift & 63))
			to[next[digit]] = r
			next[digit]++
		}
		rows, spare = to, rows[:cap(rows)]
	}
	return rows, spare
}

// sortWords sorts the words of rows whose keys are sorted.
func sortWords(rows []Row) {
	for i := 1; i < len(rows); i++ {
		if rows[i].Key != rows[i-1].Key || rows[i].Word >= rows[i-1].Word {
			continue
		}
		from, to := i-1, i+1
		for from > 0 && rows[from-1].Key == rows[i].Key {
			from--
		}
		for to < len(rows) && rows[to].Key == rows[i].Key {
			to++
		}
		if same := rows[from:to]; len(same) <= fewRows {
			insertionSort(same)
		} else {
			slices.SortFunc(same, compareRows)
		}
		i = to - 1
	}
}

// insertionSort is for few rows.
func insertionSort(rows []Row) {
	for i := 1; i < len(rows); i++ {
		r := rows[i]
		j := i
		for ; j > 0 && compareRows(rows[j-1], r) > 0; j-- {
			rows[j] = rows[j-1]
		}
		rows[j] = r
	}
}
