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
// times as fast as a radix sort by the digits of the complete key (BenchmarkSort).
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
	for _, r := range rows {
		differ |= r.Key ^ rows[0].Key
	}
	if differ == 0 || uint64(len(rows)) > math.MaxUint32 { // ends has 32 bits
		slices.SortFunc(rows, compareRows)
		return
	}
	top := bits.Len64(differ)
	width := min(max(bits.Len(uint(len(rows)))-2, leastBucketBits), mostBucketBits, top)
	shift := uint(top-width) & 63
	mask := uint64(1)<<width - 1
	ends := s.ends[:mask+1] // ends[i] is the beginning of bucket i, and its end once it is filled
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
	from, large := uint32(0), [][2]uint32(nil)
	for _, to := range ends {
		if n := to - from; n > fewRows {
			large = append(large, [2]uint32{from, to})
		} else if n > 1 {
			insertionSort(spare[from:to])
		}
		from = to
	}
	for _, b := range large { // they overwrite ends
		s.sortWith(spare[b[0]:b[1]], rows[b[0]:b[1]])
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
