package jobdir

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// An Index describes a game with cycles after a pass: the directory with the newest state
// of each range, and what each pass so far has found.
type Index struct {
	Game   string  `json:"game"`   // Spec of the game
	Passes []Found `json:"passes"` // up to this one, in order
	Runs   []Run   `json:"runs"`   // in ascending order, from range 0
}

// Found is the result of a pass.
type Found struct {
	Pass     string     `json:"pass"` // name of its directory
	Step     string     `json:"step"`
	Number   int        `json:"number"`
	New      game.Tally `json:"new"`                // new positions
	Messages int64      `json:"messages,omitempty"` // messages that its map sent, in mark
}

// Total returns the number of new positions.
func (f Found) Total() int64 { return f.New.Total() }

// A Run is consecutive ranges whose newest states are in the same directory. If Dir is "",
// the states are blank. A run ends where the next one begins.
type Run struct {
	First uint64 `json:"first"`
	Dir   string `json:"dir"`
}

// ReadIndex reads the index in the directory of a pass of a game.
func ReadIndex(fsys store.FS, dir string, g game.Cyclic) (*Index, error) {
	name := path.Join(dir, store.IndexFile)
	text, err := ReadSealed(fsys, name)
	if err != nil {
		return nil, err
	}
	x := new(Index)
	if err := store.UnmarshalSummed(name, text, x); err != nil {
		return nil, err
	}
	if x.Game != g.Spec() {
		return nil, store.OtherGame(name, g.Spec(), x.Game)
	}
	for i, r := range x.Runs {
		if i == 0 && r.First != 0 || i > 0 && r.First <= x.Runs[i-1].First || r.First >= game.Ranges(g) {
			return nil, &store.DamageError{Name: name, Reason: "damaged: its runs of ranges are not in order"}
		}
		if r.Dir == "" {
			continue // blank
		}
		if r.Dir != path.Base(r.Dir) || strings.Trim(r.Dir, "./") == "" {
			return nil, &store.DamageError{Name: name, Reason: fmt.Sprintf("damaged: expected the name of a directory beside it, found %q", r.Dir)}
		}
	}
	if len(x.Runs) == 0 || len(x.Passes) == 0 {
		return nil, &store.DamageError{Name: name, Reason: "damaged: it has no ranges or no passes"}
	}
	return x, nil
}

// Write writes the index into the directory of a pass.
func (x *Index) Write(fsys store.FS, dir string) error {
	text, err := store.MarshalSummed(x)
	if err != nil {
		return err
	}
	return store.WriteFile(fsys, path.Join(dir, store.IndexFile), text)
}

// WriteNext writes the index after a further pass into the directory of the pass, and returns it.
// If x is nil, no range has had any states.
func (x *Index) WriteNext(fsys store.FS, dir string, g game.Cyclic, found Found) (*Index, error) {
	written, err := Written(fsys, dir, g)
	if err != nil {
		return nil, err
	}
	if x == nil {
		x = &Index{Game: g.Spec(), Runs: []Run{{}}}
	}
	next := x.Next(game.Ranges(g), found, written)
	return next, next.Write(fsys, dir)
}

// Dirs returns the directories that contain the newest state of any range, each once.
func (x *Index) Dirs() []string {
	var dirs []string
	for _, r := range x.Runs {
		if r.Dir != "" && !slices.Contains(dirs, r.Dir) {
			dirs = append(dirs, r.Dir)
		}
	}
	return dirs
}

// end returns the range after the last range of run i; ranges is the number of ranges of
// the game.
func (x *Index) end(i int, ranges uint64) uint64 {
	if i+1 < len(x.Runs) {
		return x.Runs[i+1].First
	}
	return ranges
}

// Next returns the index after a further pass. written lists the ranges whose states the
// pass wrote into its directory, ascending; ranges is the number of ranges of the game.
func (x *Index) Next(ranges uint64, found Found, written []uint64) *Index {
	next := &Index{Game: x.Game, Passes: append(slices.Clone(x.Passes), found)}
	add := func(first uint64, dir string) {
		if n := len(next.Runs); n == 0 || next.Runs[n-1].Dir != dir {
			next.Runs = append(next.Runs, Run{first, dir})
		}
	}
	for i, r := range x.Runs {
		at, end := r.First, x.end(i, ranges)
		for len(written) > 0 && written[0] < end {
			if written[0] > at {
				add(at, r.Dir)
			}
			add(written[0], found.Pass)
			at = written[0] + 1
			written = written[1:]
		}
		if at < end {
			add(at, r.Dir)
		}
	}
	return next
}
