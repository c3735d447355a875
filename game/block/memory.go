package block

import "sync"

// A Memory is the memory of blocks that are dropped together. It is safe for concurrent use.
type Memory struct {
	mu          sync.Mutex
	limit, used int // in bytes
	words       pieces[uint64]
	bytes       pieces[byte]
}

const (
	// blockBytes is about the size of a Block without its slots, and of its entry in a map.
	blockBytes = 512
	// blockSets is the number of sets of a Block.
	blockSets = 3 + KnownValues
)

// Block returns a block with memory for n slots, without a range; nil if all memory would exceed the limit.
func (m *Memory) Block(n int) *Block {
	words, bytes := Words(n), n+1+wordSlots
	size := blockBytes + 8*blockSets*words + bytes
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used+size > m.limit {
		return nil
	}
	m.used += size
	sets, val := m.words.take(blockSets*words), m.bytes.take(bytes)
	set := func(i int) Set { return sets[i*words : i*words : (i+1)*words] }
	b := &Block{Open: set(0), Done: set(1), Val: val}
	b.deduced.Unknown = set(2)
	for i := range b.deduced.Known {
		b.deduced.Known[i] = set(3 + i)
	}
	return b
}

// Used returns the number of bytes that are in use.
func (m *Memory) Used() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Reset drops all that is in use. What follows takes limit bytes at most.
func (m *Memory) Reset(limit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.used = limit, 0
	m.words.reset(limit / 8)
	m.bytes.reset(limit)
}

// pieces are pieces of memory, which are used again after reset.
type pieces[T any] struct {
	all   [][]T
	begun int // how many of them are in use
	left  []T // the rest of the last one in use
}

// pieceLen is the least length of a piece.
const pieceLen = 1 << 16

// take returns memory for n elements, with any contents.
func (p *pieces[T]) take(n int) []T {
	for n > len(p.left) {
		if p.begun == len(p.all) {
			p.all = append(p.all, make([]T, max(n, pieceLen)))
		}
		p.left = p.all[p.begun]
		p.begun++
	}
	taken := p.left[:n:n]
	p.left = p.left[n:]
	return taken
}

// reset ends the use of all memory. It drops the pieces that were not in use, and those beyond a number of
// elements.
func (p *pieces[T]) reset(most int) {
	kept := 0
	for kept < p.begun && len(p.all[kept]) <= most {
		most -= len(p.all[kept])
		kept++
	}
	clear(p.all[kept:])
	p.all, p.begun, p.left = p.all[:kept], 0, nil
}
