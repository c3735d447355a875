package numfmt_test

import (
	"testing"

	"github.com/treereduce/treereduce/internal/numfmt"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "1000": 1000, "1K": 1 << 10, "256M": 256 << 20, "4g": 4 << 30, "5T": 5 << 40} {
		if got, err := numfmt.ParseSize(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "1.5G", "1MM", "9999999999G", "9999999T", "4 G"} {
		if got, err := numfmt.ParseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"256M", "4g", "", "9223372036854775807K"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := numfmt.ParseSize(text); err == nil && n < 0 {
			t.Errorf("%q is %d bytes", text, n)
		}
	})
}
