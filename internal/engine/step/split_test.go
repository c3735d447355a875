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

// TestSplitsName checks that the name of an input gives its splits, and that other names are
// errors.
func TestSplitsName(t *testing.T) {
	if from, to, err := ParseSplitsName(SplitsName(12, 345)); from != 12 || to != 345 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
	for _, name := range []string{"", "12", "-1-2", "5-4", "part-00000"} {
		if from, to, err := ParseSplitsName(name); err == nil {
			t.Errorf("%q: %d to %d, want an error", name, from, to)
		}
	}
}
