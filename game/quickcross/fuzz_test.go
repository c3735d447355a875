package quickcross

import "testing"

// FuzzParse wants what is read to be a board, and to be written as it was read.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", ".../.../...", "-|./|-./..-", "'-__/_|_/   '", "---/---/---", ".../...", "x../.../...", "-|-|-|-|-"} {
		f.Add(text)
	}
	r := mustNew(f, 3, 3, 3)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := r.Parse(text)
		if err != nil {
			return
		}
		if err := r.Check(p); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if again, err := r.Parse(string(r.AppendText(nil, p))); err != nil || again != p {
			t.Errorf("%q: read as %d, written and read again as %d, %v", text, p, again, err)
		}
	})
}
