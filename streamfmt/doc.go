// Package streamfmt is the two forms in which records travel and rest: lines
// of text, for people, pipes and Hadoop Streaming by hand; and packed, as blocks of
// bitmaps and values, in files and in the pairs of the driver's jobs, or as cells of
// rows, in files. It knows nothing of games, jobs or directories.
//
// # Lines
//
//	line  = key [ TAB value ] LF
//	key   = the position's hash in lower-case hexadecimal, of fixed width
//	value = ""            the position exists, its value is not known
//	      | 1…255         the value byte (outcome in the low two bits,
//	                      remoteness in the six high ones), in decimal
//	      | "m" 1…255     a message to the position: one of its moves leads to
//	                      a position of this value
//	      | "m" 1…255 "x" 2…63   so many of its moves do; in a tiered game, the best
//	                      of so many of its moves does
//
// In a game with cycles the outcome is a result: 1 LOSE, 2 WIN, 3 TIE for the
// player to move. A position without a value is one that is open.
//
// A line without a tab is a key with an empty value, and "key" and "key<TAB>"
// are the same, as in Hadoop Streaming. Keys of fixed width sort as bytes the
// way they sort as numbers: LC_ALL=C sort -t$'\t' -k1,1 -s.
//
// # Block files
//
// All of one tier, in ascending order of range; numbers are little-endian,
// uv is an unsigned varint.
//
//	file    = head  block …  page …  directory  summary  tail
//	head    = "TRBLOCK2" uv(len) spec uv(tier)
//	page    = { uv(range − the range before) uv(length of block) CRC-32C of block (4) } …
//	          256 blocks a page; the first range of a page is counted from itself: 0
//	directory, for each page
//	        = its first range (8)  offset of that block (8)  offset of the page (8)
//	          CRC-32C of the page (4)
//	summary = { value (1) count (8) } …           value 0: open positions
//	tail    = offset of the index (8)  of the directory (8)  of the summary (8)
//	          number of blocks (8)
//	          CRC-32C of head, directory, summary and tail so far (8)  "TRBLEND1"
//
// The last checksum holds those of the pages, they hold those of the blocks: whoever
// knows it, as the seal of a directory does, knows every byte, and need not read them.
//
//	block   = uv(slots) kind(1) [open set] [done set, values]
//	kind    = bit 0: open positions, bit 1: done positions
//	set     = levels(1) bitmap              see Encoder
//	values  = uv(n) n value bytes, ascending; then, if n > 1, for each done slot in
//	          ascending order the index of its value, in ⌈log2 n⌉ bits, packed
//	          from the lowest bit up
//
// # List files
//
// Rows, each a key and a word, of a game of which only the rules are known: all of one
// kind (Parents, Messages, Values), of one tier or, in an outbox, of many. The rows of a
// cell are of one tier, and sorted by key, then by word; the cells of a tier are in any
// order, but in a part, where they ascend, and have 1,024 rows, but for the last.
//
//	file    = head  cell …  page …  directory  summary  tail
//	head    = "TRLISTS1" uv(len) spec kind(1)       0 parents, 1 messages, 2 values
//	cell    = form(1) row …                         at most 1,024 rows
//	row     = lengths(1) step word                  of step in the four low bits, of word in
//	                                                the high ones: 0 to 8 bytes
//	step    = key − the key before, or the cell's first
//	word    = form 0: the word
//	          form 1: zigzag(word − key)            zigzag: 0, −1, 1, −2 … are 0, 1, 2, 3 …
//	          form 2: zigzag(word − the word before, or the cell's first key)
//	page    = { first key (8)  uv(last key − first)  uv(rows)
//	          uv(offset − end of the cell before, or 0)  uv(length)  CRC-32C of cell (4) } …
//	          a page a tier, for each of its cells
//	directory, for each page, by tier
//	        = tier (4)  cells (4)  rows (8)  offset of the page (8)  CRC-32C of the page (4)
//	summary = { value (2) count (8) } …             of values
//	tail    = as of block files, of so many rows, but for its end, "TRLSEND1"
//
// As lines, rows are
//
//	line    = key                              parents: the start, to which no move leads
//	        | key TAB "p" key                  parents: a move leads from the second to the first
//	        | key TAB "m" 1…65535 ["x" 2…65535]    messages: the value of so many children
//	        | key TAB 1…65535                  values
//
// # Range files
//
// What is known of the positions of a game with cycles: the same file with other
// blocks, each the hashes of a range, and with tier 0.
//
//	file    = "TRRANGE2" … as above
//	block   = uv(slots) plane …             nine, in the order of block.State
//	plane   = set | 5                       no slot
//	                | 6                     the same as the first plane
//
// So a hash takes at most 9 bits, and 36 bytes a range. The summary counts, in the
// files of the table and in those of new positions, by remoteness<<2 | result.
//
// # Pairs
//
// What Hadoop Streaming calls rawbytes: a block with its range as the key, from
// mapper to reducer. Numbers are big-endian, so that the order of the bytes is
// the order of the ranges.
//
//	pair = length(4) range(8)  length(4) block
//
// In a game with cycles the block is what a range heard, packed as the planes of a
// block.Heard.
package streamfmt
