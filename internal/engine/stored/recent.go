package stored

import (
	"slices"
	"sync"
)

// Recent is a cache of the values that were used last. Look-ups of
// neighbouring positions and of their successors read the same blocks again. It is safe for concurrent use.
type Recent[V any] struct {
	most int // maximum number of values
	mu   sync.Mutex
	kept []*recentValue[V] // the newest first
}

// A Key identifies what is read of a tier. It has no pointers: with one, the program for browsers would contain all methods of
// the types to which it leads.
type Key struct {
	Tier int
	At   uint64
}

// recentValue is locked while its value is read or used.
type recentValue[V any] struct {
	key Key
	sync.Mutex
	ready bool
	value *V
}

// NewRecent returns an empty cache for at most the given number of values.
func NewRecent[V any](most int) *Recent[V] { return &Recent[V]{most: most} }

// Use calls use with the value of a key. If it is not in the cache, Use calls read to fill it, reusing the
// memory of the oldest value if the cache is full. A goroutine waits for others that use the same value; if they fail to read it,
// it reads again.
func (r *Recent[V]) Use(key Key, read, use func(*V) error) error {
	v := r.get(key)
	v.Lock()
	defer v.Unlock()
	if !v.ready {
		if v.value == nil {
			v.value = new(V)
		}
		if err := read(v.value); err != nil {
			return err
		}
		v.ready = true
	}
	return use(v.value)
}

// get returns the value of a key, perhaps a new one, and makes it the newest.
func (r *Recent[V]) get(key Key) *recentValue[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.kept, func(v *recentValue[V]) bool { return v.key == key })
	v := &recentValue[V]{key: key}
	switch {
	case i >= 0:
		v = r.kept[i]
	case len(r.kept) < r.most:
		i = len(r.kept)
		r.kept = append(r.kept, nil)
	default:
		i = len(r.kept) - 1
		if old := r.kept[i]; old.TryLock() {
			v.value, old.value, old.ready = old.value, nil, false
			old.Unlock()
		}
	}
	copy(r.kept[1:], r.kept[:i])
	r.kept[0] = v
	return v
}
