package search

import (
	"math/bits"
	"sync/atomic"

	"github.com/treereduce/treereduce/game"
)

// A table stores bounds of positions in a slab of words that never grows and has no
// pointers. A bucket has two entries: the first keeps the position that took the most work,
// the second is always overwritten. The scheme is due to Thompson and Condon; the measure
// of work to Breuker (D. M. Breuker, J. W. H. M. Uiterwijk and H. J. van den Herik,
// Replacement schemes for transposition tables, 1994).
//
// A key of k bits is mixed, one to one, to h. The bucket is h·buckets / 2^k, so within a
// bucket a few low bits of h suffice to distinguish keys. Where they fit, an entry is one
// word:
//
//	rest of the key | move | work | age | depth | high | low
//
// Otherwise an entry is two words, the key xored with the data, and the data, so that a
// reader that sees halves of two different entries finds neither (R. Hyatt and T. Mann, A
// lockless transposition table, 2002).
type table struct {
	slab    []uint64
	buckets uint64
	keyBits uint
	rest    uint64 // mask of the bits of h that an entry stores
	wide    bool   // an entry is two words
	format
	shared bool   // several workers write to it
	keep   bool   // the first entry of a bucket keeps the position that took the most work
	age    uint64 // of the current search
}

// format is the layout of an entry's data.
type format struct {
	score, depth, move uint // bits of each field
	data               uint // bits of all fields together
	full               int  // depth of a search to the end; its results hold for any depth
	plies              int  // the most moves in which a win may come; 0: entries do not store it
	shift              int  // subtracted from a proven score before it is stored
}

// Bits of work and age in an entry. The last age marks searches to an exact depth; all
// other searches use the remaining ages in turn.
const (
	workBits = 5
	ageBits  = 2
	exactAge = 1<<ageBits - 1
)

// mostMoveBits limits the bits of a move in an entry. Larger moves are truncated, which is
// harmless because the move is only used for ordering. mostDepthBits limits the bits of the
// depth in games where only the winner counts: a search of the maximum depth is then taken
// to be a search to the end.
const (
	mostMoveBits  = 11
	mostDepthBits = 10
)

// formatOf returns the format for a game with traits t.
func formatOf(t game.Traits) format {
	f := format{plies: t.MaxPlies}
	if f.plies == 0 {
		f.plies = game.MaxRemoteness
	}
	f.depth = uint(bits.Len(uint(f.plies)))
	if t.OnlyWho {
		f.depth, f.plies = min(f.depth, mostDepthBits), 0
	}
	f.score = 1 + uint(bits.Len(uint(game.MostAssessed+f.plies+1)))
	f.move = min(uint(bits.Len(uint(t.MaxMoves))), mostMoveBits)
	f.data = 2*f.score + f.depth + ageBits + workBits + f.move
	f.full = 1<<f.depth - 1
	f.shift = game.WonIn(0) - f.top()
	return f
}

// newTable makes an empty table from a slab of at least four words.
func newTable(slab []uint64, keyBits uint, f format) *table {
	t := &table{slab: slab, keyBits: keyBits, format: f, keep: true}
	for _, t.wide = range []bool{false, true} {
		t.buckets = uint64(len(slab)) / 2
		if t.wide {
			t.buckets /= 2
		}
		inBucket := (^uint64(0)>>(64-keyBits))/t.buckets + 1
		t.rest = 1<<bits.Len64(inBucket) - 1
		if uint(bits.Len64(t.rest))+f.data <= 64 {
			break
		}
	}
	t.clear() // erases old entries, and touches all pages so that no timed search waits for the system
	return t
}

func (t *table) clear() { clear(t.slab) }

// place returns the index of the first word of a key's bucket, and the stored part of the
// key.
func (t *table) place(key uint64) (at, rest uint64) {
	const odd = 0x9e3779b97f4a7c15
	shift := (64 - t.keyBits) & 63
	h := (key ^ key>>((t.keyBits+1)/2&63)) * odd << shift
	at, _ = bits.Mul64(h, t.buckets)
	if t.wide {
		return at * 4, key
	}
	return at * 2, h >> shift & t.rest
}

// An entry is the data stored for a position.
type entry uint64

