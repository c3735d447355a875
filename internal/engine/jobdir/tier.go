package jobdir

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"path"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/lines"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Tier is the records of one tier, open for reading.
type Tier struct {
	files
	g    game.Tiered
	half *game.Half // if the tier stores half of its positions
}

// OpenTier opens all shards of a directory as a tier of a game; ranges must ascend from one
// shard to the next. Text shards are read completely, into packed blocks in memory.
func OpenTier(fsys store.FS, dir string, g game.Tiered, tier int) (*Tier, error) {
	parts, err := Parts(fsys, dir, g.Spec())
	if err != nil {
		return nil, err
	}
	return OpenTierFiles(fsys, parts, g, tier)
}

// OpenTierFiles opens some shards of a directory, as OpenTier does.
func OpenTierFiles(fsys store.FS, names []string, g game.Tiered, tier int) (*Tier, error) {
	half, _ := g.(*game.Half)
	if half != nil {
		g = half.Halved
	}
	t := &Tier{g: g, files: files{spec: g.Spec(), tier: tier, packed: streamfmt.OpenFile,
		writer: func(out io.WriteCloser) *Writer { return NewWriter(out, g, tier, Packed) }}}
	for _, name := range names {
		n := t.Len()
		err := t.add(fsys, name, nil)
		if err == nil && n > 0 && t.Len() > n && t.Range(n) <= t.Range(n-1) {
			err = fmt.Errorf("%s: its ranges do not come after those of the previous shard", name)
		}
		if err == nil {
			err = t.setHalf(half, t.files.files[len(t.files.files)-1])
		}
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// StoresHalf reports whether the first block file in the seal of a directory stores half of the
// positions of its tier.
func StoresHalf(fsys store.FS, dir string, seal *store.Seal) (bool, error) {
	for _, f := range seal.Files {
		if IsText(f.Name) || isLists(f.Name) {
			continue
		}
		name := path.Join(dir, f.Name)
		in, err := fsys.Open(name)
		if err != nil {
			return false, err
		}
		defer in.Close()
		file, err := OpenPacked(in, name, &f, streamfmt.OpenAny)
		return err == nil && file.Half(), err
	}
	return false, nil
}

// setHalf notes whether the tier stores half of its positions, as file does. half is the half
// that the caller can read; nil: none.
func (t *Tier) setHalf(half *game.Half, file *streamfmt.File) error {
	switch {
	case file.Half() && half == nil:
		return fmt.Errorf("%s: it stores half of the positions, expected all", file.Name())
	case file.Half() != (t.half != nil) && len(t.files.files) > 1:
		return &store.DamageError{Name: file.Name(), Reason: "some files store half of the positions, others all"}
	case file.Half():
		t.half, t.g = half, half
	}
	return nil
}

// Half returns the stored half of the game if the tier stores half of its positions, and nil if
// it stores all.
func (t *Tier) Half() *game.Half { return t.half }

// Number returns the number of the tier.
func (t *Tier) Number() int { return t.tier }

// A TierCursor loads blocks of a tier. Each of its streams reads forward. It is used by one
// goroutine.
type TierCursor struct {
	// OpenOnly is set if only the open records are needed: blocks then contain no others.
	OpenOnly bool

	t       *Tier
	ahead   int
	near    *Near
	held    *nearBlock // the block of near that the last call of Block returned, for range heldBy
	heldBy  uint64
	streams [65]*stream
	far     block.Block
}

// A stream reads the blocks that differ from home by one kind of move, see Block.
type stream struct {
	at     int // index of the last entry requested
	file   int
	cursor *streamfmt.Cursor // of that file; ranges ascend from file to file
}

// Cursor returns a cursor whose streams read ahead the given number of bytes.
func (t *Tier) Cursor(ahead int) *TierCursor { return t.Near(NearBits, nil).Cursor(ahead) }

// Load resets b to a range of the tier and reads its records; ok is false if there are
// none. It is fastest when ranges ascend from call to call.
func (c *TierCursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	return c.load(b, 0, rng)
}

// Block returns the records of range rng, which are needed to process range home; nil if
// there are none. As homes ascend, so do the ranges that differ from them by one kind of
// move; the highest differing bit identifies the kind, and each kind has its own stream.
// Nearby blocks are cached, because they will be requested again when they are home
// themselves. The caller must not write to the block, which is valid until the next call.
func (c *TierCursor) Block(home, rng uint64) (*block.Block, error) {
	if c.held != nil {
		c.near.release(c.held, c.heldBy)
		c.held = nil
	}
	kind := bits.Len64(home ^ rng)
	if kind > int(c.near.bits) {
		if ok, err := c.load(&c.far, kind, rng); !ok || err != nil {
			return nil, err
		}
		return &c.far, nil
	}
	b, load := c.near.acquire(home, rng)
	c.held, c.heldBy = b, home
	if load {
		b.ok, b.err = c.load(&b.Block, kind, rng)
		b.loaded.Done()
	} else {
		b.loaded.Wait()
	}
	if !b.ok || b.err != nil {
		return nil, b.err
	}
	return &b.Block, nil
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
	if c.OpenOnly {
		b.ResetOpen(c.t.tier, rng, c.t.g.LowBits(), low)
		return true, cursor.ReadOpen(e, b)
	}
	b.Reset(c.t.tier, rng, c.t.g.LowBits(), low)
	return true, cursor.Read(e, b)
}

// find looks up a range with the stream of a kind. It returns the cursor that reads the
// range (nil if there are no records), its entry, and the low parts of its slots.
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
		return nil, e.Entry, nil, fmt.Errorf("%s: range %#x cannot contain a position of tier %d", f.Name(), rng, c.t.tier)
	}
	if s.cursor == nil || s.file != e.file {
		s.file, s.cursor = e.file, f.Cursor(c.ahead)
	}
	return s.cursor, e.Entry, low, nil
}

// WriteLines writes the records of ranges i to j-1 to w, as lines. If the tier stores half of the
// positions, the lines of a range are followed by those of the mirror images that are not
// stored.
func (t *Tier) WriteLines(w io.Writer, i, j int) error {
	c := t.Cursor(readAhead)
	b := new(block.Block)
	width := streamfmt.KeyWidth(t.g.KeyBits())
	return t.writeLines(w, i, j, func(dst []byte, i int) ([]byte, error) {
		_, err := c.Load(b, t.Range(i))
		dst = lines.AppendBlock(dst, b, width, streamfmt.Done)
		if t.half != nil && err == nil {
			_, balanced := t.half.Stored(t.tier, b.Range)
			for slot := range b.Done.All() {
				if balanced == nil || !balanced.Has(slot) {
					image := streamfmt.Record{Key: t.half.Mirror(b.Key(slot)), Kind: streamfmt.Done, Value: b.Val[slot]}
					dst = streamfmt.AppendRecord(dst, image, width)
				}
			}
		}
		return dst, err
	})
}
