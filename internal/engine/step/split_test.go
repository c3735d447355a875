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

// TestSplitsName checks that the name of an input gives its splits. A name of another form, or of
// another plan, is an error.
func TestSplitsName(t *testing.T) {
	const plan = "_attempt-data_first2-0123456789.plan"
	if from, to, err := ParseSplitsName(plan, SplitsName(plan, 12, 345)); from != 12 || to != 345 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
	for _, name := range []string{"", "12", "12-345", "-1-2-" + plan, "5-4-" + plan, "+4-5-" + plan, "04-5-" + plan, "part-00000",
		SplitsName("_attempt-data_first2-987654321a.plan", 12, 345)} {
		if from, to, err := ParseSplitsName(plan, name); err == nil {
			t.Errorf("%q: %d to %d, want an error", name, from, to)
		}
	}
}

// FuzzSplitsName checks that a name that parses is that of its splits and its plan.
func FuzzSplitsName(f *testing.F) {
	f.Add("_attempt-x-0.plan", "12-345-_attempt-x-0.plan")
	f.Add("", "4-5-")
	f.Fuzz(func(t *testing.T, plan, name string) {
		from, to, err := ParseSplitsName(plan, name)
		if err == nil && (from < 0 || from > to || SplitsName(plan, from, to) != name) {
			t.Errorf("%q of %q: %d to %d", name, plan, from, to)
		}
	})
}
