package table

import "slices"

// recent is a cache of the values that were used last, the newest first. Look-ups of
// neighbouring positions and of their successors read the same blocks again. It is not safe
// for concurrent use.
type recent[K comparable, V any] struct {
	most int // maximum number of values
	keys []K
	kept []*V
}

// get returns the value of a key. If it is not in the cache, get calls read to fill it,
// reusing the memory of the oldest value if the cache is full.
func (r *recent[K, V]) get(key K, read func(*V) error) (*V, error) {
	i := slices.Index(r.keys, key)
	if i < 0 {
		var zero K
		if i = len(r.keys) - 1; len(r.keys) < r.most {
			i++
			r.keys, r.kept = append(r.keys, zero), append(r.kept, new(V))
		}
		if err := read(r.kept[i]); err != nil {
			r.keys, r.kept = slices.Delete(r.keys, i, i+1), slices.Delete(r.kept, i, i+1)
			return nil, err
		}
	}
	v := r.kept[i]
	copy(r.keys[1:], r.keys[:i])
	copy(r.kept[1:], r.kept[:i])
	r.keys[0], r.kept[0] = key, v
	return v, nil
}
