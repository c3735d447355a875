package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

const (
	// leaseWait is how long a run waits for the lock of a driver that may have died. After LeaseTime, the name node
	// needs some seconds to recover the lease.
	leaseWait = hadoop.LeaseTime + 30*time.Second
	leasePoll = time.Second
)

// whenFree calls create until no other driver has the lock of a directory, for leaseWait at most: the name node
// keeps the lock of a driver that has died for LeaseTime. It stops when updated, the time at which the other driver last
// wrote its journal, changes: then that driver is at work.
func whenFree[T any](ctx context.Context, notify func(string), updated func() time.Time, create func() (T, error)) (T, error) {
	locked, err := create()
	if !errors.Is(err, store.ErrLocked) {
		return locked, err
	}
	begun, before := time.Now(), updated()
	notify(fmt.Sprintf("%v, or was killed a moment ago: waiting up to %s for its lease in HDFS to end", err, numfmt.Duration(leaseWait)))
	for errors.Is(err, store.ErrLocked) && time.Since(begun) < leaseWait && updated().Equal(before) {
		select {
		case <-ctx.Done():
			return locked, ctx.Err()
		case <-time.After(leasePoll):
		}
		locked, err = create()
	}
	return locked, err
}
