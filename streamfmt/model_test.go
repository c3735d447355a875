package streamfmt

import "testing"

// TestDivide compares divisions by every frequency with those of the processor, near the multiples of the
// frequency and near the bounds of the coder's state.
func TestDivide(t *testing.T) {
	for f := uint32(1); f < total; f++ {
		freqs := make([][256]uint16, 3)
		for context := range freqs {
			freqs[context][0], freqs[context][1] = uint16(f), uint16(total-f)
		}
		s := &newModel([]byte{1, 2}, freqs).contexts[0].symbols[0]
		for shift := range 32 {
			for _, of := range []uint32{1 << shift, 1<<shift | 0x5555_5555>>(31-shift), 1<<32 - 1} {
				for _, x := range []uint32{of - of%f - 1, of - of%f, of - 1, of} {
					if got := s.divide(x); got != x/f {
						t.Fatalf("%d/%d: expected %d, found %d", x, f, x/f, got)
					}
				}
			}
		}
	}
}
