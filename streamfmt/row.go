package streamfmt

// A Row is a record of a list: what is to say of a key is one word, whose meaning the
// kind of the list tells. Rows are sorted by Key, then by Word.
type Row struct{ Key, Word uint64 }

// A RowKind says what the words of a list are.
type RowKind uint8

// The kinds of lists.
const (
	// Parents: Word is the key of a position from which a move leads to Key, NoParent
	// if Key is the start of the game.
	Parents RowKind = iota
	// Messages: Word is the value of a position to which a move leads from Key, and
	// from bit 16 on the number of moves for which the message stands, at least 1.
	Messages
	// Values: Word is the value of Key.
	Values
)

// NoParent is the word of a position that no move has led to.
const NoParent = ^uint64(0)

// String is parents, messages or values.
func (k RowKind) String() string {
	if int(k) < len(rowKinds) {
		return rowKinds[k]
	}
	return "rows of an unknown kind"
}

var rowKinds = [...]string{Parents: "parents", Messages: "messages", Values: "values"}
