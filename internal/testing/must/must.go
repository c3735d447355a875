// Package must ends a test at an error that it does not expect, and waits for events without a time limit of its own.
package must

import (
	"testing"
	"time"
)

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

// Until waits until done returns true. It ends the test, with what it waits for, a moment before the time limit of the test binary.
func Until(t testing.TB, done func() bool, what func() string) {
	t.Helper()
	end, limited := time.Time{}, false
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		end, limited = t.Deadline()
	}
	for !done() {
		if limited && time.Until(end) < 5*time.Second {
			t.Fatal(what())
		}
		time.Sleep(10 * time.Millisecond)
	}
}
