package solved

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// TableDifferences compares the table in the data directory got of fsys with that of the local one want. It
// returns what differs. A tier with compact files must have the same positions, values and counts as in want, which
// may be of a version without compact files, and so a tier in shards. The bytes of these files, and their number, depend on
// the way of solving. All other files must have the same bytes.
func TableDifferences(fsys store.FS, got, want string) (diff []string) {
	got, want = path.Join(got, table.Dir), filepath.Join(want, table.Dir)
	files, err := contents(fsys, got)
	wanted, wantedErr := contents(store.Local{}, want)
	if err := errors.Join(err, wantedErr); err != nil {
		return []string{err.Error()}
	}
	if len(wanted) == 0 {
		return []string{want + " has no table"}
	}
	compact := false
	for name := range maps.Clone(files) {
		if of := jobdir.ShardOf(name); of != name {
			compact = true
			err := errors.Join(joinRows(fsys, got, of, files), joinRows(store.Local{}, want, of, wanted))
			if err != nil {
				return []string{err.Error()}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		a, b := newBlockReader(fsys, got, name, files), newBlockReader(store.Local{}, want, name, wanted)
		if a == nil || b == nil || a.file.Model == nil {
			continue
		}
		compact = true
		a.forget(files)
		b.forget(wanted)
		if err := compareTiers(a, b); err != nil {
			diff = append(diff, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if compact {
		a, err := sealOf(fsys, got, files)
		b, wantedErr := sealOf(store.Local{}, want, wanted)
		if err := errors.Join(err, wantedErr); err != nil {
			diff = append(diff, err.Error())
		}
		files[store.Success], wanted[store.Success] = a, b
	}
	return append(diff, storetest.Differences(files, wanted)...)
}

// joinRows replaces the file of a tier by layers, or its shards, by their rows.
func joinRows(fsys store.FS, dir, name string, files map[string]string) error {
	seal, err := store.ReadSeal(fsys, dir)
	if err != nil {
		return err
	}
	var shards []jobdir.File
	for i := range seal.Files {
		if f := &seal.Files[i]; jobdir.ShardOf(f.Name) == name {
			shards = append(shards, jobdir.File{Name: path.Join(dir, f.Name), Seal: f})
		}
	}
	g, err := all.Kinds().Parse(seal.Game)
	if _, byBlocks := g.(game.Blockwise); err != nil || byBlocks {
		return err
	}
	tier := 0
	if _, err := fmt.Sscanf(name, "tier-%d", &tier); err != nil {
		return err
	}
	in, err := layers.OpenValues(fsys, shards, g, tier)
	if err != nil {
		return err
	}
	defer in.Close()
	var rows strings.Builder
	err = in.Each(func(of []layers.Row) error {
		for _, row := range of {
			fmt.Fprintln(&rows, row.Key, row.Word)
		}
		return nil
	})
	for _, f := range shards {
		delete(files, path.Base(f.Name))
	}
	files["rows of "+name] = rows.String()
	return err
}

// sealOf returns the seal of a directory as text, with the given files only.
func sealOf(fsys store.FS, dir string, files map[string]string) (string, error) {
	seal, err := store.ReadSeal(fsys, dir)
	if err != nil {
		return "", err
	}
	seal.Files = slices.DeleteFunc(seal.Files, func(f store.SealedFile) bool { _, ok := files[f.Name]; return !ok })
	text, err := json.Marshal(seal)
	return string(text), err
}

// A blockReader reads the blocks of a tier of a table.
type blockReader struct {
	fsys  store.FS
	names []string        // paths of the tier's files
	file  *streamfmt.File // the first file that has blocks
	tier  int             // of its blocks

	*blocks.Tier
	cursor *blocks.TierCursor
	block  block.Block
}

// newBlockReader returns a reader of the pack file of which name is a shard, or of all of these shards; nil: there
// is none. files are those of the directory.
func newBlockReader(fsys store.FS, dir, name string, files map[string]string) *blockReader {
	r := &blockReader{fsys: fsys}
	for _, shard := range slices.Sorted(maps.Keys(files)) {
		if jobdir.ShardOf(shard) == jobdir.ShardOf(name) {
			r.names = append(r.names, path.Join(dir, shard))
		}
	}
	if r.names == nil {
		return nil
	}
	for _, name := range r.names {
		text := files[path.Base(name)]
		file, err := streamfmt.OpenFile(strings.NewReader(text), int64(len(text)), "")
		if err != nil || file.Kind != streamfmt.Blocks && file.Kind != streamfmt.HalfBlocks {
			return nil
		}
		if r.file = file; len(file.Stages) > 0 {
			r.tier = file.Stages[0]
			break
		}
	}
	return r
}

// forget deletes the files of r from those of the directory.
func (r *blockReader) forget(files map[string]string) {
	for _, name := range r.names {
		delete(files, path.Base(name))
	}
}

// open opens the files as a tier of a game.
func (r *blockReader) open(g game.Blockwise, number int) (err error) {
	files, err := jobdir.Find(r.fsys, r.names...)
	if err != nil {
		return err
	}
	if r.Tier, err = blocks.OpenTierFiles(r.fsys, files, g, number); err == nil {
		r.cursor = r.Cursor(1 << 16)
	}
	return err
}

// read reads the i-th block, of which the index has the number of records.
func (r *blockReader) read(i int) error {
	e, err := r.cursor.Entry(i)
	if err != nil {
		return err
	}
	if _, err := r.cursor.Load(&r.block, e.First); err != nil {
		return err
	}
	if n := r.block.Count(); n == 0 || n != int(e.Records) {
		return fmt.Errorf("%s: range %#x has %d positions, and %d in the index", r.names[0], e.First, n, e.Records)
	}
	return nil
}

// compareTiers compares all positions and values of two tiers, and the numbers of those with each value.
func compareTiers(got, want *blockReader) error {
	parsed, err := all.Kinds().Parse(want.file.Spec)
	if err != nil {
		return err
	}
	g := blocks.Stored(parsed.(game.Blockwise))
	for _, r := range []*blockReader{got, want} {
		if err := r.open(g, want.tier); err != nil {
			return err
		}
		defer r.Close()
	}
	if half, wanted := got.Half() != nil, want.Half() != nil; half != wanted {
		return fmt.Errorf("it stores half of the positions: %t, want %t", half, wanted)
	}
	counts, wanted := got.Counts(), want.Counts()
	for v := range counts {
		if counts[v] != wanted[v] {
			return fmt.Errorf("it counts %d positions with the value %d, want %d", counts[v], v, wanted[v])
		}
	}
	if got.Len() != want.Len() {
		return fmt.Errorf("%d ranges, want %d", got.Len(), want.Len())
	}
	for i := range got.Len() {
		if err := cmp.Or(got.read(i), want.read(i)); err != nil {
			return err
		}
		if err := compareBlocks(&got.block, &want.block); err != nil {
			return err
		}
	}
	a, _ := got.Content()
	if b, ok := want.Content(); ok && a != b {
		return fmt.Errorf("the checksum of its content is %x, want %x", a, b)
	}
	return nil
}

// A record is what a block has of a slot.
type record struct {
	Open, Done bool
	Value      byte
}

func recordOf(b *block.Block, slot int) record {
	return record{b.Open.Has(slot), b.Done.Has(slot), b.Val[slot]}
}

// compareBlocks compares the positions and values of two blocks.
func compareBlocks(got, want *block.Block) error {
	if got.Range != want.Range || got.Len() != want.Len() {
		return fmt.Errorf("range %#x with %d slots, want %#x with %d", got.Range, got.Len(), want.Range, want.Len())
	}
	for slot := range want.Len() {
		if a, b := recordOf(got, slot), recordOf(want, slot); a != b {
			return fmt.Errorf("%#x (slot %d of range %#x): %+v, want %+v", want.Key(slot), slot, want.Range, a, b)
		}
	}
	return nil
}
