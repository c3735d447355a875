// Package longtest separates tests that take long from the others. Their names begin with
// TestLong, and make test-long runs them.
package longtest

import (
	"crypto/sha256"
	"os"
	"strconv"
	"testing"
)

// TREEREDUCE_SHARE, any text, is the seed by which about one of this many tests is selected.
const (
	longShares    = 16
	clusterShares = 5
)

// Skip skips a test unless make test-long runs it, and if TREEREDUCE_SHARE is set and does not select it.
func Skip(t testing.TB) {
	t.Helper()
	if os.Getenv("TREEREDUCE_LONG") == "" {
		t.Skip("it takes long: make test-long runs it")
	}
	share(t, longShares)
}

// SkipShare is Skip for a test that would take a large part of the time of CI: no share selects it.
func SkipShare(t testing.TB) {
	t.Helper()
	Skip(t)
	if os.Getenv("TREEREDUCE_SHARE") != "" {
		t.Skip("it takes too long for a share")
	}
}

// Share skips a test on a cluster if TREEREDUCE_SHARE is set and does not select it.
func Share(t testing.TB) {
	t.Helper()
	share(t, clusterShares)
}

func share(t testing.TB, n byte) {
	t.Helper()
	if seed := os.Getenv("TREEREDUCE_SHARE"); seed != "" && sha256.Sum256([]byte(seed + t.Name()))[0]%n != 0 {
		t.Skipf("it is not in the share %q", seed)
	}
}

// Number returns the amount of work of a test: the value of the environment variable name,
// or otherwise if it is not set.
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
