package blocks

import (
	"math"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/step"
)

const (
	// pageMemory is the size of a page of pageRanges ranges in the directory of a tier's index:
	// streamfmt uses 40 bytes, and 56 while it reads the directory; a writer uses up to three times
	// 28.
	pageMemory = 96
	pageRanges = 256

	// readShare is the divisor of memory for blocks that a job decodes and keeps.
	readShare = 32
	// cacheShare is the divisor of memory for the blocks of a job's input and output that stay in memory for the next job.
	cacheShare = 2
	// blocksShare is the divisor of memory for blocks with their messages that wait for the images.
	blocksShare = 16
	// imagesShare is the divisor of memory for mirror images while they are sorted; finalShare that in the final job, in which
	// keptShare is the divisor for the images of all tiers that stay in memory.
	imagesShare = 8
	finalShare  = 4
	keptShare   = 64
	// balancedShare is the share of a job that merges messages in ranges with balanced positions.
	balancedShare = 0.3
)

// spare returns how much memory a job on blocks leaves if all cores use the first plan, with memory for images
// and blocks that wait for them.
func (r *inlineRunner) spare(n *inline.Needs) int {
	return r.memory.Spare(n) - r.memory.Bytes()/imagesShare - r.memory.Bytes()/blocksShare
}

// LeastInline estimates the minimum memory of Inline.
func (m *Method) LeastInline(until int, final bool) int {
	t := Stored(m.g)
	if until < 0 || until > t.Tiers() {
		until = t.Tiers()
	}
	var all, most float64
	for tier := range until + 1 {
		n := t.Ranges(tier)
		all += n
		most = max(most, n)
	}
	ranges := 4 * most // the job's input and output, and the table's
	if final {
		ranges = max(ranges, all)
	}
	receivers := min(most*mirror.RangePage, math.Ldexp(1, int(t.KeyBits()-t.LowBits()))/8)
	bytes := float64(indexMemory(ranges)) + receivers + float64(t.Tables()+inline.Own()+1<<20)
	return int(min(bytes/9*10, 1<<62))
}

// indexMemory returns the size of the directory of an index with this many ranges.
func indexMemory(ranges float64) int { return int(min(ranges, 1<<62)) / pageRanges * pageMemory }

// blockMemory is the memory of a block with this many slots: two bits and a value byte for
// each.
func blockMemory(slots int) int { return slots + slots/4 }

// chunkMemory is the memory of the packed output for this many slots, plus a block's, with
// the encoder's memory. A quarter is added because slices grow in steps.
func chunkMemory(slots, largest int) int { return (slots + largest + 4*largest) / 4 * 5 }

// needs returns the memory needs of the job, and makes receivers and cache.
func (w *inlineWork) needs() (inline.Needs, error) {
	g := w.g
	n := inline.Needs{Shared: g.Tables() + indexMemory(g.Ranges(w.Tier)), Windows: 1}
	largest := len(g.Low(w.Tier, g.Start()>>g.LowBits())) // a number of slots
	for _, t := range []*Tier{w.input, w.predecessors} {
		if t == nil {
			continue
		}
		var to []uint64
		for e, err := range t.Entries() {
			if err != nil {
				return n, err
			}
			slots := len(g.Low(t.tier, e.First))
			largest = max(largest, slots)
			if t == w.predecessors {
				w.receivers.Add(e.First)
			}
			if w.Step == step.Possible {
				to = w.step.Outputs(to[:0], t.tier, e.First)
				for _, rng := range to {
					largest = max(largest, len(g.Low(w.Tier, rng)))
					w.receivers.Add(rng)
				}
			}
		}
		n.Shared += 2 * indexMemory(float64(t.Len())) // the table reads it as well
	}
	if w.Step == step.Init {
		w.receivers.Add(g.Start() >> g.LowBits())
	}
	n.Shared += w.receivers.Bytes()
	n.Record = blockMemory(largest)
	n.Worker = 2*blockMemory(largest) + largest/2 // and what the rules say
	n.Chunk = func(slots int) int { return chunkMemory(slots, largest) }
	if w.input != nil {
		n.Windows += int(g.KeyBits() - g.LowBits())
	}
	w.openCaches(&n)
	return n, nil
}

// openCaches makes caches and kept, and adds their memory to n.
func (w *inlineWork) openCaches(n *inline.Needs) {
	r, solve := w.runner, w.Step == step.Solve
	spare := max(0, r.spare(n))
	read := min(r.memory.Bytes()/readShare, spare)
	kept := min(r.memory.Bytes()/cacheShare, spare-read)
	r.pool.limit(kept)
	n.Shared += read + kept
	if w.input != nil && r.kept.isOf(w.input, solve) && solve == (w.deduce != nil) && r.pool.made <= r.pool.most {
		w.caches[0] = r.kept
	} else {
		r.kept.release()
		r.pool.limit(kept)
	}
	w.caches[1] = NewCache(solve, read)
	if w.Step == step.Possible || solve && w.deduce != nil {
		w.kept = newCache(solve, &r.pool)
	}
	if w.kept != nil && solve { // see messages
		mover := w.g.TierToMove(w.Tier)
		w.kept.ended = byte(w.g.Values().Ended(game.NewValue(game.WinFor(mover.Other()), 0), mover))
	}
}
