package memo

import (
	"errors"
	"math"
	"math/bits"
	"unsafe"

	"github.com/treereduce/treereduce/game"
)

// A Table is a hash table by separate chaining: every chain is a linked list of the
// positions whose hash is its number.
//
//	chain 0 ──▶ key, verdict ──▶ key, verdict
//	chain 1
//	chain 2 ──▶ key, verdict
//
// It only grows. The number of chains is fixed, so a look-up takes the longer the more
// positions there are to a chain: what the hand-out's experiment measures.
type Table struct {
	chains []uint32    // where each list begins: an element's number, from 1; 0: nowhere
	blocks [][]element // element n is blocks[(n-1)/blockSize][(n-1)%blockSize]
	len    uint32
	most   uint32 // elements
	steps  uint64
}

// An element is a position in a list.
type element struct {
	key   game.Position
	next  uint32
	value game.Value
	move  uint16
}

// blockSize is how many elements are allocated at once: 1 MB. An array that grew would
// be copied, and take twice its memory meanwhile.
const blockSize = 1 << 16

// elementBytes is what an element takes, chainBytes the head of a chain.
const (
	elementBytes = int64(unsafe.Sizeof(element{}))
	chainBytes   = int64(unsafe.Sizeof(uint32(0)))
)

// errMemory is the error of a table that has no room for its chains and a position.
var errMemory = errors.New("they take all of it, and leave no room for a position")

// NewTable makes a table of so many chains, at least 1, that takes memory bytes at most.
func NewTable(chains int, memory int64) (*Table, error) {
	room := (memory/chainBytes - int64(chains)) * chainBytes / elementBytes
	if room < 1 {
		return nil, errMemory
	}
	return &Table{chains: make([]uint32, chains), most: uint32(min(room, math.MaxUint32))}, nil
}

// chain is the number of a position's chain. The product's high bits depend on all bits
// of the position; those of the second one are the share of all chains that the first
// is of 1<<64.
func (t *Table) chain(p game.Position) uint32 {
	const golden = 0x9e3779b97f4a7c15 // 1<<64 / φ
	p ^= p >> 32
	chain, _ := bits.Mul64(p*golden, uint64(len(t.chains)))
	return uint32(chain)
}

// Lookup returns what was inserted for a position.
func (t *Table) Lookup(p game.Position) (v Verdict, ok bool) {
	for at := t.chains[t.chain(p)]; at != 0; {
		t.steps++
		e := &t.blocks[(at-1)/blockSize][(at-1)%blockSize]
		if e.key == p {
			return Verdict{Move: int(e.move) - 1, Value: e.value}, true
		}
		at = e.next
	}
	return Verdict{}, false
}

// Insert puts a position, which is not in the table, at the head of its chain. It
// returns false if there is no room for it.
func (t *Table) Insert(p game.Position, v Verdict) bool {
	if t.len == t.most || v.Move >= math.MaxUint16 {
		return false
	}
	if t.len%blockSize == 0 {
		t.blocks = append(t.blocks, make([]element, min(blockSize, t.most-t.len)))
	}
	head := &t.chains[t.chain(p)]
	t.blocks[t.len/blockSize][t.len%blockSize] = element{key: p, next: *head, value: v.Value, move: uint16(v.Move + 1)}
	t.len++
	*head = t.len
	return true
}

// Len is the number of positions in the table, Chains that of its chains, Steps how many
// elements all look-ups have compared.
func (t *Table) Len() int      { return int(t.len) }
func (t *Table) Chains() int   { return len(t.chains) }
func (t *Table) Steps() uint64 { return t.steps }

// MeanChain is the mean number of positions in a chain.
func (t *Table) MeanChain() float64 { return float64(t.len) / float64(len(t.chains)) }
