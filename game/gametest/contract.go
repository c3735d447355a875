// Package gametest supports tests of games: the contract of the Game interface, and solutions of
// small games in memory. It does not know any specific game.
package gametest

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/treereduce/treereduce/game"
)

// The size of Contract: random games, the largest number of moves of each, and random keys and
// texts.
const (
	walks      = 8
	walkLength = 200
	keys       = 500
	looks      = 4 // positions per game that are used to check a game.Searched
)

// Contract checks the contract of game.Game, and of game.Tiered, Blockwise, Halved, Symmetric, Reversible, Decider, Expander
// or Searched if g implements them. It uses the positions of random games, random keys, and random texts,
// which may be invalid. The game may have any size. The bounds of a Searched game after more than a few plies are
// checked by CheckSearched.
func Contract(t testing.TB, g game.Game) {
	t.Helper()
	c := newContract(t, g)
	c.checkGame()
	r := rand.New(rand.NewPCG(1, uint64(g.KeyBits())))
	for range walks {
		walk := Walk(r, g, walkLength)
		for _, p := range walk {
			c.checkPosition(p)
			c.checkText(r, p)
			if g, ok := g.(game.Blockwise); ok && c.solvable {
				c.checkFinish(g, p)
				c.checkDeduced(g, p)
			}
		}
		c.checkBackward(walk)
		if g, ok := g.(game.Searched); ok {
			s := searched{c, g, g.Traits()}
			s.checkTraits()
			for range looks {
				s.checkSearched(walk[r.IntN(len(walk))])
			}
		}
	}
	for i := range uint64(keys) {
		c.checkKey(i)
		c.checkKey(r.Uint64() >> (64 - g.KeyBits()))
	}
	c.checkConcurrent()
}

// Walk returns the positions of a random game, from the initial position on and in order, with
// at most this many moves.
func Walk(r *rand.Rand, g game.Game, most int) []game.Position {
	positions := []game.Position{g.Start()}
	for range most {
		moves := g.Moves(nil, positions[len(positions)-1])
		if len(moves) == 0 {
			break
		}
		positions = append(positions, moves[r.IntN(len(moves))].To)
	}
	return positions
}

type contract struct {
	testing.TB
	game.Game
	solvable bool
}

func newContract(t testing.TB, g game.Game) contract {
	return contract{t, g, g.Info().Vast == 0}
}

func (c contract) failf(p game.Position, format string, args ...any) {
	c.Helper()
	c.Fatalf("%s: %d (%q): %s", c.Game.Spec(), p, c.Game.AppendText(nil, p), fmt.Sprintf(format, args...))
}

// checkGame checks everything that does not depend on a position.
func (c contract) checkGame() {
	c.Helper()
	g := c.Game
	if spec := g.Spec(); spec == "" || strings.Join(strings.Fields(spec), " ") != spec {
		c.Fatalf("the spec %q is not some words with a blank between them", spec)
	}
	if bits := g.KeyBits(); bits < 1 || bits > 64 {
		c.Fatalf("%s: a key of %d bits", g.Spec(), bits)
	} else if bits < 64 && (g.Check(1<<bits) == nil || g.Check(^game.Position(0)) == nil) {
		c.Fatalf("%s: Check lets a key pass of more than %d bits", g.Spec(), bits)
	}
	if vs := g.Values(); !vs.OfMover && (vs.Players[0] == "" || vs.Players[1] == "" || vs.Players[0] == vs.Players[1]) {
		c.Fatalf("%s: the players are called %q", g.Spec(), vs.Players)
	}
	if !g.Values().TiesSoon && !game.IsAcyclic(g) {
		c.Fatalf("%s: play may never end, so that players must prefer the nearest of several ties", g.Spec())
	}
	if err := g.Check(g.Start()); err != nil {
		c.Fatalf("%s: the start: %v", g.Spec(), err)
	}
	if tier := game.TierOf(g, g.Start()); tier != 0 {
		c.Fatalf("%s: the start is of tier %d, want 0", g.Spec(), tier)
	}
	if err := game.CheckLength(c.Game); err != nil {
		c.Fatal(err)
	}
}

