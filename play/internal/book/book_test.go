package book

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/testgames"
	"github.com/treereduce/treereduce/search"
)

// made makes a book of a game, and returns its file.
func made(t testing.TB, g game.Layered, plies int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "book")
	must.OK(t, Make(t.Context(), name, g, plies, searcher(t, g), func(int, int) {}))
	return string(must.Get(os.ReadFile(name))(t))
}

func searcher(t testing.TB, g game.Game) *search.Searcher {
	t.Helper()
	return must.Get(search.New(g, search.Options{Memory: 1 << 20}))(t)
}

// acyclic makes one of our games without cycles.
func acyclic(t testing.TB, spec string) game.Layered {
	t.Helper()
	return must.Get(all.Kinds().Parse(spec))(t).(game.Layered)
}

// TestBook checks that a book has the values of all positions up to its last ply, those of the
// solved game, and no others; and that its best moves are best.
func TestBook(t *testing.T) {
	for spec, most := range map[string]int{
		"connectn width=4 height=4 connect=3": 6,
		"connectn width=5 height=3 connect=3": 5,
		"connectn width=2 height=2 connect=2": 3, // where play is over
		"connectn width=1 height=1 connect=1": 1,
		"mnk width=3 height=3 connect=3":      4, // without mirror images
	} {
		g := acyclic(t, spec)
		want := gametest.Search(g)
		for plies := range most + 1 {
			b, err := Parse(made(t, g, plies), all.Kinds().Parse)
			if err != nil {
				t.Fatalf("%s, %d plies: %v", spec, plies, err)
			}
			at := map[game.Position]bool{g.Start(): true}
			for ply := range most + 1 {
				next := make(map[game.Position]bool)
				for p := range at {
					moves := g.Moves(nil, p)
					for _, m := range moves {
						next[m.To] = true
					}
					v, ok := b.Lookup(p)
					if inside := ply <= plies && len(moves) > 0; ok != inside || ok && v != want[p] {
						t.Fatalf("%s, %d plies, %q: %v %v, want %v %v", spec, plies, g.AppendText(nil, p), v, ok, want[p], inside)
					}
					best, after, ok := b.Best(p)
					if ok && (want[best.To] != after || g.Values().Before(after) != want[p]) || !ok && ply < plies && len(moves) > 0 {
						t.Fatalf("%s, %d plies, %q: best %s %v %v, want %v", spec, plies, g.AppendText(nil, p), best.Name, after, ok, want[p])
					}
				}
				at = next
			}
		}
	}
}

