package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestAtWork checks that AtWork reports whether the lock is taken, leaves no files behind, and
// does not disturb processes that take the lock.
func TestAtWork(t *testing.T) {
	dir := t.TempDir()
	checkLocked := func(want bool) {
		t.Helper()
		if working, known := store.AtWork(store.Local{}, dir); working != want || !known {
			t.Errorf("working %v, known %v, want %v", working, known, want)
		}
	}
	checkLocked(false)
	if _, err := os.Stat(filepath.Join(dir, "_lock")); err == nil {
		t.Error("a lock is there")
	}
	data := create(t, dir, store.Fresh, nil)
	checkLocked(true)
	data.Close()
	checkLocked(false)

	// A driver waits for a process that looks for a long time.
	looks := must.Get(os.Open(filepath.Join(dir, "_lock")))(t)
	must.OK(t, system.Lock(looks, true))
	locked := make(chan error)
	go func() {
		lock, err := store.Local{}.Lock(filepath.Join(dir, "_lock"))
		if err == nil {
			err = lock.Close()
		}
		locked <- err
	}()
	select {
	case err := <-locked:
		t.Fatalf("the lock of a file that another process looks at: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	looks.Close()
	must.OK(t, <-locked)

	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				store.AtWork(store.Local{}, dir)
			}
		}
	}()
	for range 5000 {
		lock := must.Get(store.Local{}.Lock(filepath.Join(dir, "_lock")))(t)
		lock.Close()
	}
	close(done)
	<-ended
}
