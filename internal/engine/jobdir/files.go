// Package jobdir reads and writes the records in the directories of jobs and of the table,
// and verifies them against their seals. Its callers see a tier of blocks in
// ascending order of range (Tier). A directory may also have the records as lines (Tier.WriteLines), which no job reads.
//
// The package does not know steps or runners. Package layers reads directories of rows; their
// shards are written, and their seals verified, here.
package jobdir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// The suffixes of packed files: block files and list files.
const (
	blocksSuffix = ".blocks"
	ListsSuffix  = ".lists"
)

// PartName returns the name of shard i of a directory of blocks.
func PartName(i int) string { return fmt.Sprintf("%s%05d%s", store.PartPrefix, i, blocksSuffix) }

// LinesName returns the name of the file with the lines of shard i.
func LinesName(i int) string { return fmt.Sprintf("%s%05d", store.LinesPrefix, i) }

// NameFinal renames the shards of a directory of lines as the course expects them, and the
// programs that read its result: part-r-00000.
func NameFinal(fsys store.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	for _, e := range entries {
		number, part := strings.CutPrefix(e.Name(), store.LinesPrefix)
		if err == nil && part && !strings.HasPrefix(e.Name(), store.FinalPrefix) {
			err = fsys.Rename(path.Join(dir, e.Name()), path.Join(dir, store.FinalPrefix+number))
		}
	}
	return err
}

// IsText reports whether the name of a file is that of a text file.
func IsText(name string) bool { return !strings.HasSuffix(name, blocksSuffix) && !isLists(name) }

func isLists(name string) bool { return strings.HasSuffix(name, ListsSuffix) }

// The names of the packed files whose shards a job writes for the table: TablePart and their suffix.
const (
	TablePart   = "_table"
	TableBlocks = TablePart + blocksSuffix
	TableRows   = TablePart + ListsSuffix
)

// ShardName returns the name of the i-th shard of a packed file.
func ShardName(name string, i int) string {
	suffix := path.Ext(name)
	return fmt.Sprintf("%s-%05d%s", strings.TrimSuffix(name, suffix), i, suffix)
}

var shardName = regexp.MustCompile(`-\d{5}(\.blocks|\.lists)$`)

// ShardOf returns the name of the packed file of which a file is a shard; of another file, its own name.
func ShardOf(name string) string { return shardName.ReplaceAllString(name, "$1") }

// Shards returns the paths of the shards of a packed file, in order.
func Shards(fsys store.FS, name string) (shards []string, err error) {
	entries, err := fsys.ReadDir(path.Dir(name))
	for _, e := range entries {
		if shard := path.Join(path.Dir(name), e.Name()); shard != name && ShardOf(shard) == name {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	return shards, err
}

// Parts lists the shards of a directory of a game in order of name, after checking them
// against its seal, see store.OpenDir. If dir is a packed file, the result is that file; if it does not exist,
// its Shards.
func Parts(fsys store.FS, dir, game string) ([]string, error) {
	return new(Seals).Parts(fsys, dir, game)
}

// Parts is the function Parts, and caches the seal.
func (s *Seals) Parts(fsys store.FS, dir, game string) ([]string, error) {
	if !IsText(dir) {
		if _, err := fsys.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return []string{dir}, err
		}
		shards, err := Shards(fsys, dir)
		if err == nil && len(shards) == 0 {
			return []string{dir}, nil // the error of opening it names it
		}
		return shards, err
	}
	seal, names, err := store.OpenDir(fsys, dir, game)
	if err != nil {
		return nil, err
	}
	s.cache(dir, seal)
	var parts []string
	for _, name := range names {
		if strings.HasPrefix(name, store.PartPrefix) {
			parts = append(parts, path.Join(dir, name))
		}
	}
	return parts, nil
}
