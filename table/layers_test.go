package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/streamfmt"
)

// rowsOf returns the rows of a table with the given values, by tier.
func rowsOf(g game.Game, values map[game.Position]game.Value) [][]layers.Row {
	tiers := make([][]layers.Row, game.LastTier(g)+1)
	for p, v := range values {
		tier := game.TierOf(g, p)
		tiers[tier] = append(tiers[tier], layers.Row{Key: p, Word: uint64(v)})
	}
	for _, rows := range tiers {
		sortRows(rows)
	}
	return tiers
}

func sortRows(rows []layers.Row) {
	slices.SortFunc(rows, func(a, b layers.Row) int {
		if a.Key < b.Key || a.Key == b.Key && a.Word < b.Word {
			return -1
		}
		return 1
	})
}

// tableOf writes a table of layers.
func tableOf(t *testing.T, g game.Game, tiers [][]layers.Row) memory {
	t.Helper()
	m := newMemory()
	for tier := range tiers {
		writeList(t, m, g, tier, tiers[tier])
	}
	m.seal(t, g.Spec())
	return m
}

// writeList writes a tier of a table of layers.
func writeList(t *testing.T, m memory, g game.Game, tier int, rows []layers.Row) {
	t.Helper()
	file := must.Get(m.Create(TierFile(tier)))(t)
	w := layers.NewPartWriter(file, g, tier, layers.Values)
	must.OK(t, w.Finish(w.Append(rows)))
}

// verifyLayers checks a table of layers.
func verifyLayers(t *testing.T, m memory, g game.Game) (positions uint64, err error) {
	t.Helper()
	tab, err := OpenOf(m, ".", g)
	if err != nil {
		return 0, err
	}
	defer tab.Close()
	return tab.Verify(context.Background())
}

// listGames returns small games for which only the rules are known.
func listGames(t *testing.T) []game.Tiered {
	t.Helper()
	var games []game.Tiered
	for _, spec := range []string{
		"mnk width=3 height=2 connect=2", "mancala pits=1 stones=3", "mancala pits=2 stones=1", "connectn width=3 height=3 connect=2",
	} {
		g := must.Get(all.Kinds().Parse(spec))(t)
		games = append(games, struct{ game.Tiered }{g.(game.Tiered)}) // hides all extensions except Acyclic
	}
	r := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		games = append(games, testgames.RandomAcyclic(r, 1+r.IntN(300)))
	}
	return games
}

// manyTiers is a game with one position in each tier, and more tiers than files may be open.
type manyTiers struct{ testgames.Graph }

func (manyTiers) Tiers() int               { return 3 * layers.MaxOpen }
func (manyTiers) Tier(p game.Position) int { return int(p) }
func (manyTiers) Loops(int) bool           { return false }

func (g manyTiers) Primitive(p game.Position) game.Value {
	if g.Tier(p) < g.Tiers() {
		return 0
	}
	return game.NewValue(game.Tie, 0)
}

func (g manyTiers) Moves(dst []game.Move, p game.Position) []game.Move {
	if g.Tier(p) < g.Tiers() {
		dst = append(dst, game.Move{Name: "0", To: p + 1})
	}
	return dst
}

// TestManyTiers checks that a table with many tiers is read with a limited number of open files, and
// closes them.
func TestManyTiers(t *testing.T) {
	g := manyTiers{testgames.Graph{Size: 3*layers.MaxOpen + 1}}
	right := gametest.Search(g)
	files := &storetest.OpenFiles{FS: tableOf(t, g, rowsOf(g, right))}
	tab, err := OpenOf(files, ".", g)
	must.OK(t, err)
	if n, err := tab.Verify(t.Context()); err != nil || n != uint64(len(right)) {
		t.Errorf("%d positions, %v; want %d", n, err, len(right))
	}
	if _, most := files.Counts(); most < layers.MaxOpen || most > layers.MaxOpen+2 {
		t.Errorf("%d files were open at a time, want about %d", most, layers.MaxOpen)
	}
	err = tab.Close()
	if now, _ := files.Counts(); err != nil || now != 0 {
		t.Errorf("%d files are left open, %v", now, err)
	}
}

// ticTacToe returns a game without images whose tiers have several cells.
func ticTacToe(t *testing.T) game.Tiered {
	t.Helper()
	return struct{ game.Tiered }{must.Get(mnk.New(3, 3, 3))(t)}
}

