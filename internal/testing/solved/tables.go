package solved

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/table"
)

// TableDifferences compares the table in the data directory got of fsys with that of the local one want. It returns what
// differs. The bytes of compact files, and the number of shards of a tier, depend on the way of solving: tables by blocks, or in
// shards, must have the same tiers, positions, values and counts. All other tables must have the same files, byte for byte.
func TableDifferences(fsys store.FS, got, want string) (diff []string) {
	files, err := contents(fsys, path.Join(got, table.Dir))
	wanted, wantedErr := contents(store.Local{}, filepath.Join(want, table.Dir))
	if err := errors.Join(err, wantedErr); err != nil {
		return []string{err.Error()}
	}
	if len(wanted) == 0 {
		return []string{want + " has no table"}
	}
	diff = storetest.Differences(files, wanted)
	seal, err := store.ReadSeal(store.Local{}, filepath.Join(want, table.Dir))
	if diff == nil || err != nil {
		return diff
	}
	g, err := all.Kinds().Parse(seal.Game)
	if err != nil {
		return diff // a game of a test
	}
	tiers, sharded := tiersOf(files)
	wantedTiers, wantedSharded := tiersOf(wanted)
	if _, byBlocks := g.(game.Blockwise); !byBlocks && !sharded && !wantedSharded {
		return diff
	}
	diff = storetest.Differences(tiers, wantedTiers)
	a, err := contentOf(fsys, got, g)
	b, wantedErr := contentOf(store.Local{}, want, g)
	if err := errors.Join(err, wantedErr); err != nil {
		return append(diff, err.Error())
	}
	if a != b {
		diff = append(diff, fmt.Sprintf("the content is %s, want %s", a, b))
	}
	return diff
}

// tiersOf returns the names of files, the shards of a tier as one, and whether there are shards.
func tiersOf(files map[string]string) (tiers map[string]string, sharded bool) {
	tiers = make(map[string]string)
	for name := range files {
		tiers[jobdir.ShardOf(name)] = ""
		sharded = sharded || jobdir.ShardOf(name) != name
	}
	return tiers, sharded
}

// contentOf returns a checksum of the positions, values and statistics of a table, and what it says of its content.
func contentOf(fsys store.FS, dir string, g game.Game) (string, error) {
	tab, err := table.OpenOf(fsys, dir, g)
	if err != nil {
		return "", err
	}
	defer tab.Close()
	stats, err := tab.Stats()
	if err != nil {
		return "", err
	}
	stats.Bytes = 0
	sum := sha256.New()
	for batch, err := range tab.All() {
		if err != nil {
			return "", err
		}
		for i, p := range batch.Positions {
			var b [10]byte
			binary.LittleEndian.PutUint64(b[:], p)
			binary.LittleEndian.PutUint16(b[8:], uint16(batch.Values[i]))
			sum.Write(b[:])
		}
	}
	fmt.Fprintf(sum, "%+v", stats)
	return fmt.Sprintf("%d positions with the checksum %x, of compact files %q", stats.Positions, sum.Sum(nil), stats.Content), nil
}
