package layers

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// fewRows is the largest number of rows that are sorted by insertion.
const fewRows = 32

// Limits on the number of buckets, as bits of the key. Rows go to all buckets in turn, so
// the places that are written to should fit into the core's cache.
const (
	leastBucketBits = 3
	mostBucketBits  = 13
)

const (
	// rowBytes is the size of a row in memory.
	rowBytes = 16
	// digitBits is the largest number of bits by which a pass of a radix sort sorts.
	digitBits = 11
	// mostDigits is the largest number of passes in which sortByKey is faster than sorting by buckets.
	mostDigits = 3
)

// compareRows orders rows by Key, then Word.
func compareRows(a, b Row) int {
	if a.Key != b.Key {
		return cmp.Compare(a.Key, b.Key)
	}
	return cmp.Compare(a.Word, b.Word)
}

// A sorter sorts rows by Key, then Word. It is used by one goroutine, and reuses its
// memory.
//
// It distributes rows to buckets by the highest bits in which their keys differ. If keys
// are spread evenly, a bucket gets two to four rows. A small bucket is sorted by insertion,
// a large one by the same method again. The keys of an interval have their high bits in common
// and lie in clusters, so looking at the differing bits, bucket by bucket, is two to four
// times as fast as a radix sort by the digits of the complete key. If words ascend, as those of predecessors do that
// are computed one after the other, a radix sort by few differing bits needs no comparison, and is faster still
// (BenchmarkSort).
type sorter struct {
	spare []Row
	ends  [1 << mostBucketBits]uint32
}

// sort sorts rows, and needs as much memory again.
func (s *sorter) sort(rows []Row) {
	if inOrder(rows) {
		return
	}
	if cap(s.spare) < len(rows) {
		s.spare = make([]Row, cap(rows))
	}
	s.sortWith(rows, s.spare[:len(rows)])
}

// sortWith is sort with spare memory for as many rows.
func (s *sorter) sortWith(rows, spare []Row) {
	if len(rows) <= fewRows {
		insertionSort(rows)
		return
	}
	var differ uint64
	ascending := true // words
	last := uint64(0)
	for _, r := range rows {
		differ |= r.Key ^ rows[0].Key
		ascending = ascending && r.Word >= last
		last = r.Word
	}
	if differ == 0 || uint64(len(rows)) > math.MaxUint32 { // ends has 32 bits
		slices.SortFunc(rows, compareRows)
		return
	}
	top := bits.Len64(differ)
	if digits := (top + digitBits - 1) / digitBits; ascending && digits <= mostDigits && len(rows) > 1<<digitBits {
		s.sortByKey(rows, spare, top, digits)
		return
	}
	width := min(max(bits.Len(uint(len(rows)))-2, leastBucketBits), mostBucketBits, top)
	shift := uint(top-width) & 63
	ends := s.distribute(rows, spare, shift, width)

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
		for _, to := range slices.Clone(ends) { // the recursive call overwrites ends
			if to-from > fewRows {
				s.sortWith(spare[from:to], rows[from:to])
			}
			from = to
		}
	}
	copy(rows, spare)
}

// sortByKey sorts rows whose words ascend by the lowest bits of their keys, in a number of stable passes.
func (s *sorter) sortByKey(rows, spare []Row, bits, passes int) {
	width := (bits + passes - 1) / passes
	for i := range passes {
		from, to := rows, spare
		if i%2 == 1 {
			from, to = spare, rows
		}
		s.distribute(from, to, uint(i*width), width)
	}
	if passes%2 == 1 {
		copy(rows, spare)
	}
}

// distribute copies rows to buckets by some bits of their keys, in the order of rows. It returns the end of each bucket.
func (s *sorter) distribute(rows, buckets []Row, shift uint, width int) (ends []uint32) {
	shift &= 63
	mask := uint64(1)<<width - 1
	// ends[i] is the beginning of bucket i, and its end once it is filled.
	ends = s.ends[:mask+1]
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
		buckets[*end] = r
		*end++
	}
	return ends
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

// insertionSort sorts few rows in place.
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
