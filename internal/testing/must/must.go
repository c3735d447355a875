// Package must ends a test at an error that it does not expect.
package must

import "testing"

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper() // only here, because it takes time
		t.Fatal(err)
	}
}

// Get returns a function that returns v, or ends the test if there is an error:
//
//	text := must.Get(os.ReadFile(name))(t)
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}
