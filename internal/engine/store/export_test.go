package store

import "slices"

// Know makes this program satisfy a need until forget is called.
func Know(need string) (forget func()) {
	before := known
	known = append(slices.Clone(before), need)
	return func() { known = before }
}
