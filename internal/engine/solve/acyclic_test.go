package solve_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/table"
)

// rulesOnly hides that a game has blocks.
type rulesOnly struct{ game.Tiered }

// smallGame returns a random game with 9 to 11 tiers.
func smallGame(t *testing.T) game.Game {
	t.Helper()
	for seed := uint64(1); ; seed++ {
		if g := testgames.RandomAcyclic(rand.New(rand.NewPCG(seed, 3)), 200); 8 < g.Tiers() && g.Tiers() < 12 {
			return g
		}
	}
}

// glob lists the files in a directory that match a pattern, without the directory's path.
func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	return must.Get(fs.Glob(os.DirFS(dir), pattern))(t)
}

// flip flips a bit of the byte at an offset of a file.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	text := must.Get(os.ReadFile(name))(t)
	text[at] ^= 4
	must.OK(t, os.WriteFile(name, text, 0o666))
}

// masked is a game whose keys use all 64 bits: a key is that of the embedded game, with the
// bits of a mask flipped.
type masked struct {
	game.Tiered
	mask game.Position
}

func (g masked) KeyBits() uint                        { return 64 }
func (g masked) Start() game.Position                 { return g.Tiered.Start() ^ g.mask }
func (g masked) Tier(p game.Position) int             { return g.Tiered.Tier(p ^ g.mask) }
func (g masked) Check(p game.Position) error          { return g.Tiered.Check(p ^ g.mask) }
func (g masked) Primitive(p game.Position) game.Value { return g.Tiered.Primitive(p ^ g.mask) }
func (g masked) ToMove(p game.Position) game.Player   { return g.Tiered.ToMove(p ^ g.mask) }
func (g masked) Picture(p game.Position) game.Picture { return g.Tiered.Picture(p ^ g.mask) }
func (g masked) Parse(s string) (game.Position, error) {
	p, err := g.Tiered.Parse(s)
	return p ^ g.mask, err
}
func (g masked) AppendText(b []byte, p game.Position) []byte {
	return g.Tiered.AppendText(b, p^g.mask)
}

func (g masked) Moves(dst []game.Move, p game.Position) []game.Move {
	n := len(dst)
	dst = g.Tiered.Moves(dst, p^g.mask)
	for i := range dst[n:] {
		dst[n+i].To ^= g.mask
	}
	return dst
}

// TestEveryKey solves a game in which the largest 64-bit key is the initial position, a
// position with moves, or a terminal position.
func TestEveryKey(t *testing.T) {
	rules := must.Get(mnk.New(3, 2, 2))(t)
	lines := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
	plain, result := solved(t, rules, nil)
	want := lines(final(t, plain))
	for _, moves := range []int{0, 1, 2, 3} {
		p := rules.Start()
		for range moves {
			p = rules.Moves(nil, p)[0].To
		}
		g := masked{rules, ^p}
		dir, got := solved(t, g, func(o *solve.Options) { o.KeepAll, o.Lines = true, true })
		if got.Value != result.Value || !slices.Equal(lines(final(t, dir)), want) {
			t.Errorf("the position after %d moves has the largest key: %s, want %s", moves, got.Value, result.Value)
		}
		if _, err := verify(dir, g); err != nil {
			t.Errorf("the position after %d moves has the largest key: %v", moves, err)
		}
	}
}

// TestOpenFiles solves a game of 289 tiers, and reads its table in every way. Only few files
// may be open at a time.
func TestOpenFiles(t *testing.T) {
	g := must.Get(mancala.New(3, 3))(t)
	fsys := &storetest.OpenFiles{FS: store.Local{}}
	dir := t.TempDir()
	data := must.Get(store.Create(fsys, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer data.Close()
	limit := func(what string) {
		t.Helper()
		if _, most := fsys.Counts(); most > 100 {
			t.Errorf("%s: %d files are open at a time, want at most 100", what, most)
		}
	}
	must.Get(solve.Run(t.Context(), data, g, options()))(t)
	limit("solve")
	tab := must.Get(table.OpenOf(fsys, dir, g))(t)
	if _, err := tab.Stats(); err != nil {
		t.Error(err)
	}
	limit("stats")
	if _, err := tab.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	limit("verify")
	for _, p := range gametest.Walk(rand.New(rand.NewPCG(1, 1)), g, 100) {
		if _, ok, err := tab.Lookup(p); !ok || err != nil {
			t.Errorf("%d: %v, %v", p, ok, err)
		}
	}
	limit("lookup")
	err := tab.Close()
	if open, _ := fsys.Counts(); err != nil || open > 0 {
		t.Errorf("%d files are left open, %v", open, err)
	}
}
