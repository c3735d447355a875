package blocks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"sort"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/stored"
	"github.com/treereduce/treereduce/streamfmt"
)

// A Tier is the records of one tier, open for reading. The indexes of its files are read as they
// are needed.
type Tier struct {
	g      game.Blockwise
	half   *mirror.Half // if the tier stores half of its positions
	tier   int
	files  []*streamfmt.File
	shards []tierShard // the files with ranges
	ranges int         // in all files
	last   uint64      // the last range, if there are several files
}

// A tierShard is a file that contains ranges.
type tierShard struct {
	*streamfmt.File
	first  uint64 // its first range
	before int    // the number of ranges in the files before
}

// OpenTier opens all shards of a directory as a tier of a game; ranges must ascend from one
// shard to the next.
func OpenTier(fsys store.FS, dir string, g game.Blockwise, tier int) (*Tier, error) {
	parts, err := jobdir.List(fsys, dir, g.Spec(), store.PartPrefix)
	if err != nil {
		return nil, err
	}
	return OpenTierFiles(fsys, parts, g, tier)
}

// OpenTierFiles opens some shards of a directory, as OpenTier opens all of them.
func OpenTierFiles(fsys store.FS, files []jobdir.File, g game.Blockwise, tier int) (*Tier, error) {
	half, _ := g.(*mirror.Half)
	if half != nil {
		g = half.Halved
	}
	t := &Tier{g: g, tier: tier}
	for _, f := range files {
		if err := t.open(fsys, f, half, len(files)); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// open opens one of a number of files, and verifies it against its seal. half is the half that the caller can read; nil: none.
func (t *Tier) open(fsys store.FS, of jobdir.File, half *mirror.Half, files int) error {
	file, err := jobdir.OpenPacked(fsys, of.Name, of.Seal)
	if err != nil {
		return err
	}
	t.files = append(t.files, file)
	if err := cmp.Or(jobdir.Expect(file, t.g, t.tier, streamfmt.Blocks, streamfmt.HalfBlocks), t.setHalf(half, file)); err != nil {
		return err
	}
	c := file.Cursor(t.tier, 0)
	if c.Len() == 0 {
		return nil
	}
	if len(t.shards) > 0 && c.First() <= t.last {
		return fmt.Errorf("%s: its ranges do not come after those of the previous shard", file.Name)
	}
	t.shards = append(t.shards, tierShard{file, c.First(), t.ranges})
	t.ranges += c.Len()
	if files == 1 {
		return nil
	}
	end, err := c.Cell(c.Len() - 1)
	t.last = end.Last
	return err
}

// shardOf returns the index of the shard that may contain a range; -1: there is none.
func (t *Tier) shardOf(rng uint64) int {
	return sort.Search(len(t.shards), func(i int) bool { return t.shards[i].first > rng }) - 1
}

// Close closes the files.
func (t *Tier) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Stored returns the number of positions that the files store, see streamfmt.File.Stored.
func (t *Tier) Stored() (all uint64) {
	for _, file := range t.files {
		all += file.Stored
	}
	return all
}

// Content returns the checksum of the content of the files, see streamfmt.File.Content; ok is false if one of them is
// not compact.
func (t *Tier) Content() (sum uint64, ok bool) {
	for _, file := range t.files {
		if file.Model == nil {
			return 0, false
		}
		sum += file.Content
	}
	return sum, true
}

// Counts returns the number of records by value in all files.
func (t *Tier) Counts() (all streamfmt.Counts) {
	for _, file := range t.files {
		all.Add(file.Counts)
	}
	return all
}

// setHalf notes whether the tier stores half of its positions, as file does, and sets the rules for file.
// half is the half that the caller can read; nil: none.
func (t *Tier) setHalf(half *mirror.Half, file *streamfmt.File) error {
	isHalf := file.Kind == streamfmt.HalfBlocks
	switch {
	case isHalf && half == nil:
		return fmt.Errorf("%s: it stores half of the positions, expected all", file.Name)
	case isHalf != (t.half != nil) && len(t.files) > 1:
		return &store.DamageError{Name: file.Name, Reason: "some files store half of the positions, others all"}
	case isHalf:
		t.half, t.g = half, half
	}
	file.Deduce = game.DeducerOf(t.g)
	return nil
}

// Half returns the stored half of the game if the tier stores half of its positions, and nil if
// it stores all.
func (t *Tier) Half() *mirror.Half { return t.half }

// Len returns the number of ranges that contain records.
func (t *Tier) Len() int { return t.ranges }

// Entries locates the ranges that contain records, in ascending order. It ends after an error.
func (t *Tier) Entries() iter.Seq2[streamfmt.Cell, error] {
	return func(yield func(streamfmt.Cell, error) bool) {
		c := t.Cursor(0)
		for i := range t.ranges {
			if e, err := c.Entry(i); !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// A TierCursor loads blocks of a tier. Each of its streams reads forward. It is used by one
// goroutine.
type TierCursor struct {
	// OpenOnly is set if only the open records are needed: blocks then contain no others.
	OpenOnly bool

	t       *Tier
	ahead   int
	caches  []*Cache
	streams [65]*stream
	random  []*streamfmt.Cursor // by shard, if nothing is read ahead: then their order does not matter
	far     block.Block
	scratch []byte // for cache
}

// A stream reads the blocks that differ from home by one kind of move, see Block.
type stream struct {
	shard  int
	cursor *streamfmt.Cursor // reads that shard; ranges ascend from shard to shard
}

// Cursor returns a cursor whose streams read ahead the given number of bytes.
func (t *Tier) Cursor(ahead int) *TierCursor { return &TierCursor{t: t, ahead: ahead} }

// Cached is like Cursor; Block uses caches, and adds to the last one.
func (t *Tier) Cached(ahead int, caches ...*Cache) *TierCursor {
	return &TierCursor{t: t, ahead: ahead, caches: caches}
}

// Load resets b to a range of the tier and reads its records; ok is false if there are
// none. It is fastest when ranges ascend from call to call.
func (c *TierCursor) Load(b *block.Block, rng uint64) (ok bool, err error) {
	return c.load(b, 0, rng)
}

// Block returns the records of range rng, which are needed to process range home; nil if
// there are none. As homes ascend, so do the ranges that differ from them by one kind of
// move; the highest differing bit identifies the kind, and each kind has its own stream.
// Blocks are cached, because they are needed again, the nearby ones soon. The caller must not write to the block, which is
// valid until the next call. If it is from a cache, it has only open positions, or only values.
func (c *TierCursor) Block(home, rng uint64) (*block.Block, error) {
	for _, cache := range c.caches {
		if cache.get(&c.far, c.t, rng) {
			return &c.far, nil
		}
	}
	kind := bits.Len64(home ^ rng)
	if ok, err := c.load(&c.far, kind, rng); !ok || err != nil {
		return nil, err
	}
	if n := len(c.caches); n > 0 {
		c.scratch = c.caches[n-1].put(&c.far, kind, c.scratch)
	}
	return &c.far, nil
}

// Entry locates the i-th range that contains records. It is fastest when i ascends from call to
// call, and when Load reads the range next.
func (c *TierCursor) Entry(i int) (streamfmt.Cell, error) {
	shard := sort.Search(len(c.t.shards), func(n int) bool { return c.t.shards[n].before > i }) - 1
	return c.cursor(0, shard).Cell(i - c.t.shards[shard].before)
}

// loadAt is like Load, for the i-th range that contains records.
func (c *TierCursor) loadAt(b *block.Block, i int) error {
	e, err := c.Entry(i)
	if err == nil {
		_, err = c.Load(b, e.First)
	}
	return err
}

// Search returns the number of ranges that contain records and are below rng.
func (c *TierCursor) Search(rng uint64) (int, error) {
	shard := c.t.shardOf(rng)
	if shard < 0 {
		return 0, nil
	}
	n, err := c.cursor(0, shard).Search(rng)
	return c.t.shards[shard].before + n, err
}

// A View is a View of a block, with the low parts of the keys of its slots; Low is nil if the tier does not contain the block.
type View struct {
	streamfmt.View
	Low  []uint32
	file string
}

// View reads the records of a range into v.
func (c *TierCursor) View(v *View, rng uint64) error {
	cursor, e, low, err := c.find(0, rng)
	v.Low = nil
	if err != nil || cursor == nil {
		return err
	}
	v.Low, v.file = low, c.t.shards[c.t.shardOf(rng)].Name
	return cursor.View(e, c.t.g.LowBits(), low, &v.View)
}

// Damaged returns an error of the View with the name of its file.
func (v *View) Damaged(err error) error {
	if err == nil {
		return nil
	}
	return &streamfmt.FormatError{File: v.file, Reason: err.Error()}
}

// load reads a block with the stream of a kind.
func (c *TierCursor) load(b *block.Block, kind int, rng uint64) (ok bool, err error) {
	cursor, e, low, err := c.find(kind, rng)
	if err != nil || cursor == nil {
		return false, err
	}
	if c.OpenOnly {
		b.ResetOpen(c.t.tier, rng, c.t.g.LowBits(), low)
	} else {
		b.Reset(c.t.tier, rng, c.t.g.LowBits(), low)
	}
	cursor.OpenOnly = c.OpenOnly
	return true, cursor.Read(e, b)
}

// cursor returns the cursor that the stream of a kind has for a shard.
func (c *TierCursor) cursor(kind, shard int) *streamfmt.Cursor {
	if c.ahead == 0 {
		if c.random == nil {
			c.random = make([]*streamfmt.Cursor, len(c.t.shards))
		}
		if c.random[shard] == nil {
			c.random[shard] = c.t.shards[shard].Cursor(c.t.tier, 0)
		}
		return c.random[shard]
	}
	s := c.streams[kind]
	if s == nil {
		s = new(stream)
		c.streams[kind] = s
	}
	if s.cursor == nil || s.shard != shard {
		s.shard, s.cursor = shard, c.t.shards[shard].Cursor(c.t.tier, c.ahead)
	}
	return s.cursor
}

// find looks up a range with the stream of a kind. It returns the cursor that reads the
// range (nil if there are no records), its entry, and the low parts of its slots.
func (c *TierCursor) find(kind int, rng uint64) (_ *streamfmt.Cursor, _ streamfmt.Cell, low []uint32, err error) {
	shard := c.t.shardOf(rng)
	if shard < 0 {
		return nil, streamfmt.Cell{}, nil, nil
	}
	cursor := c.cursor(kind, shard)
	e, ok, err := cursor.Find(rng)
	if err != nil || !ok {
		return nil, e, nil, err
	}
	if low = c.t.g.Low(c.t.tier, rng); low == nil {
		return nil, e, nil, fmt.Errorf("%s: range %#x cannot contain a position of tier %d", c.t.shards[shard].Name, rng, c.t.tier)
	}
	return cursor, e, low, nil
}

// WriteLines writes the records of ranges i to j-1 to w, as lines. If the tier stores half of the
// positions, the lines of a range are followed by those of the mirror images that are not
// stored.
func (t *Tier) WriteLines(w io.Writer, i, j int) error {
	c := t.Cursor(stored.Ahead)
	b, width := new(block.Block), streamfmt.KeyWidth(t.g.KeyBits())
	var buf []byte
	for ; i < j; i++ {
		if err := c.loadAt(b, i); err != nil {
			return err
		}
		buf = appendLines(buf[:0], b, width, streamfmt.Done)
		if t.half != nil {
			_, balanced := t.half.Stored(t.tier, b.Range)
			for slot := range b.Done.All() {
				if balanced == nil || !balanced.Has(slot) {
					image := streamfmt.Record{Key: t.half.Mirror(b.Key(slot)), Kind: streamfmt.Done, Value: b.Val[slot]}
					buf = streamfmt.AppendRecord(buf, image, width)
				}
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
