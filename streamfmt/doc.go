// Package streamfmt defines the two encodings of records. Text encodes a record as a line, for
// people, pipes and jobs that a user starts with Hadoop Streaming. The packed encoding stores
// records as blocks (bitmaps and values) or as cells (sorted rows). Files contain blocks or
// cells; the pairs of the driver's jobs contain blocks. The package knows nothing of games,
// jobs or directories.
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
//	      | "m" 1…255 "x" 2…63   a message that stands for 2 to 63 moves: each of
//	                      them leads to a position with this value; in a tiered
//	                      game, this is the best value that they lead to
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
// # Block files
//
// A block contains the positions of one tier and range. A range is a set of consecutive keys
// that share their high part, and a slot is the number of a position within a range of a tier.
// A block file contains the blocks of one tier in ascending order of range. Numbers are
// little-endian; uv is an unsigned varint; a number in parentheses is a length in bytes. spec
// is the game, as Spec of game.Game returns it.
//
//	file    = head  { block … page } …  directory  summary  tail
//	head    = "TRBLOCK3" uv(len) spec uv(tier) half(1)
//	page    = { uv(range − the previous range) uv(length of block) CRC-32C of block (4) } …
//	          of the blocks before it, 256 except at the end of the file; the first
//	          difference of a page is 0
//	directory, for each page
//	        = its first range (8)  offset of that block (8)  offset of the page (8)
//	          CRC-32C of the page (4)
//	summary = { value (1) count (8) } …           value 0: open positions
//	          if half is 1: then the number of positions that are stored (8)
//	tail    = offset of the directory (8)  the same again (8)  offset of the summary (8)
//	          number of blocks (8)
//	          CRC-32C of head, directory, summary and tail up to here (8)  "TRBLEND1"
//
// If half is 1, the file stores only half of the positions of its tier: at least one of each
// position and its mirror image. Its summary counts all positions, as if the others were stored
// as well. Otherwise half is 0.
//
// The pages are the index. A writer and a reader have only its directory and a page of it in
// memory, so their memory hardly depends on the number of blocks. The checksum in the tail covers the checksums of the
// pages, and these cover the checksums of the blocks, so it identifies the contents of the
// file. The seal of a directory records it. A reader checks a file against the seal without
// reading the blocks, and verifies each block when it reads it.
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
// A file of the table of a game.Deduced begins with "TRBLOCK4". An entry of its index has uv(records)
// before the checksum, and its summary ends with a model, File.Content (8), and the length of the model (4). It may contain
// blocks as above, and compact blocks. These have no open positions, and leave out what the rules say
// (see block.Deduced): which slots cannot be positions, and the values of known positions.
//
//	block   = uv(slots) 4 { uv(length of segment) } … segment …     no length of the last segment
//	segment = absent codes                  of 4,096 slots, except at the end of the block
//	absent  = set                           slots of the segment that could be positions, and are none
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
// # List files
//
// A list file contains rows, each a key and a word. Lists store the games that are solved by
// layers. All rows of a file are of one kind (Predecessors, Messages, Values or States). They
// belong to one tier, or in a file of outgoing rows to many tiers and passes over tiers. Rows are
// grouped into cells. The rows of a cell belong to one tier and pass, and are sorted by key, then by word. In a shard
// and in the table, the cells are in ascending order, and each has 1,024 rows, except the
// last. In a file of outgoing rows, the cells of a tier and pass are in any order.
//
//	file    = head  cell …  page …  directory  summary  tail
//	head    = "TRLISTS1" uv(len) spec kind(1)       0 predecessors, 1 messages, 2 values, 3 states
//	cell    = form(1) row …                         at most 1,024 rows
//	row     = lengths(1) step word                  bits 0 to 3: length of step, bits 4 to 7:
//	                                                length of word; each 0 to 8 bytes
//	step    = key − the previous key, or the cell's first key
//	word    = form 0: the word
//	          form 1: zigzag(word − key)            zigzag: 0, −1, 1, −2 … become 0, 1, 2, 3 …
//	          form 2: zigzag(word − the previous word, or the cell's first key)
//	page    = { first key (8)  uv(last key − first key)  uv(rows)
//	          uv(offset − end of the previous cell of the page, or 0)  uv(length)
//	          CRC-32C of cell (4) } …
//	          one page for each tier, with an entry for each of its cells
//	directory, for each page, by tier
//	        = tier (4)  cells (4)  rows (8)  offset of the page (8)  CRC-32C of the page (4)
//	          the tier has 16 bits; above them is the number of the pass, if the rows are outgoing
//	summary = { value (2) count (8) } …             empty unless the rows are values
//	tail    = as in block files, but with the offset of the first page, the number of rows
//	          instead of blocks, and "TRLSEND1" at the end
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
// A pair is the message of a mapper to a reducer: a block with its range as the key, or a list file of sorted rows with
// the first of their keys, in the format that Hadoop Streaming calls rawbytes. Numbers are big-endian, so that the order of
// the bytes is the order of the keys.
//
//	pair = length(4) range(8)  length(4) block
//	     | length(4) key(8)    length(4) list file
package streamfmt
