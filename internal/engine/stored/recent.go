package stored

import (
	"slices"
	"sync"
)

// Recent is a cache of the values that were used last, the newest first. Look-ups of
// neighbouring positions and of their successors read the same blocks again. Goroutines lock it
// to get and use a value; it is unlocked while a value is read, so that others can use other values.
type Recent[V any] struct {
	sync.Mutex
	most int        // maximum number of values
	read *sync.Cond // a read has ended
	keys []Key
	kept []*recentValue[V]
}

// A Key identifies what is read of a tier. It has no pointers: with one, the program for browsers would contain all methods of
// the types to which it leads.
type Key struct {
	Tier int
	At   uint64
}

type recentValue[V any] struct {
	ready bool // false: it is being read
	value V
}

// NewRecent returns an empty cache for at most the given number of values.
func NewRecent[V any](most int) *Recent[V] {
	r := &Recent[V]{most: most}
	r.read = sync.NewCond(r)
	return r
}

// Get returns the value of a key. If it is not in the cache, Get calls read to fill it, reusing the
// memory of the oldest value if the cache is full. If the read of another goroutine for which Get waits
// fails, Get reads again.
func (r *Recent[V]) Get(key Key, read func(*V) error) (*V, error) {
	for {
		i := slices.Index(r.keys, key)
		if i >= 0 && r.kept[i].ready {
			return &r.toFront(i).value, nil
		}
		if i < 0 {
			if i = r.place(key); i >= 0 {
				v := r.toFront(i)
				return &v.value, r.fill(v, read)
			}
		}
		r.read.Wait()
	}
}

// place returns where the value of a further key may be read; -1 if all values are being read.
func (r *Recent[V]) place(key Key) int {
	i := len(r.kept)
	if i < r.most {
		r.keys, r.kept = append(r.keys, key), append(r.kept, new(recentValue[V]))
		return i
	}
	for i--; i >= 0; i-- {
		if r.kept[i].ready {
			r.keys[i] = key
			break
		}
	}
	return i
}

// toFront makes value i the newest.
func (r *Recent[V]) toFront(i int) *recentValue[V] {
	v := r.kept[i]
	if i > 0 {
		key := r.keys[i]
		copy(r.keys[1:], r.keys[:i])
		copy(r.kept[1:], r.kept[:i])
		r.keys[0], r.kept[0] = key, v
	}
	return v
}

// fill reads a value, and drops it if that fails.
func (r *Recent[V]) fill(v *recentValue[V], read func(*V) error) (err error) {
	v.ready = false
	ok := false // also after a panic
	r.Unlock()
	defer func() {
		r.Lock()
		if v.ready = ok; !ok {
			i := slices.Index(r.kept, v)
			r.keys, r.kept = slices.Delete(r.keys, i, i+1), slices.Delete(r.kept, i, i+1)
		}
		r.read.Broadcast()
	}()
	err = read(&v.value)
	ok = err == nil
	return err
}

// MaxFree is the number of readers that a file keeps for look-ups: as many as usually run at a time. Their free lists are
// channels of their types, because the program for browsers would contain all methods of the readers of a generic type.
const MaxFree = 8
