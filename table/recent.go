package table

import (
	"slices"
	"sync"
)

// recent is a cache of the values that were used last, the newest first. Look-ups of
// neighbouring positions and of their successors read the same blocks again. It is safe for
// concurrent use: only uses of the same value wait for each other.
type recent[K comparable, V any] struct {
	most int // maximum number of values

	mu   sync.Mutex
	free *sync.Cond // a value is not in use any more
	keys []K
	kept []*recentValue[V]
}

type recentValue[V any] struct {
	users int // guarded by recent.mu

	mu    sync.Mutex // guards the fields below
	ready bool
	value V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	r := &recent[K, V]{most: most}
	r.free = sync.NewCond(&r.mu)
	return r
}

// do calls use with the value of a key. If it is not in the cache, do calls read to fill it first,
// reusing the memory of the oldest value that is not in use if the cache is full. If all are in use, it waits.
func (r *recent[K, V]) do(key K, read, use func(*V) error) error {
	v := r.take(key)
	defer r.give(v)
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.ready {
		if err := read(&v.value); err != nil {
			return err
		}
		v.ready = true
	}
	return use(&v.value)
}

// take moves the value of a key to the front, and notes that it is in use.
func (r *recent[K, V]) take(key K) *recentValue[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.place(key)
	for ; i < 0; i = r.place(key) {
		r.free.Wait()
	}
	v := r.kept[i]
	copy(r.keys[1:], r.keys[:i])
	copy(r.kept[1:], r.kept[:i])
	r.keys[0], r.kept[0] = key, v
	v.users++
	return v
}

// place returns where the value of a key is, or may be read; -1 if all values are in use.
func (r *recent[K, V]) place(key K) int {
	if i := slices.Index(r.keys, key); i >= 0 {
		return i
	}
	if len(r.keys) < r.most {
		r.keys, r.kept = append(r.keys, key), append(r.kept, new(recentValue[V]))
		return len(r.keys) - 1
	}
	for i, v := range slices.Backward(r.kept) {
		if v.users == 0 {
			v.ready = false
			return i
		}
	}
	return -1
}

// give ends a use of a value, and drops it if it could not be read.
func (r *recent[K, V]) give(v *recentValue[V]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.users--; v.users > 0 {
		return
	}
	if !v.ready {
		i := slices.Index(r.kept, v)
		r.keys, r.kept = slices.Delete(r.keys, i, i+1), slices.Delete(r.kept, i, i+1)
	}
	r.free.Broadcast()
}

// A pool is readers that one goroutine at a time uses.
type pool[T any] struct{ sync.Pool }

// newPool returns a pool that calls make for each further reader.
func newPool[T any](make func() T) *pool[T] {
	return &pool[T]{sync.Pool{New: func() any { return make() }}}
}

// with calls do with a reader.
func (p *pool[T]) with(do func(T) error) error {
	reader := p.Get().(T)
	defer p.Put(reader)
	return do(reader)
}
