// Package jobdir names the files in the directories of jobs and of the table, and computes and verifies their seals.
// It does not know what their records mean: the packages of the methods do.
package jobdir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// Suffix is the end of the names of pack files.
const Suffix = ".pack"

// FileName returns the name of the file that reducer i writes: the prefix, i in five digits, and the suffix.
func FileName(prefix string, i int) string { return fmt.Sprintf("%s%05d%s", prefix, i, Suffix) }

// PartName returns the name of shard i of a directory.
func PartName(i int) string { return FileName(store.PartPrefix, i) }

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
func IsText(name string) bool { return !strings.HasSuffix(name, Suffix) }

// TablePart is the name of a file of the table whose shards a job writes.
const TablePart = "_table" + Suffix

// ShardName returns the name of the i-th shard of a file of the table.
func ShardName(name string, i int) string {
	return FileName(strings.TrimSuffix(name, Suffix)+"-", i)
}

var shardName = regexp.MustCompile(`-\d{5}\.pack$`)

// ShardOf returns the name of the file of the table of which a file is a shard; of another file, its own name.
func ShardOf(name string) string { return shardName.ReplaceAllString(name, Suffix) }

// Shards returns the paths of the shards of a file of the table, in order.
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

// List lists the files of a directory of a game with a prefix in order of name, after checking all of its files
// against its seal, see store.OpenDir. If dir is a packed file, the result is that file; if it does not exist,
// its Shards.
func List(fsys store.FS, dir, game, prefix string) (files []File, err error) {
	if !IsText(dir) {
		names := []string{dir}
		_, err := fsys.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			if shards, listed := Shards(fsys, dir); listed != nil || len(shards) > 0 {
				names, err = shards, listed
			}
		}
		if err != nil {
			return nil, err
		}
		return Find(fsys, names...)
	}
	seal, names, err := store.OpenDir(fsys, dir, game)
	for i, name := range names {
		if strings.HasPrefix(name, prefix) {
			f := File{Name: path.Join(dir, name)}
			if seal != nil {
				f.Seal = &seal.Files[i]
			}
			files = append(files, f)
		}
	}
	return files, err
}

// A PackWriter writes a pack file, and closes it.
type PackWriter struct {
	*streamfmt.Writer
	out io.WriteCloser
}

// NewPackWriter returns a writer of a pack file of a game; see streamfmt.NewWriter.
func NewPackWriter(out io.WriteCloser, g game.Game, kind streamfmt.CellKind, m *streamfmt.Model) PackWriter {
	return PackWriter{streamfmt.NewWriter(out, g.Spec(), kind, m), out}
}

// Finish completes the file unless err is not nil, and closes it in any case. It returns the first error.
func (w PackWriter) Finish(err error) error {
	if err == nil {
		err = w.Close()
	}
	return cmp.Or(err, w.out.Close())
}
