package mancala

// A ranking numbers the contents of the pits, from the view of the player to move: his own
// row, and the other row. A row is a word with a byte for each pit, in the order of sowing.
//
// Let P(i) be the number of stones in pits 0 to i of a row. The numbers P(i)+i ascend, so
//
//	(P(0) choose 1) + (P(1)+1 choose 2) + … + (P(m-2)+m-2 choose m-1)
//
// numbers the rows of n stones in m pits consecutively from 0. Moving a stone forward
// within its row lowers the number. Boards of s stones are ordered by the number of stones in
// the mover's row, then by his row, then by the other row.
type ranking struct {
	pits  int
	terms [maxFastPits - 1][]uint64 // the term of pit i, by the stones P in pits 0 to i: terms[i][P] = (P+i choose i+1)
	rows  []uint64                  // number of rows of n stones
	below [][]uint64                // number of boards of s stones with less than n in the mover's row; of all boards: below[s][s+1]
}

// newRanking returns a ranking for boards with up to most stones.
func newRanking(pits, most int) *ranking {
	k := &ranking{pits: pits, rows: make([]uint64, most+1), below: make([][]uint64, most+1)}
	// ways[n] is the number of ways to divide n stones among i+1 pits: (n+i choose i).
	ways := make([]uint64, most+1)
	for n := range ways {
		ways[n] = 1
	}
	for i := range pits - 1 {
		k.terms[i] = make([]uint64, most+1)
		for n := 1; n <= most; n++ {
			ways[n] += ways[n-1]
			k.terms[i][n] = ways[n-1]
		}
	}
	copy(k.rows, ways)
	for s := range k.below {
		k.below[s] = make([]uint64, s+2)
		for n := range s + 1 {
			k.below[s][n+1] = k.below[s][n] + k.rows[n]*k.rows[s-n]
		}
	}
	return k
}

// everyByte sums bytes: byte i of w*everyByte is the sum of the bytes 0 to i of w.
const everyByte = 0x0101010101010101

// row returns the number of a row, and its stones.
func (k *ranking) row(row uint64) (number uint64, stones int) {
	sums := row * everyByte
	for i := range k.pits - 1 {
		number += k.terms[i][sums&0xff]
		sums >>= 8
	}
	return number, int(sums & 0xff)
}

// number returns the number of a board among those with the same number of stones, and
// that number of stones.
func (k *ranking) number(own, other uint64) (number uint64, stones int) {
	a, n := k.row(own)
	b, m := k.row(other)
	return k.below[n+m][n] + a*k.rows[m] + b, n + m
}

// boards returns the number of boards of s stones.
func (k *ranking) boards(s int) uint64 { return k.below[s][s+1] }

// all returns the rows of n stones, ordered by their numbers.
func (k *ranking) all(n int) []uint64 {
	list := make([]uint64, 0, k.rows[n])
	var fill func(row uint64, pit, left int)
	fill = func(row uint64, pit, left int) {
		if pit == 0 {
			list = append(list, row|uint64(left))
			return
		}
		for here := left; here >= 0; here-- {
			fill(row|uint64(here)<<(8*pit), pit-1, left-here)
		}
	}
	fill(0, k.pits-1, n)
	return list
}
