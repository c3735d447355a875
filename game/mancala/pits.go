package mancala

// A ranking numbers what may lie in the pits, as the player to move sees it: his row, and
// the other's. A row is a word with a byte for each pit, in the order in which it is sown.
//
// With P(i) the stones of a row in its pits 0 to i, the numbers P(i)+i rise, so
//
//	(P(0) choose 1) + (P(1)+1 choose 2) + … + (P(m-2)+m-2 choose m-1)
//
// numbers the rows of n stones in m pits without a gap from 0, and a stone that goes
// forward in its row makes the number less. Boards of s stones come in the order of how
// many of them are the mover's, then of his row, then of the other's.
type ranking struct {
	pits  int
	terms [maxFastPits - 1][]uint64 // what the stones in the pits up to one add: terms[i][P] = (P+i choose i+1)
	rows  []uint64                  // rows of n stones
	below [][]uint64                // boards of s stones with less than n in the mover's row; all of them: below[s][s+1]
}

// newRanking is for so many stones at most.
func newRanking(pits, most int) *ranking {
	k := &ranking{pits: pits, rows: make([]uint64, most+1), below: make([][]uint64, most+1)}
	// ways[n] is to divide n stones among i+1 pits: (n+i choose i).
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

// everyByte sums: the byte i of a product with it is the sum of the bytes 0 to i.
const everyByte = 0x0101010101010101

// row is the number of a row, and its stones.
func (k *ranking) row(row uint64) (number uint64, stones int) {
	sums := row * everyByte
	for i := range k.pits - 1 {
		number += k.terms[i][sums&0xff]
		sums >>= 8
	}
	return number, int(sums & 0xff)
}

// number is that of a board, among those of as many stones.
func (k *ranking) number(own, other uint64) (number uint64, stones int) {
	a, n := k.row(own)
	b, m := k.row(other)
	return k.below[n+m][n] + a*k.rows[m] + b, n + m
}

// boards is how many there are of s stones.
func (k *ranking) boards(s int) uint64 { return k.below[s][s+1] }

// all lists the rows of n stones by their numbers.
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
