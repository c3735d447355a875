// Package longtest tells the tests that take long from the others: those are named
// TestLong…, and make test-long runs them. It knows nothing of what is tested.
package longtest

import (
	"os"
	"testing"
)

// Skip leaves a test to make test-long.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("TREEREDUCE_LONG") == "" {
		t.Skip("it takes long: make test-long runs it")
	}
}
