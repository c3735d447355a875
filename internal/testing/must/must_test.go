package must

import (
	"errors"
	"fmt"
	"testing"
)

// A recorder is a test that records why it would end.
type recorder struct {
	testing.TB
	why string
}

func (r *recorder) Helper()           {}
func (r *recorder) Fatal(args ...any) { r.why = fmt.Sprint(args...) }

// TestMust checks that an error ends the test, and that nothing else does.
func TestMust(t *testing.T) {
	for _, err := range []error{nil, errors.New("broken")} {
		var ok, get recorder
		OK(&ok, err)
		n := Get(7, err)(&get)
		if want := map[bool]string{true: "broken"}[err != nil]; ok.why != want || get.why != want || n != 7 {
			t.Errorf("%v: OK ends with %q, Get with %q and %d", err, ok.why, get.why, n)
		}
	}
}
