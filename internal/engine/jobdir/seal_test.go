package jobdir_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/method/blocks"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

var errFull = errors.New("disk full")

// full is a file system that cannot list directories.
type full struct{ store.Local }

func (full) ReadDir(string) ([]fs.DirEntry, error) { return nil, errFull }

type unclosed struct{}

func (unclosed) Write(b []byte) (int, error) { return len(b), nil }

func (unclosed) Close() error { return errFull }

// TestFull checks that a part that cannot be closed is an error, and that there are no seals of a directory that cannot be
// listed.
func TestFull(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3").(game.Blockwise)
	if err := blocks.NewWriter(unclosed{}, g, 0).Finish(nil); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	if _, err := jobdir.SealAll(full{}, t.TempDir()); !errors.Is(err, errFull) {
		t.Errorf("seals of all files: error %v", err)
	}
}
