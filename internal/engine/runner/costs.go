package runner

// A Tier is the number of positions of a tier of a game.
type Tier struct {
	Tier int `json:"tier"`
	// Positions is their number, Low <= Positions <= High. If it is exact, all three are
	// equal; if it is sampled, Low to High is a 95 % interval; if it is estimated, it was within Low to High for
	// all games that were tried; if it is a lower bound, Low is equal to Positions, and High is an upper bound.
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// Images is the number of the positions with their images: Positions, unless they are canonical ones.
	Images float64 `json:"images"`
	// Won is the number of positions in which a player has won. It is unknown, and 0, if
	// the count is a bound.
	Won float64 `json:"won"`
	// Moves is the total number of their moves, by layers of their distinct successors, which is the number of
	// messages of the forward jobs.
	Moves float64 `json:"moves"`
	// Far is the number of moves that lead beyond the next tier.
	Far float64 `json:"far,omitempty"`
	// Cells is the number of ranges that contain positions of the tier, and Slots the number
	// of bits of their bitmaps (game.Blockwise). Like Positions, they are exact, estimated, or
	// bounds; they are 0 in a game without ranges.
	Slots float64 `json:"slots"`
	Cells float64 `json:"cells"`
	// StoredCells and StoredSlots are those of the ranges of which the table stores positions.
	StoredCells float64 `json:"stored_cells,omitempty"`
	StoredSlots float64 `json:"stored_slots,omitempty"`
	// Ends is the number of positions whose mover can win at once, and Lost that of the others in which he
	// loses with the next move, whatever he does. Absent is the number of slots that could be positions, as far
	// as Deduce knows, and are none. They are estimates, and 0 in a game that is not Deduced.
	Ends   float64 `json:"ends,omitempty"`
	Lost   float64 `json:"lost,omitempty"`
	Absent float64 `json:"absent,omitempty"`
	// Draws is the number of boards drawn, 0 if the count is exact.
	Draws int64 `json:"draws"`
}

// Exact reports whether the count is exact.
func (t Tier) Exact() bool { return t.Low == t.High }

// Error returns the possible relative error of the count: half the interval, divided by the
// count. It is infinite if no position was found.
func (t Tier) Error() float64 {
	if t.Exact() {
		return 0
	}
	return (t.High - t.Low) / 2 / t.Positions
}

// A Cost is what a tier costs, as a method estimates it.
type Cost struct {
	Stored float64 // positions that the table stores, in a game of which it may store fewer; otherwise 0
	Kept   float64 // bytes in the table
	Work   float64 // bytes in data_first
	Peak   float64 // bytes on disk, for all tiers, while the tier is solved
	CPU    float64 // time, in units: that of a position
}
