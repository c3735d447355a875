package task

import "testing"

// FuzzShare checks that a line that parses as a share is formatted as the same line.
func FuzzShare(f *testing.F) {
	f.Add("data/part-00000.blocks\t0\tff")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, line string) {
		s, ok := parseShare(line)
		if !ok {
			return
		}
		if again, ok := parseShare(s.String()); !ok || again != s {
			t.Errorf("%q: %+v, then %+v", line, s, again)
		}
	})
}
