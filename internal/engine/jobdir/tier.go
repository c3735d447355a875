package jobdir

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Tier is the records of one tier, open for reading.
type Tier struct {
	files
	g game.Tiered
}

// OpenTier opens the parts of a whole directory as a tier of a game; their ranges
// ascend from one to the next. Parts of text are read whole, into packed blocks
// in memory.
func OpenTier(fsys store.FS, dir string, g game.Tiered, tier int) (*Tier, error) {
	parts, err := Parts(fsys, dir, g.Spec())
	if err != nil {
		return nil, err
	}
	return OpenTierFiles(fsys, parts, g, tier)
}

// OpenTierFiles opens some parts of a directory, as OpenTier does.
func OpenTierFiles(fsys store.FS, names []string, g game.Tiered, tier int) (*Tier, error) {
	t := &Tier{g: g, files: files{spec: g.Spec(), tier: tier, packed: streamfmt.OpenFile,
		writer: func(out io.WriteCloser) *Writer { return NewWriter(out, g, tier, Blocks) }}}
	for _, name := range names {
		n := t.Len()
		err := t.add(fsys, name, nil)
		if err == nil && n > 0 && t.Len() > n && t.Range(n) <= t.Range(n-1) {
			err = fmt.Errorf("%s: its ranges do not come after those of the part before", name)
		}
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// Number is which tier of the game it is.
func (t *Tier) Number() int { return t.tier }

// nearBits is how many low bits of a range tell apart the ranges that a cursor
// keeps: those of one column of seven bits, thus 128 blocks.
const nearBits = 7

// MostNear is how many blocks a cursor keeps at most.
const MostNear = 1 << nearBits

// A TierCursor loads blocks of a tier, each of its streams forward. It is one
// worker's: not safe for concurrent use.
type TierCursor struct {
	t       *Tier
	ahead   int
	streams [65]*stream
	near    [MostNear]*block.Block // by the low bits of their range
	far     block.Block
}

// A stream is the blocks that lie one kind of move away.
type stream struct {
	at     int // index of the entry asked for last
	file   int
	cursor *streamfmt.Cursor // of that file, as ranges ascend from one to the next
}

// Cursor returns a cursor whose streams read ahead so many bytes.
func (t *Tier) Cursor(ahead int) *TierCursor { return &TierCursor{t: t, ahead: ahead} }

// Load resets b to a range of the tier and reads its records; ok is false if
// there are none. Ranges ascend from call to call, as a rule.
func (c *TierCursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	return c.load(b, 0, rng)
}

// Block returns the records of a range for the sake of another, home; nil if
// there are none. As homes ascend, so do the ranges that differ from them by one
// kind of move, and the highest bit that differs tells the kinds apart. What
// lies near is kept: it will be asked for again, when it is home itself. The
// block is not to be written to, and holds until the next call.
func (c *TierCursor) Block(home, rng uint64) (*block.Block, error) {
	kind := bits.Len64(home ^ rng)
	b := &c.far
	if kind <= nearBits {
		slot := &c.near[rng&(1<<nearBits-1)]
		if *slot == nil {
			*slot = &block.Block{Range: ^rng}
		}
		if b = *slot; b.Range == rng {
			return b, nil
		}
	}
	ok, err := c.load(b, kind, rng)
	if !ok || err != nil {
		b.Range = ^rng // whatever it held, it does not hold this range
		return nil, err
	}
	return b, nil
}

// View reads the records of a range into v, and returns the low parts of its slots; nil if
// there are no records.
func (c *TierCursor) View(v *streamfmt.View, rng uint64) (low []uint32, err error) {
	cursor, e, low, err := c.find(0, rng)
	if err != nil || cursor == nil {
		return nil, err
	}
	return low, cursor.View(e, len(low), v)
}

// load reads a block with the stream of a kind.
func (c *TierCursor) load(b *block.Block, kind int, rng uint64) (ok bool, err error) {
	cursor, e, low, err := c.find(kind, rng)
	if err != nil || cursor == nil {
		return false, err
	}
	b.Reset(c.t.tier, rng, c.t.g.LowBits(), low)
	return true, cursor.Read(e, b)
}

// find finds a range with the stream of a kind: the cursor that reads it, nil if there are
// no records, its entry, and the low parts of its slots.
func (c *TierCursor) find(kind int, rng uint64) (_ *streamfmt.Cursor, _ streamfmt.Entry, low []uint32, err error) {
	s := c.streams[kind]
	if s == nil {
		s = new(stream)
		c.streams[kind] = s
	}
	entries := c.t.entries
	if s.at > 0 && entries[s.at-1].Range >= rng {
		s.at = 0
	}
	step := 1
	for s.at+step < len(entries) && entries[s.at+step].Range < rng {
		s.at += step
		step *= 2
	}
	rest := entries[s.at:min(s.at+step+1, len(entries))]
	s.at += sort.Search(len(rest), func(i int) bool { return rest[i].Range >= rng })
	if s.at == len(entries) || entries[s.at].Range != rng {
		return nil, streamfmt.Entry{}, nil, nil
	}
	e := entries[s.at]
	f := c.t.files.files[e.file]
	if low = c.t.g.Low(c.t.tier, rng); low == nil {
		return nil, e.Entry, nil, fmt.Errorf("%s: range %#x can hold no position of tier %d", f.Name(), rng, c.t.tier)
	}
	if s.cursor == nil || s.file != e.file {
		s.file, s.cursor = e.file, f.Cursor(c.ahead)
	}
	return s.cursor, e.Entry, low, nil
}

// WriteLines writes the records of the i-th to the one before the j-th range to
// w, as lines.
func (t *Tier) WriteLines(w io.Writer, i, j int) error {
	c := t.Cursor(readAhead)
	b := new(block.Block)
	width := streamfmt.KeyWidth(t.g.KeyBits())
	return t.writeLines(w, i, j, func(dst []byte, i int) ([]byte, error) {
		_, err := c.Load(b, t.Range(i))
		return AppendBlock(dst, b, width, streamfmt.Done), err
	})
}
