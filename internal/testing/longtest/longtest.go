// Package longtest tells the tests that take long from the others: those are named
// TestLong…, and make test-long runs them. It knows nothing of what is tested.
package longtest

import (
	"os"
	"strconv"
	"testing"
)

// Skip leaves a test to make test-long.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("TREEREDUCE_LONG") == "" {
		t.Skip("it takes long: make test-long runs it")
	}
}

// Number is how much a test is to do: what the environment says, or, if it says nothing,
// whatever the test does otherwise.
func Number(t testing.TB, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: expected a number from 1 on", name, text)
	}
	return n
}