// checkKey checks a key that may not be a valid position.
func (c contract) checkKey(p game.Position) {
	c.Helper()
	if c.Game.Check(p) == nil {
		c.checkPosition(p)
	}
}

// checkPosition checks any position that Check accepts.
func (c contract) checkPosition(p game.Position) {
	c.Helper()
	g := c.Game
	if err := g.Check(p); err != nil {
		c.failf(p, "%v", err)
	}
	if bits := g.KeyBits(); bits < 64 && p>>bits != 0 {
		c.failf(p, "it has more than %d bits", bits)
	}
	text := string(g.AppendText([]byte("before"), p))
	text, ok := strings.CutPrefix(text, "before")
	if !ok || text == "" || strings.ContainsRune(text, '\'') || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		c.failf(p, "the text must be appended, not empty, UTF-8, and without tabs, ends of lines, other control characters and single quotes")
	}
	if again, err := g.Parse(text); err != nil {
		c.failf(p, "its text is not read: %v", err)
	} else if again != p {
		c.failf(p, "its text is read as another position, %d", again)
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(text, ",", " "), " ")
	if slices.ContainsFunc(g.Moves(nil, g.Start()), func(m game.Move) bool { return m.Name == first }) {
		c.failf(p, "the text begins with a move")
	}
	if player := g.ToMove(p); player > game.Second {
		c.failf(p, "player %d is to move", player)
	}
	v := g.Primitive(p)
	if v != 0 && (!v.Valid() || v.Remoteness() != 0) {
		c.failf(p, "the value of a finished position is %d", v)
	}
	c.checkMoves(p, v != 0)
	c.checkKnown(p)
	c.checkMirror(p)
	c.checkCanonical(p)
	c.checkPicture(p, g.Picture(p))
	switch g := g.(type) {
	case game.Blockwise:
		if !c.solvable {
			break
		}
		CheckBlockwise(c.TB, g, p)
		if g, ok := g.(game.Halved); ok {
			CheckHalved(c.TB, g, p)
		}
	default:
		if tier, last := game.TierOf(g, p), game.LastTier(g); tier < 0 || tier > last {
			c.failf(p, "it is of tier %d, but the last is %d", tier, last)
		}
	}
}

// checkKnown checks the value of a position that a Decider knows.
func (c contract) checkKnown(p game.Position) {
	c.Helper()
	g, ok := c.Game.(game.Decider)
	if !ok {
		return
	}
	v, ended, mover, vs := g.Known(p), g.Primitive(p), g.ToMove(p), g.Values()
	wins := func(m game.Move) bool {
		return vs.Before(vs.Ended(g.Primitive(m.To), g.ToMove(m.To))) == vs.Ended(v, mover)
	}
	moves := g.Moves(nil, p)
	if v != ended && (v != game.NewValue(game.WinFor(mover), 1) || !slices.ContainsFunc(moves, wins)) {
		c.failf(p, "Known is %d, want the value of Primitive, %d, or a win by a move that ends play", v, ended)
	}
	if v != ended && slices.ContainsFunc(moves, func(m game.Move) bool { return g.Known(m.To) == 0 }) {
		c.failf(p, "Known is %d, but it has a successor that the rules do not decide", v)
	}
}

// checkMirror checks the mirror image of a position, if the game has mirror images.
func (c contract) checkMirror(p game.Position) {
	c.Helper()
	g, ok := c.Game.(game.Mirrored)
	if !ok {
		return
	}
	image := g.Mirror(p)
	if g.Mirror(image) != p || g.Check(image) != nil || g.ToMove(image) != g.ToMove(p) || g.Primitive(image) != g.Primitive(p) {
		c.failf(p, "%d is not its mirror image", image)
	}
	var to, want []game.Position
	for _, m := range g.Moves(nil, image) {
		to = append(to, m.To)
	}
	for _, m := range g.Moves(nil, p) {
		want = append(want, g.Mirror(m.To))
	}
	slices.Sort(to)
	slices.Sort(want)
	if !slices.Equal(to, want) {
		c.failf(p, "the moves of the mirror image %d lead to %d, want %d", image, to, want)
	}
}

