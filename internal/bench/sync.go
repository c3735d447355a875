package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner/inline"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/solve"
)

// A syncFS is the file system of this machine that counts its syncs, or leaves them out.
type syncFS struct {
	store.Local
	off bool

	mu     sync.Mutex // of what follows
	syncs  int
	waited time.Duration
}

func (f *syncFS) Sync(name string) error {
	if f.off {
		return nil
	}
	begun := time.Now()
	err := f.Local.Sync(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	f.waited += time.Since(begun)
	return err
}

// syncs tells what it costs that a run outlasts a power cut, within this process: without
// any sync, as it is, and if the directories of quick jobs were synced too.
func (b *bencher) syncs() error {
	fmt.Fprint(b.out, "\n| solve inline, `--final no` | runs | no sync, wall s | synced, wall s | ratio | syncs | s in them | all synced, wall s | syncs |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, spec := range []string{
		"connectn width=4 height=5 connect=3",
		"connectn width=5 height=5 connect=4",
		"quickcross width=4 height=4 connect=4",
		"mancala pits=3 stones=3",
	} {
		g, err := all.Kinds().Parse(spec)
		if err != nil {
			return err
		}
		ways := []struct {
			off   bool
			after time.Duration
		}{{true, 0}, {false, 0}, {false, 1}}
		walls, waits, syncs := make([][]time.Duration, len(ways)), make([][]time.Duration, len(ways)), make([]int, len(ways))
		for range b.Runs {
			for i, way := range ways {
				f := &syncFS{off: way.off}
				wall, err := b.solveOn(f, g, way.after)
				if err != nil {
					return err
				}
				walls[i], waits[i], syncs[i] = append(walls[i], wall), append(waits[i], f.waited), f.syncs
			}
		}
		none, synced := middle(walls[0]).Seconds(), middle(walls[1]).Seconds()
		fmt.Fprintf(b.out, "| `%s` | %d | %.2f | %.2f | %.3f | %d | %.3f | %.2f | %d |\n", spec, b.Runs,
			none, synced, synced/none, syncs[1], middle(waits[1]).Seconds(), middle(walls[2]).Seconds(), syncs[2])
	}
	return nil
}

// solveOn solves a game in this process, on a file system.
func (b *bencher) solveOn(fsys store.FS, g game.Game, after time.Duration) (wall time.Duration, err error) {
	dir, err := b.scratch()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	data, err := store.Create(fsys, dir, g.Spec(), store.Fresh, nil)
	if err != nil {
		return 0, err
	}
	defer data.Close()
	_, err = solve.Run(context.Background(), data, g, solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true,
		Codec: jobdir.Blocks, Final: solve.FinalNo, UntilTier: -1, SyncAfter: after})
	return time.Since(begun), err
}
