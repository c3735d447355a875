package search

import (
	"context"
	"sync/atomic"
	"time"
)

// A clock ends a search in good time. Workers look at over every pollNodes positions,
// which is a load; whoever sets it is a timer, or the context.
type clock struct {
	began time.Time
	aim   time.Duration // when to stop; 0: never
	over  atomic.Bool
	early atomic.Bool // over, but only for a part of the search
	timer *time.Timer
	leave func() bool // the context
}

// pollNodes is how many positions a worker looks at between looks at the clock: less than
// a millisecond's.
const pollNodes = 1 << 8

// Of its time a search leaves a part, as the machine may be at other work when the time
// comes: a third, but no more than a quarter of a second.
const (
	sparePart = 3
	spareMost = 250 * time.Millisecond
)

// startClock starts a clock for a search of so much time; 0: any.
func startClock(ctx context.Context, limit time.Duration) *clock {
	c := &clock{began: time.Now()}
	if limit > 0 {
		c.aim = limit - min(limit/sparePart, spareMost)
		c.timer = time.AfterFunc(c.aim, c.stop)
	}
	c.leave = context.AfterFunc(ctx, c.stop)
	if ctx.Err() != nil {
		c.stop()
	}
	return c
}

func (c *clock) stop() { c.over.Store(true) }

// part has the workers stop after the nth part of the time; release ends that.
func (c *clock) part(n int) (release func()) {
	timer := time.AfterFunc(c.aim/time.Duration(n), func() { c.early.Store(true) })
	return func() {
		timer.Stop()
		c.early.Store(false)
	}
}

// worthwhile reports whether there is time for another step, when each takes longer than
// all before it.
func (c *clock) worthwhile() bool {
	return !c.over.Load() && (c.aim == 0 || c.spent() < c.aim/2)
}

func (c *clock) spent() time.Duration { return time.Since(c.began) }

// close ends what waits for the clock.
func (c *clock) close() {
	c.leave()
	if c.timer != nil {
		c.timer.Stop()
	}
}
