package gametest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/testing/testgames"
)

// A listener is a test that records its failure.
type listener struct {
	testing.TB
	failure string
}

func (l *listener) Helper() {}

func (l *listener) Fatal(args ...any) {
	l.failure = fmt.Sprint(args...)
	runtime.Goexit()
}

func (l *listener) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }

// failure returns the failure that Contract reports for a game, "" if there is none.
func failure(t *testing.T, g game.Game) string {
	return failureOf(t, func(t testing.TB) { gametest.Contract(t, g) })
}

// failureOf returns the failure of a check, "" if it does not fail.
func failureOf(t *testing.T, check func(testing.TB)) string {
	l := &listener{TB: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		check(l)
	}()
	<-done
	return l.failure
}

// A good game is a game.Tiered that satisfies the contract: its texts do not begin with
// moves.
type good struct{ *testgames.Acyclic }

func (g good) AppendText(dst []byte, p game.Position) []byte {
	return g.Acyclic.AppendText(append(dst, 'p'), p)
}

func (g good) Parse(text string) (game.Position, error) {
	digits, ok := strings.CutPrefix(text, "p")
	if !ok {
		return 0, fmt.Errorf("%q does not begin with p", text)
	}
	return g.Acyclic.Parse(digits)
}

// A bad game breaks the contract in one way; each field changes one method.
type bad struct {
	good
	spec      func() string
	keyBits   func() uint
	start     func() game.Position
	check     func(game.Position) error
	primitive func(game.Position) game.Value
	moves     func([]game.Move, game.Position) []game.Move
	values    func() game.Values
	toMove    func(game.Position) game.Player
	text      func([]byte, game.Position) []byte
	parse     func(string) (game.Position, error)
	picture   func(game.Position) game.Picture
	tier      func(game.Position) int
}

func (b bad) Spec() string                             { return b.spec() }
func (b bad) KeyBits() uint                            { return b.keyBits() }
func (b bad) Start() game.Position                     { return b.start() }
func (b bad) Check(p game.Position) error              { return b.check(p) }
func (b bad) Primitive(p game.Position) game.Value     { return b.primitive(p) }
func (b bad) Values() game.Values                      { return b.values() }
func (b bad) ToMove(p game.Position) game.Player       { return b.toMove(p) }
func (b bad) Parse(text string) (game.Position, error) { return b.parse(text) }
func (b bad) Picture(p game.Position) game.Picture     { return b.picture(p) }
func (b bad) Tier(p game.Position) int                 { return b.tier(p) }
func (b bad) AppendText(dst []byte, p game.Position) []byte {
	return b.text(dst, p)
}
func (b bad) Moves(dst []game.Move, p game.Position) []game.Move { return b.moves(dst, p) }

