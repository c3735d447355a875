package search

import "time"

// workTime is the time after which a search rests: in a browser it shares its only thread with everything
// else, with other goroutines, timers, and the requests that arrive.
const workTime = 40 * time.Millisecond