// checkCanonical checks the canonical position of a position, if the board of the game has symmetries.
func (c contract) checkCanonical(p game.Position) {
	c.Helper()
	g, ok := c.Game.(game.Symmetric)
	if !ok {
		return
	}
	one := g.Canonical(p)
	images := g.Images([]game.Position{7}, p)
	if len(images) < 2 || images[0] != 7 {
		c.failf(p, "Images does not append")
	}
	if images = images[1:]; images[0] != one || !slices.Contains(images, p) || !slices.IsSorted(images) {
		c.failf(p, "its images are %d, want them ascending, from its canonical position %d on, and itself among them", images, one)
	}
	to := func(p game.Position) (all []game.Position) {
		for _, m := range g.Moves(nil, p) {
			all = append(all, g.Canonical(m.To))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	want, value := to(p), g.Values().Ended(game.KnownValue(g, p), g.ToMove(p))
	for i, image := range images {
		switch {
		case i > 0 && image == images[i-1]:
			c.failf(p, "its image %d is there twice", image)
		case g.Check(image) != nil || g.Canonical(image) != one || !slices.Equal(g.Images(nil, image), images):
			c.failf(p, "%d is not an image of it: it has other images", image)
		case game.TierOf(g, image) != game.TierOf(g, p):
			c.failf(p, "its image %d is of another tier", image)
		case g.ToMove(image) != g.ToMove(p) && !g.Values().OfMover:
			c.failf(p, "in its image %d it is the other player's turn, but values are not those of the mover", image)
		case g.Values().Ended(game.KnownValue(g, image), g.ToMove(image)) != value:
			c.failf(p, "its image %d has another value", image)
		}
		if got := to(image); !slices.Equal(got, want) {
			c.failf(p, "the moves of its image %d lead to those with the canonical positions %d, want %d", image, got, want)
		}
	}
}

// checkMoves checks the moves of a position.
func (c contract) checkMoves(p game.Position, finished bool) {
	c.Helper()
	g := c.Game
	moves := g.Moves([]game.Move{{Name: "before"}}, p)
	if len(moves) == 0 || moves[0].Name != "before" {
		c.failf(p, "Moves does not append")
	}
	moves = moves[1:]
	if finished != (len(moves) == 0) {
		c.failf(p, "finished is %v, but there are %d moves", finished, len(moves))
	}
	for i, m := range moves {
		// A name must be a word on a command line, and in a protocol where # starts a comment.
		if m.Name == "" || strings.ContainsAny(m.Name, " ,\t\n#") {
			c.failf(p, "a move is called %q, but a name must be a word without commas and #", m.Name)
		}
		if i > 0 && compareNames(moves[i-1].Name, m.Name) >= 0 {
			c.failf(p, "moves %q and %q are not in the order of their names", moves[i-1].Name, m.Name)
		}
		if err := g.Check(m.To); err != nil {
			c.failf(p, "move %s leads to no position: %v", m.Name, err)
		}
		if mover := g.ToMove(p); g.Values().OfMover && mover == g.ToMove(m.To) && mover != game.First {
			c.failf(p, "after move %s it is the same player's turn, but values are those of the mover: turns must alternate", m.Name)
		}
		if from, to := game.TierOf(g, p), game.TierOf(g, m.To); to < from || to == from && !game.Loops(g, from) {
			c.failf(p, "move %s leads from tier %d to %d", m.Name, from, to)
		}
	}
	want := make(map[game.Successor]bool)
	for _, m := range moves {
		to := m.To
		if s, ok := g.(game.Symmetric); ok {
			to = s.Canonical(to)
		}
		want[game.Successor{Position: to, Known: game.KnownValue(g, to)}] = true
	}
	if n := len(want); n > game.MaxMoves {
		c.failf(p, "it has %d successors, at most %d can be counted", n, game.MaxMoves)
	}
	if e, ok := g.(game.Expander); ok {
		got := make(map[game.Successor]bool)
		for _, s := range e.Successors(nil, p) {
			got[s] = true
		}
		if !maps.Equal(got, want) {
			c.failf(p, "its Successors are %v, want %v", got, want)
		}
	}
}

// compareNames compares names of moves; it compares numbers in them as numbers.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na == 0 || nb == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the number of leading digits of s.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// checkPicture requires rows of equal length, and labels for all rows and columns or none.
func (c contract) checkPicture(p game.Position, pic game.Picture) {
	c.Helper()
	if len(pic.Rows) == 0 || len(pic.Rows[0]) == 0 {
		c.failf(p, "the picture has no squares")
	}
	for _, row := range pic.Rows {
		if len(row) != len(pic.Rows[0]) {
			c.failf(p, "the picture has rows of %d and %d squares", len(pic.Rows[0]), len(row))
		}
		for _, s := range row {
			if (s.Kind == game.Gap) != (s.Text == "") || s.Kind > game.Gap || s.Owner > game.OfSecond {
				c.failf(p, "the picture has a square %+v", s)
			}
		}
	}
	place := c.Game.Info().Look.Place
	if _, arranger := c.Game.(game.Arranger); place != nil || arranger {
		var squares [][]string
		for _, row := range pic.Rows {
			var texts []string
			for _, s := range row {
				texts = append(texts, s.Text)
				if place != nil && place[0].Text != game.Add && s.Kind != game.Gap && !slices.ContainsFunc(place, func(p game.Square) bool { return p.Text == s.Text }) {
					c.failf(p, "an editor cannot place %q", s.Text)
				}
			}
			squares = append(squares, texts)
		}
		if again, err := game.Arrange(c.Game, squares, c.Game.ToMove(p)); err != nil || again != p {
			c.failf(p, "its squares are arranged as %d, %v", again, err)
		}
	}
	for _, labels := range [][]string{pic.Above, pic.Below} {
		if labels != nil && len(labels) != len(pic.Rows[0]) {
			c.failf(p, "the picture has %d columns, and the labels %q", len(pic.Rows[0]), labels)
		}
	}
	if pic.Left != nil && len(pic.Left) != len(pic.Rows) {
		c.failf(p, "the picture has %d rows, and the labels %q", len(pic.Rows), pic.Left)
	}
}

// checkText makes small changes to a text, and requires that the result of Parse is valid if
// there is no error.
func (c contract) checkText(r *rand.Rand, p game.Position) {
	c.Helper()
	text := c.Game.AppendText(nil, p)
	for range 4 {
		i, j := r.IntN(len(text)), r.IntN(len(text))
		wrong := bytes.Clone(text)
		switch r.IntN(4) {
		case 0:
			wrong[i], wrong[j] = wrong[j], wrong[i]
		case 1:
			wrong[i] = text[j]
		case 2:
			wrong = slices.Delete(wrong, i, i+1)
		default:
			wrong[i] = byte(r.IntN(128))
		}
		q, err := c.Game.Parse(string(wrong))
		if err != nil {
			continue
		}
		if err := c.Game.Check(q); err != nil {
			c.failf(p, "of %q Parse makes %d, but %v", wrong, q, err)
		}
		c.checkKey(q)
	}
}

// checkConcurrent plays the same games concurrently, for the race detector.
func (c contract) checkConcurrent() {
	c.Helper()
	var wg sync.WaitGroup
	played := make([][]string, 2)
	for i := range played {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, 3))
			for _, p := range Walk(r, c.Game, walkLength) {
				played[i] = append(played[i], fmt.Sprintf("%s %v %v", c.Game.AppendText(nil, p), c.Game.ToMove(p), c.Game.Primitive(p)))
			}
		})
	}
	wg.Wait()
	if !slices.Equal(played[0], played[1]) {
		c.Fatalf("%s: two that play the same game see different ones", c.Game.Spec())
	}
}

// FuzzParse fuzzes Parse of a game with some texts as seeds: the result must be a valid
// position, and must survive AppendText and Parse.
func FuzzParse(f *testing.F, g game.Game, texts ...string) {
	f.Helper()
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := g.Parse(text)
		if err != nil {
			return
		}
		if err := g.Check(p); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if again, err := g.Parse(string(g.AppendText(nil, p))); err != nil || again != p {
			t.Errorf("%q: read as %#x, written and read again as %#x, %v", text, p, again, err)
		}
	})
}