// Contract reports violations by name, and accepts games that satisfy it.
func TestContract(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var g good
	for g.Acyclic == nil || g.Values().OfMover || g.KeyBits() == 64 || len(g.Moves(nil, g.Start())) < 3 {
		g = good{testgames.RandomAcyclic(r, 300)}
	}
	if f := failure(t, g); f != "" {
		t.Fatalf("against a good game: %s", f)
	}
	for want, fault := range map[string]func(b *bad){
		"":                             func(b *bad) {},
		"not some words":               func(b *bad) { b.spec = func() string { return "two  blanks" } },
		"a key of 0 bits":              func(b *bad) { b.keyBits = func() uint { return 0 } },
		"more than 1 bits":             func(b *bad) { b.keyBits = func() uint { return 1 } },
		"Check lets a key pass":        func(b *bad) { b.check = func(game.Position) error { return nil } },
		"the start: not in the list":   func(b *bad) { b.start = func() game.Position { return 1 } },
		"the start is of tier 1":       func(b *bad) { b.tier = func(p game.Position) int { return g.Tier(p) + 1 } },
		"the players are called":       func(b *bad) { b.values = func() game.Values { return game.Values{} } },
		"value of a finished position": func(b *bad) { b.primitive = func(game.Position) game.Value { return game.NewValue(game.Tie, 1) } },
		"finished is true, but there":  func(b *bad) { b.primitive = func(game.Position) game.Value { return game.NewValue(game.Tie, 0) } },
		"finished is false, but there": func(b *bad) { b.primitive = func(game.Position) game.Value { return 0 } },
		"Moves does not append":        func(b *bad) { b.moves = func(_ []game.Move, p game.Position) []game.Move { return g.Moves(nil, p) } },
		"not in the order": func(b *bad) {
			b.moves = func(dst []game.Move, p game.Position) []game.Move {
				all := g.Moves(dst, p)
				if n := len(all); n-len(dst) > 1 {
					all[n-1], all[n-2] = all[n-2], all[n-1]
				}
				return all
			}
		},
		"must be a word": func(b *bad) {
			b.moves = func(dst []game.Move, p game.Position) []game.Move {
				all := g.Moves(dst, p)
				for i := range all[len(dst):] {
					all[len(dst)+i].Name += " "
				}
				return all
			}
		},
		"leads to no position": func(b *bad) {
			b.moves = func(dst []game.Move, p game.Position) []game.Move {
				all := g.Moves(dst, p)
				for i := range all[len(dst):] {
					all[len(dst)+i].To = 1
				}
				return all
			}
		},
		"leads from tier": func(b *bad) {
			b.tier = func(p game.Position) int { return g.Tier(p) / 20 }
		},
		"player 2 is to move": func(b *bad) { b.toMove = func(game.Position) game.Player { return 2 } },
		"turns must alternate": func(b *bad) {
			b.values = func() game.Values { return game.Values{OfMover: true} }
			b.toMove = func(game.Position) game.Player { return game.Second }
		},
		"the text must be appended": func(b *bad) {
			b.text = func(_ []byte, p game.Position) []byte { return g.AppendText(nil, p) }
		},
		"without tabs": func(b *bad) {
			b.text = func(dst []byte, p game.Position) []byte { return append(g.AppendText(dst, p), '\t') }
		},
		"its text is not read: no": func(b *bad) {
			b.parse = func(string) (game.Position, error) { return 0, errors.New("no") }
		},
		"its text is read as": func(b *bad) {
			b.parse = func(string) (game.Position, error) { return g.Start(), nil }
		},
		"the text begins with a move": func(b *bad) {
			b.text = func(dst []byte, p game.Position) []byte { return g.AppendText(append(dst, "m0 "...), p) }
			b.parse = func(text string) (game.Position, error) { return g.Parse(strings.TrimPrefix(text, "m0 ")) }
		},
		"Parse makes": func(b *bad) {
			b.parse = func(text string) (game.Position, error) {
				p, err := g.Parse(text)
				if err != nil {
					return 1, nil
				}
				return p, nil
			}
		},
		"the picture has no squares": func(b *bad) { b.picture = func(game.Position) game.Picture { return game.Picture{} } },
		"the picture has a square": func(b *bad) {
			b.picture = func(game.Position) game.Picture { return game.Picture{Rows: [][]game.Square{{{}}}} }
		},
		"and the labels": func(b *bad) {
			b.picture = func(p game.Position) game.Picture {
				pic := g.Picture(p)
				pic.Below = []string{"a", "b"}
				return pic
			}
		},
	} {
		b := &bad{g, g.Spec, g.KeyBits, g.Start, g.Check, g.Primitive, g.Moves, g.Values, g.ToMove, g.AppendText, g.Parse, g.Picture, g.Tier}
		fault(b)
		if f := failure(t, b); (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// TestTiesOfLoops checks that Contract detects late ties where play may never end.
func TestTiesOfLoops(t *testing.T) {
	g := backward{testgames.RandomGraph(rand.New(rand.NewPCG(8, 8)), 40), func(_ testgames.Graph, predecessors []game.Position, _ game.Position) []game.Position {
		return predecessors
	}}
	if f := failure(t, g); f != "" {
		t.Errorf("against a good game: %s", f)
	}
	if f, want := failure(t, lateTies{g}), "play may never end, so that players must prefer the nearest of several ties"; !strings.Contains(f, want) {
		t.Errorf("the failure is %q, want %q", f, want)
	}
}

// deciding is a Decider with one value that may be wrong.
type deciding struct {
	backward
	at    game.Position
	known game.Value
}

func (g deciding) Known(p game.Position) game.Value {
	if p == g.at {
		return g.known
	}
	return g.Primitive(p)
}

// TestDeciderContract checks that Contract detects wrong values of a Decider.
func TestDeciderContract(t *testing.T) {
	graph := testgames.Graph{
		Next: map[game.Position][]game.Position{0: {1, 2, 6}, 1: {3, 4}, 2: {4, 5}, 6: {0, 3}},
		End:  map[game.Position]game.Result{3: game.Loses, 4: game.Wins, 5: game.Ties},
		Size: 7,
	}
	win, loss := game.NewValue(game.FirstWins, 1), game.NewValue(game.SecondWins, 1)
	for _, c := range []struct {
		at    game.Position
		known game.Value
		right bool
	}{
		{1, win, true}, {1, 0, true}, {1, loss, false}, {1, game.NewValue(game.FirstWins, 0), false}, {1, game.NewValue(game.FirstWins, 2), false},
		{0, win, false}, {2, win, false}, {2, loss, false}, {2, game.NewValue(game.Tie, 1), false},
		{3, 0, false}, {3, win, false}, {3, graph.Primitive(4), false}, {6, win, false}, {6, 0, true},
	} {
		none := func(_ testgames.Graph, predecessors []game.Position, _ game.Position) []game.Position {
			return predecessors
		}
		want := fmt.Sprintf("%d (\"p%d\"): Known is %d, want the value of Primitive, %d,", c.at, c.at, c.known, graph.Primitive(c.at))
		if c.at == 6 {
			want = "Known is 6, but it has a successor that the rules do not decide"
		}
		if f := failure(t, deciding{backward{graph, none}, c.at, c.known}); (f == "") != c.right || !c.right && !strings.Contains(f, want) {
			t.Errorf("Known(%d) is %d: the failure is %q, right: %v", c.at, c.known, f, c.right)
		}
	}
}

// lateTies is a game whose players prefer the farthest of several ties.
type lateTies struct{ game.Game }

func (lateTies) Values() game.Values { return game.Values{OfMover: true} }

// mirrored is a game with mirror images.
type mirrored struct {
	good
	mirror func(game.Position) game.Position
}

func (m mirrored) Mirror(p game.Position) game.Position { return m.mirror(p) }

// alike returns a game, and two open positions of it in which the same player moves.
func alike() (g good, start, other game.Position) {
	g = good{testgames.RandomAcyclic(rand.New(rand.NewPCG(5, 6)), 300)}
	start, other = g.Start(), g.Start()
	for _, p := range g.Positions() {
		if p != start && g.Primitive(p) == 0 && g.ToMove(p) == g.ToMove(start) {
			other = p
		}
	}
	return g, start, other
}

// TestMirrorContract checks that the contract finds wrong mirror images.
func TestMirrorContract(t *testing.T) {
	g, start, other := alike()
	for want, mirror := range map[string]func(game.Position) game.Position{
		"":                        func(p game.Position) game.Position { return p },
		"is not its mirror image": func(p game.Position) game.Position { return p + 1 },
		"the moves of the mirror image": func(p game.Position) game.Position {
			switch p {
			case start:
				return other
			case other:
				return start
			}
			return p
		},
	} {
		f := failure(t, mirrored{g, mirror})
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}

// symmetric is a game with images.
type symmetric struct {
	good
	images func(game.Position) []game.Position
}

func (s symmetric) Canonical(p game.Position) game.Position { return slices.Min(s.images(p)) }

func (s symmetric) Images(dst []game.Position, p game.Position) []game.Position {
	return append(dst, s.images(p)...)
}

// TestSymmetricContract checks that the contract finds wrong images.
func TestSymmetricContract(t *testing.T) {
	g, start, other := alike()
	for want, images := range map[string]func(p game.Position) []game.Position{
		"":                      func(p game.Position) []game.Position { return []game.Position{p} },
		"and itself among them": func(p game.Position) []game.Position { return []game.Position{p ^ 1} },
		"is there twice":        func(p game.Position) []game.Position { return []game.Position{p, p} },
		"it has other images":   func(p game.Position) []game.Position { return []game.Position{p, p + 1} },
		"is of another tier": func(p game.Position) []game.Position {
			if p == start || p == other {
				return []game.Position{min(start, other), max(start, other)}
			}
			return []game.Position{p}
		},
	} {
		f := failure(t, symmetric{g, images})
		if (f == "") != (want == "") || !strings.Contains(f, want) {
			t.Errorf("the failure is %q, want %q", f, want)
		}
	}
}
