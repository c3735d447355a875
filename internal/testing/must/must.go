// Package must ends a test at an error that it does not expect.
package must

import "testing"

// Do ends the test if err is not nil.
func Do(t testing.TB, err error) {
	if err != nil {
		t.Helper() // here, because it takes a microsecond
		t.Fatal(err)
	}
}

// Get returns a function that returns v, or ends the test if err is not nil: must.Get(os.ReadFile(name))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
		return v
	}
}
