package must

import (
	"errors"
	"fmt"
	"testing"
	"time"
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

// A late test has reached its limit.
type late struct{ recorder }

func (*late) Deadline() (time.Time, bool) { return time.Now(), true }
func (l *late) Fatal(args ...any)         { l.recorder.Fatal(args...); panic("the test has ended") }

// TestUntil checks that Until waits for an event, and says at the limit what it waits for.
func TestUntil(t *testing.T) {
	n, l := 0, new(late)
	Until(t, func() bool { n++; return n == 3 }, func() string { return "three" })
	defer func() {
		if recover(); n != 3 || l.why != "the fourth" {
			t.Errorf("it asks %d times, and ends with %q", n, l.why)
		}
	}()
	Until(l, func() bool { return false }, func() string { return "the fourth" })
}
