package blocks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method/blocks/mirror"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/stored"
)

// A Table is the table of a game: a pack file for each tier, or shards of one. It is safe for concurrent use.
type Table struct {
	g      game.Blockwise
	stores game.Blockwise // with the positions that the files store
	half   *mirror.Half   // the same; nil: they store all
	files  stored.Files
	tiers  []*tableTier
	views  *stored.Recent[View] // blocks that were looked up
}

// A tableTier is a tier with its ranges, which it reads as they are needed.
type tableTier struct {
	*Tier
	name string
	free chan *TierCursor // cursors that read nothing ahead
}

// maxFree is the number of cursors that a tier keeps for look-ups: as many as usually run at a time.
const maxFree = 8

// OpenTable opens the table of a game.
func OpenTable(g game.Blockwise, files stored.Files) (t *Table, err error) {
	t = &Table{g: g, files: files, views: stored.NewRecent[View](recentViews)}
	for tier, of := range files.Tiers {
		opened, err := OpenTierFiles(files.FS, files.Of(tier), Stored(g), tier)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		t.tiers = append(t.tiers, &tableTier{opened, of.Name, make(chan *TierCursor, maxFree)})
		if tier == 0 {
			t.half, t.stores = opened.half, opened.g
		}
		if (opened.half != nil) != (t.half != nil) {
			err := &store.DamageError{Name: of.Name, Reason: "it stores half of the positions, and other files do not, or the reverse"}
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// Close closes the files.
func (t *Table) Close() error {
	var errs []error
	for _, tier := range t.tiers {
		errs = append(errs, tier.Close())
	}
	return errors.Join(errs...)
}

// Counts returns the number of positions of a tier by value, as recorded in its files.
func (t *Table) Counts(tier int) (map[game.Value]uint64, error) { return t.tiers[tier].counts(), nil }

func (t *tableTier) counts() map[game.Value]uint64 {
	counts := make(map[game.Value]uint64)
	for v, n := range t.Counts() {
		if n > 0 {
			counts[game.Value(v)] = n
		}
	}
	return counts
}

// with calls do with a cursor that no other goroutine uses.
func (t *tableTier) with(do func(*TierCursor) error) error {
	var c *TierCursor
	select {
	case c = <-t.free:
	default:
		c = t.Cursor(0)
	}
	defer func() {
		select {
		case t.free <- c:
		default:
		}
	}()
	return do(c)
}

// recentViews is the number of blocks that look-ups cache. The moves of neighbouring positions
// lead into a few blocks for each column of the board.
const recentViews = 64

// Lookup reads a page of the index and one block, unless they are cached.
func (t *Table) Lookup(p game.Position) (v game.Value, ok bool, err error) {
	tier := t.g.Tier(p)
	p = t.canonical(p)
	rng := p >> t.g.LowBits()
	err = t.views.Use(stored.Key{Tier: tier, At: rng}, func(b *View) error {
		return t.tiers[tier].with(func(c *TierCursor) error { return c.View(b, rng) })
	}, func(b *View) error {
		slot, found := slices.BinarySearch(b.Low, uint32(p-rng<<t.g.LowBits()))
		if !found {
			return nil
		}
		value, there, err := b.Value(slot)
		v, ok = game.Value(value), there
		return b.Damaged(err)
	})
	return v, ok, err
}

// canonical returns p or its mirror image: the one that is stored.
func (t *Table) canonical(p game.Position) game.Position {
	if t.half != nil && !t.half.IsStored(p) {
		return t.half.Mirror(p)
	}
	return p
}

// Stored returns the number of positions that the files of a tier have, if it is half of them.
func (t *Table) Stored(tier int) uint64 {
	if t.half == nil {
		return 0
	}
	return t.tiers[tier].Stored()
}

// Content returns the sum of the checksums of the content of all tiers; "" if one is not compact.
func (t *Table) Content() string {
	var all uint64
	for _, tier := range t.tiers {
		sum, ok := tier.Content()
		if !ok {
			return ""
		}
		all += sum
	}
	return fmt.Sprintf("%016x", all)
}

// Before returns the positions of the previous tier from which moves may lead to p, ascending. A move across ranges keeps
// the slot, see game.Blockwise.
func (t *Table) Before(p game.Position) (from []game.Position, ok bool) {
	tier, rng := t.g.Tier(p), p>>t.g.LowBits()
	slot, ok := slices.BinarySearch(t.g.Low(tier, rng), uint32(p-rng<<t.g.LowBits()))
	if tier == 0 || !ok {
		return nil, true
	}
	for _, source := range t.g.Sources(nil, tier, rng) {
		if low := t.g.Low(tier-1, source); slot < len(low) {
			from = append(from, source<<t.g.LowBits()|game.Position(low[slot]))
		}
	}
	successors, kinds := t.g.Within(tier-1, rng)
	low := t.g.Low(tier-1, rng)
	for i, to := range successors {
		if to == uint32(slot) {
			from = append(from, rng<<t.g.LowBits()|game.Position(low[i/kinds]))
		}
	}
	slices.Sort(from)
	return from, true
}
