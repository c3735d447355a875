package search

import (
	"context"
	"time"
)

// A clock ends a search in good time. Workers look at it every pollNodes positions: at the
// time itself, as a timer may have to wait until one of them is interrupted.
type clock struct {
	now   func() time.Time
	began time.Time
	aim   time.Duration   // when to stop; 0: never
	until time.Duration   // when to stop what is being done; not set while workers run
	over  <-chan struct{} // closed when the context has ended
}

// pollNodes is how many positions a worker looks at between looks at the clock: less than
// a millisecond's, or some.
const pollNodes = 1 << 6

// Of its time a search leaves a part, as the machine may be at other work when the time
// comes: a third, but no more than a quarter of a second.
const (
	sparePart = 3
	spareMost = 250 * time.Millisecond
)

// startClock starts a clock for a search of so much time; 0: any. It reads the time from now.
func startClock(ctx context.Context, limit time.Duration, now func() time.Time) *clock {
	c := &clock{now: now, began: now(), aim: limit - min(limit/sparePart, spareMost), over: ctx.Done()}
	c.until = c.aim
	return c
}

// part is for what may take the nth part of the time; release ends that. A part of a limit
// is a limit too, however small.
func (c *clock) part(n int) (release func()) {
	if c.until = c.aim / time.Duration(n); c.aim > 0 {
		c.until = max(c.until, 1)
	}
	return func() { c.until = c.aim }
}

// due reports whether it is time to stop.
func (c *clock) due() bool {
	select {
	case <-c.over:
		return true
	default:
		return c.until > 0 && c.spent() >= c.until
	}
}

// worthwhile reports whether there is time for another step, when each takes longer than
// all before it; or for a part of it, if that is worth something.
func (c *clock) worthwhile(part bool) bool {
	return !c.due() && (part || c.aim == 0 || c.spent() < c.aim/2)
}

func (c *clock) spent() time.Duration { return c.now().Sub(c.began) }
