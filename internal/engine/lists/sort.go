package lists

import (
	"cmp"
	"math/bits"
	"slices"
)

// fewRows are sorted by comparing each with those before it.
const fewRows = 32

// Into how many buckets rows are thrown at a time, as bits of the key. So many places
// are written to in turn: they should lie in the core's cache.
const (
	leastBucketBits = 3
	mostBucketBits  = 13
)

// compareRows orders rows by Key, then Word.
func compareRows(a, b Row) int {
	if a.Key != b.Key {
		return cmp.Compare(a.Key, b.Key)
	}
	return cmp.Compare(a.Word, b.Word)
}

// A sorter sorts rows by Key, then Word. It is one worker's, and keeps its memory.
//
// It throws rows into buckets by the highest bits in which their keys differ, some two
// to four in each, if keys are spread evenly; what is in a bucket is sorted by comparing,
// or again so, if it is much. Keys of a share have their high bits in common, and lie in
// clusters: looking at the bits that differ, bucket by bucket, is two to four times as
// fast as going through the digits of the whole key (BenchmarkSort).
type sorter struct {
	spare []Row
	ends  [1 << mostBucketBits]uint32
}

// sort sorts rows in place. It takes as much memory again.
func (s *sorter) sort(rows []Row) {
	if inOrder(rows) {
		return
	}
	if cap(s.spare) < len(rows) {
		s.spare = make([]Row, cap(rows))
	}
	s.sortWith(rows, s.spare[:len(rows)])
}

// sortWith is sort with memory for as many rows.
func (s *sorter) sortWith(rows, spare []Row) {
	if len(rows) <= fewRows {
		insertionSort(rows)
		return
	}
	var differ uint64
	for _, r := range rows {
		differ |= r.Key ^ rows[0].Key
	}
	if differ == 0 {
		slices.SortFunc(rows, compareRows)
		return
	}
	top := bits.Len64(differ)
	width := min(max(bits.Len(uint(len(rows)))-2, leastBucketBits), mostBucketBits, top)
	shift := uint(top-width) & 63
	mask := uint64(1)<<width - 1

	// Where each bucket begins, and, once it is filled, ends.
	ends := s.ends[:mask+1]
	clear(ends)
	for _, r := range rows {
		ends[r.Key>>shift&mask]++
	}
	at := uint32(0)
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	for _, r := range rows {
		end := &ends[r.Key>>shift&mask]
		spare[*end] = r
		*end++
	}

	much := false
	from := uint32(0)
	for _, to := range ends {
		if n := to - from; n > fewRows {
			much = true
		} else if n > 1 {
			insertionSort(spare[from:to])
		}
		from = to
	}
	if much {
		from = 0
		for _, to := range slices.Clone(ends) { // which the next buckets overwrite
			if to-from > fewRows {
				s.sortWith(spare[from:to], rows[from:to])
			}
			from = to
		}
	}
	copy(rows, spare)
}

func inOrder(rows []Row) bool {
	for i := 1; i < len(rows); i++ {
		if before(rows[i], rows[i-1]) {
			return false
		}
	}
	return true
}

// before is compareRows, small enough to be inlined.
func before(a, b Row) bool { return a.Key < b.Key || a.Key == b.Key && a.Word < b.Word }

// insertionSort is for few rows.
func insertionSort(rows []Row) {
	for i := 1; i < len(rows); i++ {
		r := rows[i]
		j := i
		for ; j > 0 && before(r, rows[j-1]); j-- {
			rows[j] = rows[j-1]
		}
		rows[j] = r
	}
}
