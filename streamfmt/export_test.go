package streamfmt

import (
	"bytes"
	"hash/crc32"
	"math"
	"slices"
)

// ReadDamagedList reads file as a packed cell. Then it reads file as a list file, with turn
// applied to a byte of the index and with correct checksums. Neither may panic.
func ReadDamagedList(file []byte, at int, turn byte) {
	cell := Cell{First: uint64(at), Last: uint64(at) + 100, Rows: uint32(at)%CellRows + 1, Length: uint32(len(file))}
	_, _ = ReadCell(file, cell)

	f, err := OpenListFile(bytes.NewReader(file), int64(len(file)), "x")
	if err != nil || f.dirAt == f.index {
		return
	}
	damaged := bytes.Clone(file)
	damaged[f.index+uint64(at)%(f.dirAt-f.index)] ^= turn
	f = f.With(bytes.NewReader(damaged))
	f.pages = slices.Clone(f.pages)
	for i, tier := range f.tiers {
		p := &f.pages[i]
		p.sum = crc32.Checksum(damaged[p.at:p.end], castagnoli)
		cells, err := f.Cells(tier)
		if err != nil {
			continue
		}
		for _, c := range cells {
			c.Sum = crc32.Checksum(damaged[c.Offset:c.Offset+uint64(c.Length)], castagnoli)
			var r CellReader
			_, _ = r.Append(nil, f, []Cell{c})
		}
	}
}

// ReadCell reads the rows of a packed cell.
func ReadCell(src []byte, cell Cell) ([]Row, error) {
	return new(CellReader).decode(nil, src, cell, math.MaxUint64, math.MaxUint64)
}
