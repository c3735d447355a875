package memo

import (
	"errors"
	"math"
	"math/bits"
	"unsafe"

	"github.com/treereduce/treereduce/game"
)

// A Table is a hash table with separate chaining: each chain is a linked list of the
// positions whose hash is the number of the chain.
//
//	chain 0 ──▶ key, verdict ──▶ key, verdict
//	chain 1
//	chain 2 ──▶ key, verdict
//
// Positions are never removed. The number of chains is fixed, so a lookup takes longer the
// more positions there are in a chain.
type Table struct {
	chains []uint32    // the first element of each list: its number, from 1; 0: none
	blocks [][]element // element n is blocks[(n-1)/blockSize][(n-1)%blockSize]
	len    uint32
	most   uint32 // maximum number of elements
	steps  uint64
}

// An element is an entry in a list.
type element struct {
	key   game.Position
	next  uint32
	value game.Value
	move  uint16
}

// blockSize is the number of elements allocated at once: 1 MB. A single growing array would
// be copied, and would need twice its memory during the copy.
const blockSize = 1 << 16

// elementBytes is the size of an element, chainBytes that of the head of a chain.
const (
	elementBytes = int64(unsafe.Sizeof(element{}))
	chainBytes   = int64(unsafe.Sizeof(uint32(0)))
)

// errMemory is the error for a memory that is too small for the chains and one position.
var errMemory = errors.New("no memory is left for positions")

// NewTable makes a table with the given number of chains, at least 1, that takes at most
// memory bytes.
func NewTable(chains int, memory int64) (*Table, error) {
	capacity := (memory/chainBytes - int64(chains)) * chainBytes / elementBytes
	if capacity < 1 {
		return nil, errMemory
	}
	return &Table{chains: make([]uint32, chains), most: uint32(min(capacity, math.MaxUint32))}, nil
}

// chain returns the number of a position's chain. The high bits of the first product depend
// on all bits of the position; the second product scales the first from 1<<64 to the number
// of chains.
func (t *Table) chain(p game.Position) uint32 {
	const golden = 0x9e3779b97f4a7c15 // 1<<64 / φ
	p ^= p >> 32
	chain, _ := bits.Mul64(p*golden, uint64(len(t.chains)))
	return uint32(chain)
}

// Lookup returns the verdict that was inserted for a position.
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

// Insert inserts a position, which must not be in the table, at the head of its chain. It
// returns false if the table is full.
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

// Len returns the number of positions in the table, Steps the number of elements that all lookups
// have compared.
func (t *Table) Len() int      { return int(t.len) }
func (t *Table) Steps() uint64 { return t.steps }

// MeanChain returns the mean number of positions in a chain.
func (t *Table) MeanChain() float64 { return float64(t.len) / float64(len(t.chains)) }
