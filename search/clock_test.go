package search

import (
	"context"
	"testing"
	"time"
)

// TestClock checks that a clock stops a search before its limit, and a part of it earlier;
// that it stops at once when its context ends; and that it never stops without a limit.
func TestClock(t *testing.T) {
	const limit = 30 * time.Millisecond
	at := time.Now()
	now := func() time.Time { return at }
	c := startClock(context.Background(), limit, now)
	if c.aim >= limit-limit/4 || c.aim < limit/2 {
		t.Errorf("of %v it aims at %v", limit, c.aim)
	}
	at = at.Add(c.aim / 2)
	if c.due() {
		t.Error("due after half of its time")
	}
	if c.worthwhile(false) || !c.worthwhile(true) {
		t.Error("after half of its time another step is worthwhile, or a part of one is not")
	}
	release := c.part(3)
	if !c.due() {
		t.Error("a part is not over after half of the time")
	}
	release()
	at = at.Add(c.aim)
	if !c.due() || c.worthwhile(true) {
		t.Error("not due when it is time")
	}

	// A part of the shortest time is that time: 0 would be no limit.
	c = startClock(context.Background(), time.Nanosecond, now)
	c.part(3)
	if c.until <= 0 {
		t.Errorf("a third of %v is %v, which is no limit", c.aim, c.until)
	}

	ctx, cancel := context.WithCancel(context.Background())
	c = startClock(ctx, 0, time.Now)
	c.began = c.began.Add(-time.Hour)
	if c.due() || !c.worthwhile(false) {
		t.Error("due, though there is no limit")
	}
	cancel()
	for began := time.Now(); !c.due(); {
		if time.Since(began) > 10*time.Second {
			t.Fatal("not due when its context has ended")
		}
	}
}
