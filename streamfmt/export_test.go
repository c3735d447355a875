package streamfmt

import "math"

// ReadCell reads the rows of a packed cell.
func ReadCell(src []byte, cell Cell) ([]Row, error) {
	return new(RowReader).decode(nil, src, &cell, math.MaxUint64, math.MaxUint64)
}
