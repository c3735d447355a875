package numfmt

import (
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0", 999: "999", 1000: "1,000", 999_999: "999,999", 1_000_000: "1,000,000",
		1<<64 - 1: "18,446,744,073,709,551,615",
	} {
		if got := Number(n); got != want {
			t.Errorf("Number(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 moves", 1: "1 move", 2: "2 moves", 1234: "1,234 moves"} {
		if got := Count(n, "move"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 999.7e6: "1 GB", 3.44e12: "3.44 TB", 2e15: "2 PB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
	if got := Short(3_441_000); got != "3.44M" {
		t.Errorf("Short(3441000) = %q, want 3.44M", got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 2100: "2.1 µs", 999_800: "1 ms", 12_345_678: "12.3 ms", 999_700_000: "1 s", 1500 * time.Millisecond: "1.5 s",
		99_960 * time.Millisecond: "1.67 min", 723 * time.Second: "12.1 min", 99 * time.Minute: "99 min",
		206 * time.Minute: "3.43 h", 1234 * time.Hour: "1,234 h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0.0026: "0.26%", 0.5: "50%", 0.999: "100%", 1.3: "130%"} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
}
