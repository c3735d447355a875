package stored

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// use gets a value and calls do with it.
func use(r *Recent[int], key int, read, do func(*int) error) error {
	r.Lock()
	defer r.Unlock()
	v, err := r.Get(Key{At: uint64(key)}, read)
	if err != nil {
		return err
	}
	return do(v)
}

// TestRecent checks that a cache never returns what a failed read has left, and that it drops the
// oldest value.
func TestRecent(t *testing.T) {
	failed := errors.New("failed")
	r := NewRecent[int](2)
	for i, get := range []struct {
		key, read int
		err       error
		want      int
	}{
		{1, 11, failed, 0},
		{0, 5, nil, 5},
		{1, 10, nil, 10},
		{0, 9, nil, 5}, // not read, as below where 9 would be read
		{2, 21, failed, 0},
		{1, 12, nil, 12},
		{2, 20, nil, 20},
		{1, 9, nil, 12},
		{0, 6, nil, 6},
	} {
		got := 0
		err := use(r, get.key, func(v *int) error { *v = get.read; return get.err }, func(v *int) error { got = *v; return nil })
		if err != get.err || got != get.want {
			t.Fatalf("%d: value of %d: %d, %v; want %d, %v", i, get.key, got, err, get.want, get.err)
		}
	}
}

// TestRecentWaits checks that a get which waits for a read that fails reads again, that the get of another value does not
// wait, and that there are never more values than the maximum.
func TestRecentWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed, end := errors.New("failed"), make(chan error)
		r := NewRecent[int](2)
		var reads [4]atomic.Int64
		uses := make(chan int, 9)
		slow := func(key int) {
			if err := use(r, key, func(v *int) error { reads[key].Add(1); *v = 10 * key; return <-end }, func(v *int) error { uses <- *v; return nil }); err != nil {
				uses <- -key
			}
		}
		for range 3 {
			go slow(1)
			synctest.Wait()
		}
		if err := use(r, 2, func(v *int) error { *v = 20; return nil }, func(v *int) error { uses <- *v; return nil }); err != nil {
			t.Error(err)
		}
		if got := <-uses; got != 20 {
			t.Errorf("used %d", got)
		}
		go slow(3) // in place of 2
		synctest.Wait()
		go slow(2) // both values are being read
		synctest.Wait()
		if len(r.kept) != 2 || reads[1].Load() != 1 || reads[2].Load() != 0 || reads[3].Load() != 1 {
			t.Errorf("%d values, reads %v", len(r.kept), &reads)
		}
		for range 2 { // the reads of 1 and 3
			end <- failed
		}
		synctest.Wait()
		<-uses
		<-uses
		if len(r.kept) != 2 || reads[1].Load() != 2 || reads[2].Load() != 1 {
			t.Errorf("%d values, reads %v", len(r.kept), &reads)
		}
		for range 2 { // the second read of 1, and 2
			end <- nil
		}
		synctest.Wait()
		got := map[int]int{}
		for range 3 {
			got[<-uses]++
		}
		if got[10] != 2 || got[20] != 1 || len(uses) != 0 {
			t.Errorf("uses: %v", got)
		}
	})
}
