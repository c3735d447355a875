package search

import (
	"context"
	"time"
)

// A clock stops a search in time. Workers check it every pollNodes positions, and read the
// time themselves, because a timer might have to wait until one of them is interrupted.
type clock struct {
	now   func() time.Time
	began time.Time
	aim   time.Duration   // when to stop, after began; 0: never
	until time.Duration   // when to stop the current part; not set while workers run
	over  <-chan struct{} // closed when the context ends

	rested time.Duration // when yield rested, after began
}

// pollNodes is the number of positions that a worker searches between checks of the clock:
// they take less than a millisecond, or some milliseconds.
const pollNodes = 1 << 6

// A search leaves a part of its time unused, because the machine may be busy when the time
// comes: a third, but at most a quarter of a second.
const (
	sparePart = 3
	spareMost = 250 * time.Millisecond
)

// startClock starts a clock for a search with a time limit; 0: no limit. It reads the time
// from now.
func startClock(ctx context.Context, limit time.Duration, now func() time.Time) *clock {
	c := &clock{now: now, began: now(), aim: limit - min(limit/sparePart, spareMost), over: ctx.Done()}
	c.until = c.aim
	return c
}

// part limits the following work to 1/n of the time, until release is called. A part of a
// nonzero limit is never 0, which would mean no limit.
func (c *clock) part(n int) (release func()) {
	if c.until = c.aim / time.Duration(n); c.aim > 0 {
		c.until = max(c.until, 1)
	}
	return func() { c.until = c.aim }
}

// due reports whether the search must stop.
func (c *clock) due() bool {
	select {
	case <-c.over:
		return true
	default:
		return c.until > 0 && c.spent() >= c.until
	}
}

// worthwhile reports whether to start another iteration, which takes longer than all before
// it: whether there is time for all of it or, if part is set, for some of it.
func (c *clock) worthwhile(part bool) bool {
	return !c.due() && (part || c.aim == 0 || c.spent() < c.aim/2)
}

// restTime is the shortest time that a browser can wait.
const restTime = time.Millisecond

// yield lets others run if the search has worked for workTime, unless that is 0.
func (c *clock) yield() {
	if workTime == 0 {
		return
	}
	if spent := c.spent(); spent-c.rested >= workTime {
		time.Sleep(restTime)
		c.rested = c.spent()
	}
}

func (c *clock) spent() time.Duration { return c.now().Sub(c.began) }
