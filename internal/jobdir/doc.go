// Package jobdir reads and writes the records in the directories of jobs and of the
// table, as text or packed, held to their seals: of a tiered game blocks, of a game with
// cycles states. To those above, a tier is blocks in ascending order of range, whatever
// the form of its parts (Tier); and so are the ranges of a game with cycles (States).
// What the text form of streamfmt says of single positions, package block holds by the
// thousand. In the directory of a pass over a game with cycles lie three things:
//
//	part-00000.blocks     the positions that are new, which the next pass reads
//	_ranges-00000.blocks  the new states of the ranges that heard something
//	_index                which directory has the newest state of each range
//
// A name that begins with _ is no input to a job. The directories of a run lie
// side by side, and the index of one names others, so a range that heard nothing
// is carried by reference. The package knows nothing of steps or runners; what lists of
// rows are is package lists' to know, and only their seals are here.
package jobdir
