// Package streamfmt defines the two encodings of records. Text encodes a record as a line, for
// people, pipes and jobs that a user starts with Hadoop Streaming. The packed encoding stores
// records in cells of a pack file: blocks (bitmaps and values) or sorted rows. The package knows nothing of games,
// jobs or directories.
//
// A Packer makes cells, and a Writer puts them into a file. OpenFile opens it. A Cursor locates the cells of a stage, by key or
// by number, and reads blocks; a RowReader reads rows. Each page of the index and each cell is verified when it is read.
//
// # Lines
//
//	line  = key [ TAB value ] LF
//	key   = the position's hash in lower-case hexadecimal, of fixed width
//	value = ""            the position exists; its value is not known (open)
//	      | 1…255         the value byte (outcome in the low two bits,
//	                      remoteness in the high six), in decimal
//	      | "m" 1…255     a message to the position: one of its moves leads to
//	                      a position with this value
//
// The outcome is 1 if the second player wins, 2 if the first player wins, and 3 for a tie. If
// OfMover is set in the game.Values of the game, the
// outcome is instead the result for the player to move: 1 LOSE, 2 WIN, 3 TIE. For example, the
// value byte 21 is 5<<2 | 1: the second player wins in 5 plies, or the player to move loses in
// 5. A position without a value is open.
//
// A line without a tab has an empty value: "key" and "key<TAB>" are the same record, as in
// Hadoop Streaming. Because keys have a fixed width, their order as bytes is their order as
// numbers, and sort(1) can sort them: LC_ALL=C sort -t$'\t' -k1,1 -s.
//
// # Pack files
//
// A pack file contains records of a game in cells. A cell is a block, which contains the positions of one tier and range, or up
// to 1,024 rows of one stage, sorted by key, then by word. A range is a set of consecutive keys that share their high part, and a
// slot is the number of a position within a range of a tier. A row is a key and a word. The stage of a cell is its tier; in a
// file of outgoing rows the number of a pass may be above the 16 bits of the tier. There, the cells of a stage are in any order;
// otherwise, keys ascend. Numbers are little-endian; uv is an unsigned varint; a number in parentheses is a length in bytes.
// spec is the game, as Spec of game.Game returns it.
//
//	file    = head  { cell | page } …  directory  summary  tail
//	head    = "TRPACK04" uv(len) spec kind(1)
//	kind    = 0 predecessors, 1 messages, 2 values, 3 states; 4 blocks, 5 blocks of which half is stored
//	page    = { uv(first key − last key of the previous cell)  uv(last key − first key)  uv(records)
//	          uv(offset − end of the previous cell)  uv(length)  CRC-32C of the cell (4) } …
//	          of 256 cells of a stage, fewer on its last page, all of which precede the page. For the first of them, the previous
//	          cell ends where it begins. The second number is missing if the cells are blocks, whose first and last key are the
//	          range, and the fourth is if all cells and the page are contiguous.
//	directory = uv(pages), then for each page, by stage
//	          uv(stage − the previous one)  uv(first key, or in the stage of the previous page its difference)
//	          uv(2 · cells, and 1 more if they are not contiguous)  uv(records)
//	          uv(zigzag(offset of the first cell − end of the previous page))  uv(offset of the page − that of its first cell)
//	          uv(length of the page)  CRC-32C of the page (4)            zigzag: 0, −1, 1, −2 … become 0, 1, 2, 3 …
//	summary = uv(values)  { uv(value) uv(records) } …       value 0: open positions of blocks; nothing for other rows than values
//	          then, if blocks may be compact: File.Content (8)  model
//	tail    = offset of the directory (8)  CRC-32C of head, directory and summary (4)  CRC-32C of the tail up to here (4)  "TRPACK04"
//
// If half is stored, there is at least one of each position and its mirror image. The summary counts all positions, as if the
// others were stored as well.
//
// A writer has a page of each stage and the directory in memory, and a reader the directory, so their memory hardly depends on the
// number of cells. A page of a single stage follows its cells, so both are read at once. The checksum in the tail covers those
// of the pages, and these cover those of the cells, so it identifies the contents of the file: the seal of a directory has it, and
// a file is checked against the seal without reading the cells.
//
// # Blocks
//
//	block   = uv(slots) kind(1) [open set] [done set, values]
//	kind    = bit 0: open positions, bit 1: done positions
//	set     = levels(1) bitmap              see below
//	values  = uv(n) n value bytes, ascending; then, if n > 1, for each done slot in
//	          ascending order the index of its value, in ⌈log2 n⌉ bits, packed
//	          from the lowest bit up
//
// A set is a bitmap in which slot s is bit s%8 of byte s/8. Up to four levels remove its zero
// bytes. Level 1 keeps the bytes that are not zero, and a mask in which bit i%8 of byte i/8 is
// set if byte i of the bitmap was kept. Level 2 does the same to the mask of level 1, and so
// on. What is stored is the number of levels, the mask of the last level (the bitmap itself if
// there are no levels), then the bytes that each level kept, from the last level to the first.
//
// # Compact blocks
//
// Compact blocks of a game.Deduced leave out what the rules say (see block.Deduced): which slots cannot be positions, and the
// values of known positions. Those of kind 4 are in files of the table, which have a model, and have no open positions. In those
// of kind 5, written by forward jobs, the positions whose known value has remoteness 0 have it, and all others are open.
//
//	block   = uv(slots) 4 { uv(length of segment) } … segment …     no length of the last segment
//	        | uv(slots) 5 absent
//	segment = absent codes                  of 4,096 slots, except at the end of the block
//	absent  = set                           slots of the segment or block that could be positions, and are none
//	        | 5                             an empty set
//	codes   = state(4) [state(4)] word(2) …
//	                                        the values of the other slots that are not known; nothing if
//	                                        there are none, or the model has one value
//	model   = n(1) n value bytes, ascending; then, if n > 1, frequencies: for each context, and each value
//	          there, uv(frequency−1); a zero is followed by uv(number of further zeros)
//
// The frequencies of a context have the sum 4,096. The context of the first value of a segment is the
// first one; that of another value is one more than the index of the value before it. model.go describes
// the codes. From 128 values on, two states code values in turn, the first state the first value.
//
// # Rows
//
// Games that are solved by layers are stored as rows, whose words have the meaning of the CellKind.
//
//	cell    = form(1) row …                         at most 1,024 rows
//	row     = lengths(1) step word                  bits 0 to 3: length of step, bits 4 to 7:
//	                                                length of word; each 0 to 8 bytes
//	step    = key − the previous key, or the cell's first key
//	word    = form 0: the word
//	          form 1: zigzag(word − key)
//	          form 2: zigzag(word − the previous word, or the cell's first key)
//	          form 3: rowcoded.go describes it
//
// As text, a row is a line:
//
//	line    = key                              predecessors: a position without one, or whose game computes them
//	        | key TAB "p" key                  predecessors: a move leads from the second to the first
//	        | key TAB "m" 0…65535 ["x" 2…65535]    messages: a successor's value, and the number
//	                                               of moves for which the message stands
//	        | key TAB "d"                      messages: what later tiers know decides the position
//	        | key TAB 0…65535                  values; 0: a draw
//
// States have no form as text.
//
// # Pairs
//
// A pair is the message of a mapper to a reducer: a block with its range as the key, or a pack file of sorted rows with
// the first of their keys, in the format that Hadoop Streaming calls rawbytes. Numbers are big-endian, so that the order of
// the bytes is the order of the keys.
//
//	pair = length(4) range(8)  length(4) block
//	     | length(4) key(8)    length(4) pack file
package streamfmt
