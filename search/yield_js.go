package search

import "time"

// A search in a browser shares its only thread with everything else: with other goroutines, timers, and the
// requests that arrive. It rests after workTime, for the shortest time that a browser can wait.
const (
	workTime = 40 * time.Millisecond
	restTime = time.Millisecond
)

// yield lets others run if the search has worked long enough.
func (c *clock) yield() {
	if spent := c.spent(); spent-c.rested >= workTime {
		time.Sleep(restTime)
		c.rested = c.spent()
	}
}