// get returns the entry of a key, or 0 if there is none.
func (t *table) get(key uint64) entry {
	at, rest := t.place(key)
	if t.wide {
		b := t.slab[at : at+4 : at+4]
		for i := 0; i < 4; i += 2 {
			if data := t.load(&b[i+1]); t.load(&b[i])^data == rest {
				return entry(data)
			}
		}
		return 0
	}
	b := t.slab[at : at+2 : at+2]
	for i := range b {
		if w := t.load(&b[i]); w>>(t.data&63) == rest {
			return entry(w & (1<<(t.data&63) - 1))
		}
	}
	return 0
}

// put stores the entry of a key.
func (t *table) put(key uint64, e entry) {
	at, rest := t.place(key)
	size := uint64(1)
	w := [2]uint64{rest<<(t.data&63) | uint64(e)}
	if t.wide {
		size, w = 2, [2]uint64{rest ^ uint64(e), uint64(e)}
	}
	b := t.slab[at : at+2*size]
	var first [2]uint64
	for i := range size {
		first[i] = t.load(&b[i])
	}
	old := entry(first[0])
	same := first[0]>>(t.data&63) == rest
	if t.wide {
		old = entry(first[1])
		same = first[0]^first[1] == rest
	}
	to := size
	if same {
		to = 0
	} else if t.keep && (t.workOf(e) >= t.workOf(old) || t.ageOf(old) != t.age) {
		for i := range size {
			t.store(&b[size+i], first[i])
		}
		to = 0
	}
	for i := range size {
		t.store(&b[to+i], w[i])
	}
}

func (t *table) load(w *uint64) uint64 { return atomic.LoadUint64(w) }

// store is atomic only if the table is shared, because atomic stores are slower.
func (t *table) store(w *uint64, v uint64) {
	if t.shared {
		atomic.StoreUint64(w, v)
	} else {
		*w = v
	}
}

// top returns the highest score that fits: an immediate win, or more.
func (f *format) top() int { return 1<<(f.score-1) - 1 }

// short converts a score to its stored form. Evaluations are stored unchanged; proven
// scores are shifted to the ends of the range that fits.
func (f *format) short(score int) int {
	if score > mate {
		score = max(score-f.shift, f.top()-f.plies)
	} else if score < -mate {
		score = min(score+f.shift, f.plies-f.top())
	}
	return clamp(score, -f.top(), f.top())
}

// long is the inverse of short.
func (f *format) long(score int) int {
	if most := f.top() - f.plies - 1; score > most {
		score += f.shift
	} else if score < -most {
		score -= f.shift
	}
	return score
}

// pack makes an entry. Scores are stored with a bias (sign bit flipped), so that no entry
// is 0.
func (t *table) pack(low, high, depth, work int, move uint16) entry {
	bias := 1 << ((t.score - 1) & 63)
	e := uint64(move) & (1<<(t.move&63) - 1)
	e = e<<workBits | uint64(work)
	e = e<<ageBits | t.age
	e = e<<(t.depth&63) | uint64(depth)
	e = e<<(t.score&63) | uint64(t.short(high)+bias)
	return entry(e<<(t.score&63) | uint64(t.short(low)+bias))
}

// bounds returns the bounds of an entry, relative to its own position.
func (t *table) bounds(e entry) (low, high int) {
	mask, bias := uint64(1)<<(t.score&63)-1, 1<<((t.score-1)&63)
	return t.long(int(uint64(e)&mask) - bias), t.long(int(uint64(e)>>(t.score&63)&mask) - bias)
}

// field extracts bits bits of an entry, starting at bit at.
func field(e entry, at, bits uint) uint64 { return uint64(e) >> (at & 63) & (1<<(bits&63) - 1) }

func (t *table) depthOf(e entry) int  { return int(field(e, 2*t.score, t.depth)) }
func (t *table) ageOf(e entry) uint64 { return field(e, 2*t.score+t.depth, ageBits) }
func (t *table) workOf(e entry) int   { return int(field(e, 2*t.score+t.depth+ageBits, workBits)) }
func (t *table) moveOf(e entry) uint16 {
	return uint16(field(e, 2*t.score+t.depth+ageBits+workBits, t.move))
}
