package streamfmt

import (
	"strings"
	"testing"
)

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

// TestForgedModel reads models whose file has correct checksums. A decoder of frequencies that do not add up to total
// would not end.
func TestForgedModel(t *testing.T) {
	// Frequencies of two values in a context, less one: 2048 and 2048; 1, no further ones, and 4095.
	const even, uneven, values = "\xff\x0f\xff\x0f", "\x00\x00\xfe\x1f", "\x02\x05\x06"
	for src, ok := range map[string]bool{
		"\x00":                                true,
		"\x01\x05":                            true,
		values + even + uneven + even:         true,
		"":                                    false,
		"\x02\x05":                            false,
		"\x01\x00":                            false,
		"\x02\x05\x05" + even + uneven + even: false,
		"\x02\x06\x05" + even + uneven + even: false,
		"\x01\x05\x00":                        false,
		values + even + uneven:                false,
		values + even + uneven + "\x00":       false,
		values + even + uneven + "\x00\x01":   false, // their sum is 2
		values + even + uneven + even[:2] + "\x80\x10":                      false, // 4097
		values + even + uneven + "\xfe\x1f\x00\x01":                         false, // one more 1 than there are frequencies
		values + even + uneven + even + "\x00":                              false,
		values + even + uneven + strings.Repeat("\xff", 9) + "\x01\xff\x1f": false, // 0 and 4096
	} {
		if m := readModel(&varints{rest: []byte(src)}); (m != nil) != ok {
			t.Errorf("%x: read %v", src, m)
		}
	}
}
