package all

import "testing"

// FuzzParse checks that the Spec of a parsed game parses to the same game.
func FuzzParse(f *testing.F) {
	f.Add("connectn width=4 height=5 connect=3")
	f.Add("connectn width=0 height=5 connect=3")
	f.Add("quickcross width=4 height=3 connect=3")
	f.Add("chess")
	f.Fuzz(func(t *testing.T, spec string) {
		g, err := Kinds().Parse(spec)
		if err != nil {
			return
		}
		if again, err := Kinds().Parse(g.Spec()); err != nil || again.Spec() != g.Spec() {
			t.Errorf("%q: %v", spec, err)
		}
	})
}
