package stored

import (
	"errors"
	"slices"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// use uses the value of a key of tier 0.
func use(r *Recent[int], key int, read, do func(*int) error) error {
	return r.Use(Key{At: uint64(key)}, read, do)
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

// TestRecentWaits checks that a use which waits for a read that fails reads again, and that the use of another value does not wait.
func TestRecentWaits(t *testing.T) {
	failed, begun, end, uses := errors.New("failed"), make(chan bool), make(chan error), make(chan int, 3)
	r := NewRecent[int](2)
	for range 3 {
		go func() {
			err := use(r, 1, func(v *int) error { *v = 10; begun <- true; return <-end }, func(v *int) error { uses <- *v; return nil })
			if err != nil {
				uses <- -1
			}
		}()
	}
	<-begun
	if err := use(r, 2, func(v *int) error { *v = 20; return nil }, func(*int) error { return nil }); err != nil {
		t.Error(err)
	}
	end <- failed
	<-begun // by another goroutine
	end <- nil
	if got := []int{<-uses, <-uses, <-uses}; !slices.Equal(got, []int{-1, 10, 10}) {
		t.Errorf("used %d", got)
	}
}

// TestRecentInUse drops a value while it is used.
func TestRecentInUse(t *testing.T) {
	r := NewRecent[int](1)
	set := func(to int) func(*int) error { return func(v *int) error { *v = to; return nil } }
	for range 2 {
		must.OK(t, use(r, 1, set(10), func(v *int) error {
			must.OK(t, use(r, 2, set(20), set(21)))
			old := r.get(Key{At: 2})
			must.OK(t, use(r, 3, set(30), set(31)))
			if old.ready {
				t.Error("a value without its memory is ready")
			}
			if *v != 10 || len(r.kept) != 1 {
				t.Errorf("%d values, used %d", len(r.kept), *v)
			}
			return nil
		}))
	}
}
