package step

import "testing"

// FuzzSplit checks that a line that parses as a split is formatted as the same line.
func FuzzSplit(f *testing.F) {
	f.Add("data/part-00000.blocks\t0\tff")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, line string) {
		s, ok := parseSplit(line)
		if !ok {
			return
		}
		if again, ok := parseSplit(s.String()); !ok || again != s {
			t.Errorf("%q: %+v, then %+v", line, s, again)
		}
	})
}