// TestVerifyLayersRows checks that rows that no solver writes are found, even if their values
// follow from the rules.
func TestVerifyLayersRows(t *testing.T) {
	g := listGames(t)[2]
	right := gametest.Search(g)
	some := func(tiers [][]layers.Row) (tier int, row *layers.Row) {
		for tier := len(tiers) / 2; ; tier++ {
			if len(tiers[tier]) > 0 {
				return tier, &tiers[tier][0]
			}
		}
	}
	for _, test := range []struct {
		name   string
		change func(tiers [][]layers.Row)
		want   string
	}{
		{"twice", func(tiers [][]layers.Row) {
			tier, row := some(tiers)
			tiers[tier] = slices.Insert(tiers[tier], 1, *row)
		}, "is there twice"},
		{"twice, with another value", func(tiers [][]layers.Row) {
			tier, row := some(tiers)
			tiers[tier] = slices.Insert(tiers[tier], 1, layers.Row{Key: row.Key, Word: row.Word + 4})
		}, "is there twice"},
		{"in another tier", func(tiers [][]layers.Row) {
			tier, row := some(tiers)
			tiers[tier+1] = append(tiers[tier+1], *row)
			sortRows(tiers[tier+1])
		}, "is in the file of tier"},
		{"no position", func(tiers [][]layers.Row) {
			tier, _ := some(tiers)
			tiers[tier] = append(tiers[tier], layers.Row{Key: 1<<g.KeyBits() - 1, Word: 1})
		}, "is no position"},
		{"no value", func(tiers [][]layers.Row) { _, row := some(tiers); row.Word = 0 }, "leads to a position without a value"},
		{"empty", func(tiers [][]layers.Row) { clear(tiers) }, "is missing: it is the initial position"},
		{"a tier is empty", func(tiers [][]layers.Row) { tier, _ := some(tiers); tiers[tier] = nil }, "which is missing"},
	} {
		tiers := rowsOf(g, right)
		test.change(tiers)
		var fault *Fault
		if _, err := verifyLayers(t, tableOf(t, g, tiers), g); !errors.As(err, &fault) || !strings.Contains(fault.Reason, test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestLayersFar looks up values that are farther from their end than any: with the move that leads to
// it, a tie in 16,383 would be one in 0.
func TestLayersFar(t *testing.T) {
	g := ticTacToe(t)
	tiers := rowsOf(g, gametest.Search(g))
	far := &tiers[1][0]
	for _, n := range []int{game.MaxRemoteness, g.Tiers()} {
		far.Word = uint64(game.NewValue(game.Tie, n))
		tab := must.Get(OpenOf(tableOf(t, g, tiers), ".", g))(t)
		defer tab.Close()
		var fault *Fault
		if v, _, err := tab.Lookup(far.Key); !errors.As(err, &fault) || fault.Position != far.Key {
			t.Errorf("%v, %v", v, err)
		}
	}
}

// TestVerifyLayersFile checks that a file is refused if its counts are wrong, if it is of
// another game, or if any byte is changed.
func TestVerifyLayersFile(t *testing.T) {
	g := listGames(t)[2]
	m := tableOf(t, g, rowsOf(g, gametest.Search(g)))
	content := func(tier int) []byte { return m.read(t, TierFile(tier)) }
	largest := 0
	for tier := range g.Tiers() + 1 {
		if len(content(tier)) > len(content(largest)) {
			largest = tier
		}
	}
	name, right := TierFile(largest), content(largest)
	refused := func(format string, args ...any) {
		t.Helper()
		if _, err := verifyLayers(t, m, g); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
		}
	}
	for at := range right {
		wrong := slices.Clone(right)
		wrong[at] ^= 1 << (at & 7)
		m.write(t, name, wrong)
		refused("byte %d of %d changed", at, len(right))
	}
	m.write(t, name, right[:len(right)-1])
	refused("cut short")
	tiers := rowsOf(g, gametest.Search(g))
	tiers[largest][0].Word ^= 3
	writeList(t, m, g, largest, tiers[largest])
	if len(content(largest)) != len(right) {
		t.Fatal("a file with another value is of another length")
	}
	refused("whole, but not what was sealed")
	m.write(t, name, content(largest+1))
	m.seal(t, g.Spec())
	refused("of another tier")
	of := listGames(t)[1]
	other := tableOf(t, of, rowsOf(of, gametest.Search(of)))
	m.write(t, name, other.read(t, TierFile(0)))
	m.seal(t, g.Spec())
	refused("of another game")
	if _, err := OpenOf(other, ".", g); err == nil || !strings.Contains(err.Error(), "of another game") {
		t.Errorf("a table of another game: %v", err)
	}
	m.write(t, name, right)
	m.seal(t, g.Spec())
	if _, err := verifyLayers(t, m, g); err != nil {
		t.Errorf("as it was: %v", err)
	}
	must.OK(t, m.RemoveAll(TierFile(0)))
	m.seal(t, g.Spec())
	if _, err := verifyLayers(t, m, g); err == nil || !strings.Contains(err.Error(), TierFile(0)+": missing: _SUCCESS does not name it") {
		t.Errorf("a tier is gone, and the seal knows none: %v", err)
	}
}

// TestVerifyLayersCounts checks that a file with wrong counts is refused.
func TestVerifyLayersCounts(t *testing.T) {
	g := listGames(t)[1]
	tiers := rowsOf(g, gametest.Search(g))
	m := tableOf(t, g, tiers)
	file := must.Get(m.Create(TierFile(0)))(t)
	w := streamfmt.NewWriter(file, g.Spec(), layers.Values, nil)
	var packed streamfmt.Packer
	packed.AddRows(0, tiers[0])
	packed.CountValues(append(tiers[0], layers.Row{Key: 1, Word: 6}))
	must.OK(t, errors.Join(w.Append(&packed), w.Close(), file.Close()))
	m.seal(t, g.Spec())
	if _, err := verifyLayers(t, m, g); err == nil || !strings.Contains(err.Error(), TierFile(0)+": the recorded counts differ") {
		t.Errorf("got %v", err)
	}
	tab := must.Get(OpenOf(m, ".", g))(t)
	defer tab.Close()
	if found, err := tab.Sample(t.Context(), 1<<40, 1, Selection{}); err == nil || !strings.HasPrefix(err.Error(), "table: the recorded counts differ") {
		t.Errorf("a sample: %v, %v", found, err)
	}
}

// TestLayersLookupSealed checks that a look-up opens the file of its tier, and refuses one that
// is complete but differs from the seal.
func TestLayersLookupSealed(t *testing.T) {
	g := listGames(t)[2]
	tiers := rowsOf(g, gametest.Search(g))
	for tier := range tiers {
		m, forged := tableOf(t, g, tiers), slices.Clone(tiers[tier])
		length := len(m.read(t, TierFile(tier)))
		i := slices.IndexFunc(forged, func(r layers.Row) bool { return r.Word != forged[0].Word })
		if i < 0 {
			continue
		}
		forged[0].Word, forged[i].Word = forged[i].Word, forged[0].Word
		writeList(t, m, g, tier, forged)
		if len(m.read(t, TierFile(tier))) != length {
			t.Fatalf("tier %d: the forged file has another length", tier)
		}
		tab := must.Get(OpenOf(m, ".", g))(t)
		defer tab.Close()
		for _, row := range tiers[tier] {
			if v, ok, err := tab.Lookup(row.Key); err == nil || !strings.Contains(err.Error(), TierFile(tier)) {
				t.Fatalf("tier %d, %#x: %d, %v, %v", tier, row.Key, v, ok, err)
			}
		}
	}
}

// TestLayersStats checks that statistics use the game's words if its players are not X and O.
func TestLayersStats(t *testing.T) {
	parsed := must.Get(all.Kinds().Parse("mancala pits=2 stones=1"))(t)
	g := parsed.(game.Tiered)
	right := gametest.Search(g)
	tab := must.Get(OpenFS(tableOf(t, g, rowsOf(g, right)), ".", all.Kinds().Parse))(t)
	defer tab.Close()
	s := must.Get(tab.Stats())(t)
	if want := g.Values().Text(right[g.Start()]); s.Positions != uint64(len(right)) || s.Value != want || s.value != right[g.Start()] || len(s.stored) != g.Tiers()+1 {
		t.Errorf("%+v, want %d positions, %s", s, len(right), want)
	}
	for name, want := range map[string]string{
		"table": "row 0 wins", "JSON": `"outcomes": [` + "\n    \"row 0 wins\",\n    \"row 1 wins\",\n    \"tie\"\n  ]", "SVG": ">row 1 wins</text>",
	} {
		var text strings.Builder
		write := map[string]func(io.Writer) error{"table": s.WriteTable, "JSON": s.WriteJSON, "SVG": s.WriteSVG}[name]
		if err := write(&text); err != nil || !strings.Contains(text.String(), want) || strings.Contains(text.String(), "X wins") {
			t.Errorf("%s: %v: want %q in\n%.2000s", name, err, want, text.String())
		}
	}
}

// TestLayersSample checks that a sample of a table of many tiers has the requested number of
// positions, or all if these are more than half of them, and that it finds a wrong value.
func TestLayersSample(t *testing.T) {
	g := listGames(t)[0]
	right := gametest.Search(g)
	tab := must.Get(OpenOf(tableOf(t, g, rowsOf(g, right)), ".", g))(t)
	defer tab.Close()
	most := uint64(len(right))
	for _, n := range []uint64{1, 7, most / 2, most/2 + 1, most - 1, most, 1 << 40} {
		checked, all, err := Rules{Sample: n, Seed: n}.Verify(context.Background(), tab)
		want := n
		if n > most/2 {
			want = most
		}
		if err != nil || all != most || checked != want {
			t.Errorf("%s", fmt.Sprint(n, ": ", checked, " of ", all, ", ", err))
		}
	}
	wrong := maps.Clone(right)
	var of game.Position
	for p, v := range right {
		if of = p; v.Remoteness() > 0 {
			wrong[p] = game.NewValue(v.Outcome(), v.Remoteness()+1)
			break
		}
	}
	tab = must.Get(OpenOf(tableOf(t, g, rowsOf(g, wrong)), ".", g))(t)
	defer tab.Close()
	found := 0
	for seed := range uint64(40) {
		_, _, err := Rules{Sample: most / 2, Seed: seed}.Verify(t.Context(), tab)
		if fault := (*Fault)(nil); errors.As(err, &fault) {
			found++
		} else {
			must.OK(t, err)
		}
	}
	if found < 10 {
		t.Errorf("a wrong value of %d is found in %d of 40 samples of half of the positions", of, found)
	}
}
