package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// TestWhenFree waits for the lock of a driver that was killed, one that is at work, one that hangs, and until an
// interrupt. The times are those of a fake clock.
func TestWhenFree(t *testing.T) {
	locked := fmt.Errorf("data directory d: %w", store.ErrLocked)
	never, other := time.Hour, errors.New("other")
	for _, test := range []struct {
		name                  string
		free, beat, interrupt time.Duration // when the lock is free, the time between updates of the journal, when the interrupt comes
		then, want            error
		least, most           time.Duration // how long it waits
	}{
		{"not locked", 0, never, never, nil, nil, 0, 0},
		{"another error", 0, never, never, other, other, 0, 0},
		{"killed", 65 * time.Second, never, never, nil, nil, 65 * time.Second, 67 * time.Second},
		{"killed, then another error", 65 * time.Second, never, never, other, other, 65 * time.Second, 67 * time.Second},
		{"at work", never, 20 * time.Second, never, nil, store.ErrLocked, 20 * time.Second, 22 * time.Second},
		{"hangs", never, never, never, nil, store.ErrLocked, leaseWait, leaseWait + 2*time.Second},
		{"interrupted", never, never, 30 * time.Second, nil, context.Canceled, 30 * time.Second, 31 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, cancel := context.WithCancel(context.Background())
			defer time.AfterFunc(test.interrupt, cancel).Stop()
			var said []string
			updated := func() time.Time { return begun.Add(time.Since(begun).Truncate(test.beat)) }
			_, err := whenFree(ctx, func(line string) { said = append(said, line) }, updated, func() (*store.Data, error) {
				if time.Since(begun) < test.free {
					return nil, locked
				}
				return nil, test.then
			})
			if took := time.Since(begun); !errors.Is(err, test.want) || took < test.least || took > test.most {
				t.Errorf("%s: %v after %v", test.name, err, took)
			}
			if text := strings.Join(said, "\n"); (test.free > 0) != (text == "data directory d: another driver is at work in it, or was killed a moment ago: waiting up to 90 s for its lease in HDFS to end") {
				t.Errorf("%s: %q", test.name, text)
			}
		})
	}
}
