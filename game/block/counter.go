package block

// A Counter has a number from 0 to MaxCount for each slot of a block. Each plane
// contains one bit of all the numbers:
//
//	slot       0  1  2  3
//	plane 0    1  0  1  0    ones
//	plane 1    0  1  1  0    twos
//	count      1  2  3  0
//
// The operations count 64 slots at a time: they add to the lowest plane and propagate
// the carry from plane to plane. All sets have as many slots as the counter.
type Counter [CounterPlanes]Set

const (
	// CounterPlanes is six: with the one or two bits of an outcome, a slot takes
	// about a byte.
	CounterPlanes = 6
	// MaxCount is the largest number in a Counter.
	MaxCount = 1<<CounterPlanes - 1
)

// Reset sets c to a counter of n slots, all 0.
func (c *Counter) Reset(n int) {
	for p := range c {
		c[p] = c[p].resize(n)
	}
}

// Get returns the count of slot i.
func (c *Counter) Get(i int) int {
	n := 0
	for p, plane := range c {
		n |= int(plane[i>>6]>>(i&63)&1) << p
	}
	return n
}

// Put sets the count of slot i to n, at most MaxCount.
func (c *Counter) Put(i, n int) {
	for p, plane := range c {
		plane.Remove(i)
		if n>>p&1 != 0 {
			plane.Add(i)
		}
	}
}

// PutAll sets the count of every slot in of to n, at most MaxCount.
func (c *Counter) PutAll(n int, of Set) {
	for p, plane := range c {
		plane = plane[:len(of)]
		if n>>p&1 != 0 {
			for i, w := range of {
				plane[i] |= w
			}
		} else {
			for i, w := range of {
				plane[i] &^= w
			}
		}
	}
}

// Add adds one to the counts of the slots in s. It reports whether none overflowed: one
// more than MaxCount is 0.
func (c *Counter) Add(s Set) (ok bool) {
	n := len(s)
	p0, p1, p2, p3, p4, p5 := c[0][:n], c[1][:n], c[2][:n], c[3][:n], c[4][:n], c[5][:n]
	var over uint64
	for i, carry := range s {
		if carry == 0 {
			continue
		}
		w := p0[i]
		p0[i] = w ^ carry
		carry &= w
		w = p1[i]
		p1[i] = w ^ carry
		carry &= w
		w = p2[i]
		p2[i] = w ^ carry
		carry &= w
		w = p3[i]
		p3[i] = w ^ carry
		carry &= w
		w = p4[i]
		p4[i] = w ^ carry
		carry &= w
		w = p5[i]
		p5[i] = w ^ carry
		over |= carry & w
	}
	return over == 0
}

// AddCounter adds the counts of t, and n (at most MaxCount), to the counts of the slots in
// of. It reports whether none overflowed: one more than MaxCount is 0.
func (c *Counter) AddCounter(t *Counter, n int, of Set) (ok bool) {
	var constant [CounterPlanes]uint64 // all ones in the planes where n has a one
	for p := range constant {
		constant[p] = -uint64(n >> p & 1)
	}
	var over uint64
	for i, mask := range of {
		if mask == 0 {
			continue
		}
		var carryT, carryN uint64
		for p := range c {
			x, y := c[p][i], t[p][i]&mask
			sum := x ^ y ^ carryT
			carryT = x&y | carryT&(x^y)
			y = constant[p] & mask
			c[p][i] = sum ^ y ^ carryN
			carryN = sum&y | carryN&(sum^y)
		}
		over |= carryT | carryN
	}
	return over == 0
}

// SubCounter subtracts the counts of t from those of the slots in of. It reports
// whether none underflowed: one less than 0 is MaxCount.
func (c *Counter) SubCounter(t *Counter, of Set) (ok bool) {
	var under uint64
	for i, mask := range of {
		if mask == 0 {
			continue
		}
		var borrow uint64
		for p := range c {
			x, y := c[p][i], t[p][i]&mask
			c[p][i] = x ^ y ^ borrow
			borrow = ^x&y | borrow&^(x^y)
		}
		under |= borrow
	}
	return under == 0
}

// Zero sets dst to the slots in of whose count is 0.
func (c *Counter) Zero(dst, of Set) {
	n := len(of)
	p0, p1, p2, p3, p4, p5 := c[0][:n], c[1][:n], c[2][:n], c[3][:n], c[4][:n], c[5][:n]
	dst = dst[:n]
	for i, w := range of {
		dst[i] = w &^ (p0[i] | p1[i] | p2[i] | p3[i] | p4[i] | p5[i])
	}
}
