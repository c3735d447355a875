package referee

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/play/player"
)

// The time of a move is measured from outside, so it contains time in which the player could not
// run, because the machine had other work. Three measurements separate the two:
//
//   - beats: while a player thinks, the referee sleeps for a short time again and again. What a
//     sleep takes longer is a delay of the machine;
//   - the time that the threads of a program waited for a CPU, where the system counts it; this is
//     exact;
//   - the CPU time of the program, which it has certainly used.
//
// The time charged to the player is the time on the clock without the delay, and at least the CPU
// time. A player is late if that exceeds its limit. Without the exact time, a player that would be in
// time if the delay were twice as long may be late or not: the error is ErrDelayed, and a Match plays
// the game again.

// NoCPU is the CPU time of a move if it is not known.
const NoCPU = time.Duration(-1)

// ErrDelayed is the error of a play in which the machine delayed a player, and may have made it
// late. Nothing is decided.
var ErrDelayed = errors.New("the machine was too busy to judge the time of a move")

// A Clock is the referee's clock.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// systemClock is the Clock of the system.
type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

const (
	// beat is how long the referee sleeps at a time, and slack how much longer that usually takes.
	beat, slack = 10 * time.Millisecond, 5 * time.Millisecond
	// backstop is how many times its limit a player may take at most, whatever delays it.
	backstop = 10
)

// A delay measures how long the machine has delayed the referee.
type delay struct {
	clock Clock
	mu    sync.Mutex
	last  time.Time // the end of the last beat
	sum   time.Duration
}

// run measures until ctx ends.
func (d *delay) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.clock.After(beat):
		}
		d.mu.Lock()
		now := d.clock.Now()
		d.sum, d.last = d.sum+overdue(now.Sub(d.last)), now
		d.mu.Unlock()
	}
}

// overdue returns by how much a beat of that length is too long.
func overdue(took time.Duration) time.Duration {
	if took <= beat+slack {
		return 0
	}
	return took - beat
}

// until returns the delay up to now, including that of a beat which has not ended.
func (d *delay) until(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum + overdue(now.Sub(d.last))
}

// A stopwatch measures a move of a player.
type stopwatch struct {
	clock   Clock
	byCPU   bool
	allowed time.Duration // the limit with the grace; 0: none
	player  player.Player
	begun   time.Time
	before  player.Usage
	metered bool
	delay   *delay // nil: there is no limit
}

// reading is a measurement.
type reading struct {
	wall, cpu, delay time.Duration
	exact            bool // the delay contains the time that the player waited for a CPU
}

// start starts a stopwatch for a player; it measures delays until ctx ends.
func (r Rules) start(ctx context.Context, seat Seat) *stopwatch {
	w := &stopwatch{clock: r.Clock, byCPU: r.ByCPU, player: seat.Player}
	if w.clock == nil {
		w.clock = systemClock{}
	}
	w.before, w.metered = usageOf(seat.Player)
	w.begun = w.clock.Now()
	if seat.Limit > 0 {
		w.allowed = seat.Limit + r.Grace
		w.delay = &delay{clock: w.clock, last: w.begun}
		go w.delay.run(ctx)
	}
	return w
}

// usageOf returns the times of a player's processes, if it has any and they are known.
func usageOf(p player.Player) (player.Usage, bool) {
	if m, ok := p.(player.Metered); ok {
		return m.Usage()
	}
	return player.Usage{}, false
}

// read returns the times up to now.
func (w *stopwatch) read(now time.Time) reading {
	m := reading{wall: now.Sub(w.begun), cpu: NoCPU}
	if w.delay != nil {
		m.delay = w.delay.until(now)
	}
	if after, ok := usageOf(w.player); ok && w.metered {
		m.cpu = max(0, after.CPU-w.before.CPU)
		m.delay, m.exact = max(m.delay, after.Waited-w.before.Waited), after.Waited > 0
	}
	m.delay = min(m.delay, m.wall)
	return m
}

// charged returns the time charged to the player if the machine delayed it by times the measured
// delay, unless that is exact.
func (w *stopwatch) charged(m reading, times time.Duration) time.Duration {
	if w.byCPU && m.cpu != NoCPU {
		return m.cpu
	}
	if m.exact {
		times = 1
	}
	return max(m.wall-times*m.delay, min(m.wall, m.cpu))
}

// late reports whether the player is late, or may be.
func (w *stopwatch) late(m reading) (late, perhaps bool) {
	if w.allowed == 0 {
		return false, false
	}
	if w.byCPU && m.cpu != NoCPU && m.wall-m.delay > backstop*w.allowed {
		return true, true // it sleeps
	}
	return w.charged(m, 2) > w.allowed, w.charged(m, 1) > w.allowed
}

// over reads the times, and reports whether there is no point in waiting longer for an answer. If
// not, it returns when to look again.
func (w *stopwatch) over() (m reading, again time.Duration, over bool) {
	m = w.read(w.clock.Now())
	late, _ := w.late(m)
	return m, max(beat, w.allowed-w.charged(m, 2)), late || m.wall > 2*backstop*w.allowed
}

// describe describes a late move.
func (w *stopwatch) describe(m reading, limit time.Duration) string {
	text := fmt.Sprintf("it took %v", m.wall.Round(time.Millisecond))
	if m.cpu != NoCPU {
		text += fmt.Sprintf(" (%v of CPU time)", m.cpu.Round(time.Millisecond))
	}
	kind := "limit"
	if w.byCPU && m.cpu != NoCPU {
		kind = "limit of CPU time"
	}
	return fmt.Sprintf("%s, the %s is %v", text, kind, limit)
}
