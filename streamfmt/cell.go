package streamfmt

import "math"

// A CellKind is what the cells of a pack file contain.
type CellKind uint8

// The kinds of cells: rows, whose words have the given meaning, or blocks.
const (
	// Predecessors: Word is the key of a predecessor of Key. The initial position, which has none,
	// has its own key as Word.
	Predecessors CellKind = iota
	// Messages: the low 16 bits of Word are the value of a successor of Key, 0 if it is a draw. The
	// bits above are the number of moves for which the message stands, at least 1. The word 0 means
	// that Key is due: what later tiers know decides it.
	Messages
	// Values: Word is the value of Key, 0 if it is a draw.
	Values
	// States: Word is what a job knows of Key. Rows of States have no form as a line.
	States
	// Blocks: a cell is a block, and its key the range.
	Blocks
	// HalfBlocks: blocks of a tier of which half is stored: at least one of each position and its mirror image.
	HalfBlocks
)

var kindNames = [...]string{"predecessors", "messages", "values", "states", "blocks", "blocks of half a tier"}

// String returns the name of the kind, such as "predecessors".
func (k CellKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "records of an unknown kind"
}

// isBlocks reports whether the cells are blocks. Their keys ascend.
func (k CellKind) isBlocks() bool { return k >= Blocks }

// A Cell locates consecutive records of a stage in a pack file, and contains all that the index says of them.
type Cell struct {
	First, Last uint64 // keys; both are the range of a block
	Offset      uint64
	Length      uint32
	Records     uint32
	Sum         uint32 // CRC-32C
	Stage       uint32 // the tier in the low 16 bits; above them, the number of a pass over it
}

// maxWord returns the largest word of a row, which is a power of two minus 1.
func (k CellKind) maxWord() uint64 {
	switch k {
	case Messages:
		return MaxRowTimes<<16 | maxRowValue
	case Values:
		return maxRowValue
	}
	return math.MaxUint64 // a key, or a state
}
