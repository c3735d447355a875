package table

import (
	"errors"
	"testing"
)

// TestRecent checks that a cache never returns what a failed read has left, and that it drops the
// oldest value.
func TestRecent(t *testing.T) {
	failed := errors.New("failed")
	r := newRecent[int, int](2)
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
		err := r.do(get.key, func(v *int) error { *v = get.read; return get.err }, func(v *int) error { got = *v; return nil })
		if err != get.err || got != get.want {
			t.Fatalf("%d: value of %d: %d, %v; want %d, %v", i, get.key, got, err, get.want, get.err)
		}
	}
}