// TestDamage checks that every change of a file is noticed.
func TestDamage(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	file := made(t, g, 3)
	must.Get(Parse(file, all.Kinds().Parse))(t)
	for i := range len(file) {
		for bit := range 8 {
			bad := []byte(file)
			bad[i] ^= 1 << bit
			if _, err := Parse(string(bad), all.Kinds().Parse); err == nil {
				t.Errorf("bit %d of byte %d has changed, and there is no error", bit, i)
			}
		}
		if _, err := Parse(file[:i], all.Kinds().Parse); err == nil {
			t.Errorf("a file of %d bytes is accepted", i)
		}
	}
	// Files with a correct checksum.
	for want, bad := range map[string][]byte{
		"after the second line":        append([]byte(file), 0),
		"expected values of":           format(g, 3, make([]byte, 3)),
		"without a value":              format(g, 0, []byte{4}),
		"is not one that this program": format(testgames.TieGame(), 0, []byte{2}),
		"play is always over after":    format(g, 1<<40, []byte{2}),
		"a book of format version 2, ": []byte(strings.Replace(file, "book 1", "book 2", 1)),
		"it is not a book: expected ":  []byte(strings.Replace(file, "plies=3", "plies=03", 1)),
	} {
		if _, err := Parse(string(bad), all.Kinds().Parse); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestResume checks that a book that was interrupted after any number of positions becomes the same, and that no book is
// there before.
func TestResume(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	want := made(t, g, 4)
	for _, stop := range []int{1, 2, 7, 30} {
		name := filepath.Join(t.TempDir(), "book")
		for n := 0; ; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			first := true
			err := Make(ctx, name, g, 4, searcher(t, g), func(known, all int) {
				if first && known != stop*n {
					t.Fatalf("%d positions after %d interruptions at %d", known, n, stop)
				}
				if first = false; known == stop*(n+1) && known < all {
					cancel()
				}
			})
			cancel()
			got, missing := os.ReadFile(name)
			if err == nil {
				if string(got) != want || n == 0 {
					t.Errorf("interrupted %d times at %d: %q, want %q", n, stop, got, want)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || missing == nil {
				t.Fatal(err, got)
			}
		}
		if left, err := filepath.Glob(name + "?*"); len(left) > 0 {
			t.Error(left, err)
		}
	}
}

// TestMakeErrors checks the errors of files that cannot be continued, and of positions and games without a book.
func TestMakeErrors(t *testing.T) {
	g := acyclic(t, "connectn width=4 height=3 connect=3")
	name := filepath.Join(t.TempDir(), "book")
	for text, want := range map[string]string{
		"something else\n":                                                        "it is not a book",
		string(format(g, 3, make([]byte, 10))):                                    "it is of connectn width=4 height=3 connect=3 with 3 plies and 10 positions: choose another file",
		string(format(g, 2, make([]byte, 99))):                                    "with 2 plies and 99 positions",
		string(format(acyclic(t, "connectn width=3 height=4 connect=3"), 2, nil)): "it is of connectn width=3 height=4",
	} {
		must.OK(t, os.WriteFile(name+".part", []byte(text), 0o666))
		if err := Make(t.Context(), name, g, 2, searcher(t, g), func(int, int) {}); err == nil || !strings.Contains(err.Error(), name+".part: "+want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if err := Make(t.Context(), name, acyclic(t, "connectn width=7 height=6 connect=4"), 20, nil, nil); err != errMany {
		t.Errorf("error %v, want %v", err, errMany)
	}
	mancala := acyclic(t, "mancala pits=2 stones=2")
	if err := Make(t.Context(), name+"2", mancala, 2, searcher(t, mancala), func(int, int) {}); err == nil || !strings.Contains(err.Error(), "not the remoteness") {
		t.Errorf("Mancala: error %v", err)
	}
}

// FuzzParse checks that any file gives an error or a book with values.
func FuzzParse(f *testing.F) {
	g := acyclic(f, "connectn width=3 height=3 connect=3")
	f.Add(made(f, g, 2))
	f.Add(string(format(g, 0, []byte{6})))
	f.Add(string(format(g, 100, nil)))
	f.Fuzz(func(t *testing.T, file string) {
		b, err := Parse(file, all.Kinds().Parse)
		if err != nil {
			return
		}
		for p, v := range b.values {
			if got, ok := b.Lookup(p); !ok || got != v || !v.Valid() {
				t.Errorf("%d: %v", p, v)
			}
		}
	})
}

// TestEmbedded checks the values of the first moves in the embedded book: in the middle column the
// first player wins with the last but one move; the score of other solvers is 0 beside it, then -1
// and -2 (J. D. Allen and V. Allis, 1988; P. Pons, Solving Connect 4).
func TestEmbedded(t *testing.T) {
	g := must.Get(all.Kinds().Parse("connectn width=7 height=6 connect=4"))(t)
	b := Embedded(g)
	edge, next, inner, middle := game.NewValue(game.SecondWins, 39), game.NewValue(game.SecondWins, 41), game.NewValue(game.Tie, 41), game.NewValue(game.FirstWins, 40)
	want := []game.Value{edge, next, inner, middle, inner, next, edge}
	for i, m := range g.Moves(nil, g.Start()) {
		if got, ok := b.Lookup(m.To); !ok || got != want[i] {
			t.Errorf("move %s: %v, %v, want %v", m.Name, got, ok, want[i])
		}
	}
	if got, ok := b.Lookup(g.Start()); !ok || got != g.Values().Before(middle) {
		t.Errorf("start: %v, %v", got, ok)
	}
	if small, err := all.Kinds().Parse("connectn width=6 height=5 connect=4"); err != nil || Embedded(small) != nil {
		t.Errorf("6×5: %v, or it has a book", err)
	}
}

// TestEmbeddedScores compares random positions of ply 6 with another program, connect-four-ai 1.0.0 of
// B. Rall: the columns, from 1, and the score as play score prints it.
func TestEmbeddedScores(t *testing.T) {
	const scores = `
257771 0, 314744 17, 647214 -5, 174457 17, 716436 -2,
725131 2, 116514 0, 624615 -1, 274452 18, 326274 -1,
314756 18, 126673 1, 163665 4, 457623 3, 354754 4,
571426 2, 744623 2, 567663 1, 146517 0, 257434 -2`
	g := acyclic(t, "connectn width=7 height=6 connect=4")
	b := Embedded(g)
	for pair := range strings.SplitSeq(scores, ",") {
		columns, text, _ := strings.Cut(strings.TrimSpace(pair), " ")
		p := g.Start()
		for _, c := range columns {
			p = g.Moves(nil, p)[slices.IndexFunc(g.Moves(nil, p), func(m game.Move) bool { return m.Name == string(c-1) })].To
		}
		v, ok := b.Lookup(p)
		score := 0
		if v.Outcome() != game.Tie {
			if score = (44 - 6 - v.Remoteness()) / 2; v.Outcome() == game.SecondWins {
				score = -score
			}
		}
		if got := strconv.Itoa(score); !ok || got != text {
			t.Errorf("%s: %v, score %s, want %s", columns, v, got, text)
		}
	}
}
