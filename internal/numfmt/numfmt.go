// Package numfmt formats counts, sizes, durations and shares for people. What programs read has
// plain numbers instead. The package does not know what is counted.
package numfmt

import (
	"fmt"
	"strconv"
	"time"
)

// Number formats n with a comma between groups of three digits: "1,234,567".
func Number[N int | int64 | uint64 | float64](n N) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count formats a number of things: "1 move", "1,234 moves".
func Count[N int | int64 | uint64 | float64](n N, one string) string {
	return Number(n) + " " + Noun(n, one)
}

// Noun returns the singular for 1, and the plural for all other numbers.
func Noun[N int | int64 | uint64 | float64](n N, one string) string {
	if n == 1 {
		return one
	}
	return one + "s"
}

// Short formats a number with three digits and a prefix: "3.4M".
func Short(n float64) string {
	digits, prefix := scaled(n)
	return digits + prefix
}

// Bytes formats a number of bytes: "3.4 TB".
func Bytes(n float64) string {
	digits, prefix := scaled(n)
	return digits + " " + prefix + "B"
}

// scaled returns a number with three digits and the prefix of its unit: "3.4" and "T".
func scaled(n float64) (digits, prefix string) {
	for _, prefix := range []string{"", "k", "M", "G", "T"} {
		if n < 999.5 {
			return fmt.Sprintf("%.3g", n), prefix
		}
		n /= 1000
	}
	return fmt.Sprintf("%.4g", n), "P"
}

// Duration formats a duration: "69.8 ms", "1.23 s", "12.1 min", "137 h".
func Duration(d time.Duration) string { return Seconds(d.Seconds()) }

// Seconds formats a number of seconds as Duration does.
func Seconds(s float64) string {
	switch {
	case s == 0:
		return "0 s"
	case s < 0.9995e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 0.9995:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s < 99.95:
		return fmt.Sprintf("%.3g s", s)
	case s < 100*60:
		return fmt.Sprintf("%.3g min", s/60)
	case s < 999.5*3600:
		return fmt.Sprintf("%.3g h", s/3600)
	}
	return Number(s/3600) + " h"
}

// Percent formats a share with at least two digits: "0.26%", "130%".
func Percent(share float64) string {
	if share >= 0.995 {
		return fmt.Sprintf("%.0f%%", 100*share)
	}
	return fmt.Sprintf("%.2g%%", 100*share)
}
