package analysis

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
)

// naiveThreats returns the moves by which the player who is not to move would win at once; ok is false if the position with
// the other player to move does not exist.
type naiveThreats func(g game.Game, p game.Position) (names []string, ok bool)

// otherTurn changes the player to move in the text of a position. letters are those of the pieces of each player, first that
// of the player. It returns the first of the moves after which the winner's pieces lie on the same squares.
func otherTurn(letters ...string) naiveThreats {
	return func(g game.Game, p game.Position) (names []string, ok bool) {
		words := strings.Split(string(g.AppendText(nil, p)), " ")
		other := letters[1-slices.IndexFunc(letters, func(of string) bool { return of[:1] == words[1] })]
		words[1] = other[:1]
		passed, err := g.Parse(strings.Join(words, " "))
		if err != nil {
			return nil, false
		}
		seen := make(map[string]bool)
		for _, m := range g.Moves(nil, passed) {
			own := strings.Map(func(c rune) rune {
				if strings.ContainsRune(other, c) {
					return c
				}
				return '.'
			}, strings.Split(string(g.AppendText(nil, m.To)), " ")[0])
			if v := g.Primitive(m.To); v != 0 && v.Outcome().Winner() != g.ToMove(p) && !seen[own] {
				names, seen[own] = append(names, m.Name), true
			}
		}
		return names, true
	}
}

// onePiece puts one more piece of the player who is not to move on each square on which the other may put one.
func onePiece(goal func(board []string, piece string) bool) naiveThreats {
	return func(g game.Game, p game.Position) (names []string, ok bool) {
		board, piece := boardOf(g, p), g.Values().Players[g.ToMove(p).Other()]
		for _, m := range g.Moves(nil, p) {
			after := boardOf(g, m.To)
			for y := range after {
				for x := range after[y] {
					if after[y][x] != board[y][x] {
						after[y] = after[y][:x] + piece + after[y][x+1:]
					}
				}
			}
			if goal(after, piece) {
				names = append(names, m.Name)
			}
		}
		return names, true
	}
}

// boardOf returns the rows of a picture as texts.
func boardOf(g game.Game, p game.Position) (rows []string) {
	for _, row := range g.Picture(p).Rows {
		text := ""
		for _, s := range row {
			text += s.Text
		}
		rows = append(rows, text)
	}
	return rows
}

// line returns a function that looks for n equal pieces in a row.
func line(n int) func(board []string, piece string) bool {
	return func(board []string, piece string) bool {
		at := func(x, y int) bool {
			return y >= 0 && y < len(board) && x >= 0 && x < len(board[y]) && board[y][x:x+1] == piece
		}
		for y := range board {
			for x := range board[y] {
				for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
					k := 0
					for k < n && at(x+k*d[0], y+k*d[1]) {
						k++
					}
					if k == n {
						return true
					}
				}
			}
		}
		return false
	}
}

// threatened are games with the threats that they must have.
var threatened = map[string]naiveThreats{
	"mnk width=3 height=3 connect=3":      onePiece(line(3)),
	"mnk width=4 height=3 connect=3":      onePiece(line(3)),
	"connectn width=3 height=3 connect=3": onePiece(line(3)),
	"connectn width=4 height=4 connect=3": onePiece(line(3)),
	"dodgem size=3":                       otherTurn(">", "^"),
	"mills men=3":                         otherTurn("W", "B"),
}

// walked are games with too many positions to look at all.
var walked = map[string]naiveThreats{
	"mills men=5":            otherTurn("W", "B"),
	"dobutsu":                otherTurn("LGECH", "lgech"),
	"teeko variant=standard": otherTurn("B", "R"),
	"quixo size=4":           otherTurn("X", "O"),
}

// TestThreats compares the threats in all positions, or in those of random plays, with those by brute force. A position with a
// single reply does not show what other moves would win after it.
func TestThreats(t *testing.T) {
	for spec, want := range threatened {
		g := solved.Game(t, spec)
		checkThreats(t, g, slices.Collect(maps.Keys(gametest.Search(g))), want, !strings.HasPrefix(spec, "dodgem"))
	}
	for spec, want := range walked {
		g, r, positions := solved.Game(t, spec), rand.New(rand.NewPCG(1, 5)), []game.Position(nil)
		for range 300 {
			positions = append(positions, gametest.Walk(r, g, 100)...)
		}
		checkThreats(t, g, positions, want, spec != "dobutsu")
	}
}

// checkThreats compares threats with those that are wanted.
func checkThreats(t *testing.T, g game.Game, positions []game.Position, want naiveThreats, several bool) {
	t.Helper()
	found, forks := 0, 0
	for _, p := range positions {
		if g.Primitive(p) != 0 {
			continue
		}
		names, ok := want(g, p)
		replies := slices.DeleteFunc(g.Moves(nil, p), func(m game.Move) bool { return g.Primitive(m.To) != 0 })
		if _, passes := pass(g, p); !ok || !passes && len(replies) < 2 {
			continue
		}
		if got := Threats(g, p); !slices.Equal(got, names) {
			t.Fatalf("%s, %q: %q, want %q", g.Spec(), g.AppendText(nil, p), got, names)
		}
		if len(names) > 0 {
			found++
		}
		if len(names) > 1 {
			forks++
		}
	}
	if found == 0 || forks == 0 && several {
		t.Errorf("%s: %d positions with threats, %d with several", g.Spec(), found, forks)
	}
}

// TestThreatsWithoutTurn checks that in games of any kind, whose positions do not say how to change the player to move, a
// threat wins after every other reply.
func TestThreatsWithoutTurn(t *testing.T) {
	for _, spec := range []string{"mancala pits=2 stones=2", "mancala pits=3 stones=1", "dodgem size=3", "mills men=3", "quickcross width=3 height=2 connect=3"} {
		g := solved.Game(t, spec)
		for p := range gametest.Search(g) {
			for _, name := range Threats(struct{ game.Game }{g}, p) {
				for _, reply := range g.Moves(nil, p) {
					if reply.Name == name || g.Primitive(reply.To) != 0 {
						continue
					}
					moves := g.Moves(nil, reply.To)
					at := slices.IndexFunc(moves, func(m game.Move) bool { return m.Name == name })
					if at < 0 || g.ToMove(p) == g.ToMove(reply.To) && !g.Values().OfMover {
						t.Fatalf("%s, %q: %s is no move after %s", spec, g.AppendText(nil, p), name, reply.Name)
					}
					if v := g.Primitive(moves[at].To); v.Outcome().For(g.ToMove(moves[at].To)) != map[bool]game.Result{true: game.Loses, false: game.Wins}[g.Values().OfMover || g.ToMove(moves[at].To) == g.ToMove(p)] {
						t.Fatalf("%s, %q: %s does not win after %s", spec, g.AppendText(nil, p), name, reply.Name)
					}
				}
			}
		}
	}
}

// TestExplain checks the line and the threats of all positions against all positions in memory: the line is legal, each
// move of the loser is the longest defence, each of the winner the shortest win, and the threats are all of those of the
// winner. If the loser has one move left, each of his moves loses at once.
func TestExplain(t *testing.T) {
	specs := []string{"quickcross width=3 height=2 connect=3", "mancala pits=2 stones=2", "mancala pits=3 stones=2"}
	for spec := range threatened {
		specs = append(specs, spec)
	}
	for _, spec := range specs {
		g := solved.Game(t, spec)
		z, values := New(g, solved.Table(t, g), nil, search.Options{}), gametest.Search(g)
		lost, threats := 0, 0
		for p, v := range values {
			result := ResultOf(g, p, v)
			if g.Primitive(p) != 0 || result != game.Loses && result != game.Wins {
				continue
			}
			lost++
			report := must.Get(z.Assess(t.Context(), p, 0))(t)
			l := report.Explain(g)
			report.Line = nil // a search may know only who wins
			if after := report.Explain(g); len(after.Threats) > 0 && result == game.Wins {
				t.Fatalf("%s, %q: %+v without a line", spec, g.AppendText(nil, p), after)
			}
			report.Line = l.Moves
			if n := len(report.Line); n > 2 {
				report.Line = report.Line[:n-1]
				if cut := report.Explain(g); cut.soon {
					t.Fatalf("%s, %q: %+v, but the line is longer", spec, g.AppendText(nil, p), cut)
				}
			}
			h := player.NewHistoryFrom(g, p)
			for k, name := range l.Moves {
				must.OK(t, h.Play(name))
				if after := values[h.Position()]; after.Remoteness() != v.Remoteness()-k-1 {
					t.Fatalf("%s, %q: %v after %q of %q, want %d moves", spec, g.AppendText(nil, p), after, name, l.Moves, v.Remoteness()-k-1)
				}
			}
			if len(l.Moves) != v.Remoteness() {
				t.Fatalf("%s, %q: %q, want %d moves", spec, g.AppendText(nil, p), l.Moves, v.Remoteness())
			}
			at := h.At(l.After)
			if g.Primitive(at) != 0 { // the winner's move ends the game
				if len(l.Threats) > 0 {
					t.Fatalf("%s, %q: %+v threatens after the end", spec, g.AppendText(nil, p), l)
				}
				continue
			}
			loser := ResultOf(g, at, values[at]) == game.Loses
			if l.soon && (!loser || values[at].Remoteness() != 2) || len(l.Threats) > 0 && !loser {
				t.Fatalf("%s, %q: %+v: %v before the threats", spec, g.AppendText(nil, p), l, values[at])
			}
			if l.soon != (v.Remoteness() > 1 && len(l.Moves)-2 <= maxShown && ResultOf(g, h.At(len(l.Moves)-2), values[h.At(len(l.Moves)-2)]) == game.Loses) {
				t.Fatalf("%s, %q: %+v, %d moves", spec, g.AppendText(nil, p), l, v.Remoteness())
			}
			for _, m := range g.Moves(nil, at) {
				if child := values[m.To]; l.soon && (g.Values().Before(child).Remoteness() > 2 || ResultOf(g, at, g.Values().Before(child)) != game.Loses) {
					t.Fatalf("%s, %q: %+v: %s does not lose at once", spec, g.AppendText(nil, p), l, m.Name)
				}
			}
			if want := Threats(g, at); loser && !slices.Equal(l.Threats, want) {
				t.Fatalf("%s, %q: %q, want %q", spec, g.AppendText(nil, p), l.Threats, want)
			}
			threats += len(l.Threats)
		}
		if lost == 0 || threats == 0 && spec != specs[0] {
			t.Errorf("%s: %d positions, %d threats", spec, lost, threats)
		}
	}
}

// TestLine checks the words.
func TestLine(t *testing.T) {
	moves := strings.Fields("3 4 2 5 1 6 0 7")
	for want, l := range map[string]Line{
		"":                                      {After: 1, winner: "X"},
		"3 4":                                   {Moves: moves[:2]},
		"3 4 2 5 1 6 …":                         {Moves: moves, After: 1, winner: "X"},
		"3 4 2 5 1 6 … (3 threatens 8)":         {Moves: moves, After: 1, Threats: []string{"8"}, winner: "X"},
		"3 4 2 5 1 6 … (X threatens 8)":         {Moves: moves, Threats: []string{"8"}, winner: "X"},
		"X threatens 5 and 6":                   {Moves: moves[:2], Threats: []string{"5", "6"}, soon: true, winner: "X"},
		"3 threatens 4, 5 and 6":                {Moves: moves[:3], After: 1, Threats: []string{"4", "5", "6"}, soon: true},
		"3 4 2 threatens 5, 6, 7, 8 and 2 more": {Moves: moves[:5], After: 3, Threats: strings.Fields("5 6 7 8 9 10"), soon: true},
		"3 4 2 5 1":                             {Moves: moves[:5], After: 3, soon: true},
	} {
		if got := l.String(); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
}

// TestWhy checks what a search says of positions of games that are too large to solve here.
func TestWhy(t *testing.T) {
	for _, tt := range []struct{ spec, text, want string }{
		{"dobutsu", ".../.../glc/.../.L./EGE/..C/... L", "after C*b2, first threatens Cb2b1"},
		{"mills men=5", "B-.-./-BB.-/..-.W/-...-/W-W-. B 0 0", "W threatens e3-e1xa5"},
		{"connectn width=7 height=6 connect=4", "2 2 3 0 4", "X threatens 1 and 5"},
		{"mnk width=8 height=4 connect=4", "c2 a1 d2 a2 e2", "X threatens b2 and f2"},
	} {
		g := solved.Game(t, tt.spec)
		a, err := notation.Parse(g, tt.text, notation.AnyForm)
		must.OK(t, err)
		report := must.Get(New(g, nil, nil, search.Options{Memory: 4 << 20}).Assess(t.Context(), a.Position, 0))(t)
		if got := report.Why(g); got != tt.want {
			t.Errorf("%s, %s: %q, %v, want %q", tt.spec, tt.text, got, report.Worth, tt.want)
		}
	}
}

// TestTurningPoint checks the sentence about plays with and without mistakes, and in random plays that no later move changes
// the result.
func TestTurningPoint(t *testing.T) {
	g := solved.Game(t, "mnk width=3 height=3 connect=3")
	z, values := New(g, solved.Table(t, g), nil, search.Options{}), gametest.Search(g)
	who := func(p game.Player) string { return player.Who(g, p) }
	turning := func(h *player.History) (string, []Judgment) {
		judgments := must.Get(z.Judge(t.Context(), h, 0, 0))(t)
		return TurningPoint(h, judgments, who), judgments
	}
	for play, want := range map[string]string{
		"":            "No move was a mistake.",
		"b2 a1 c3 c1": "No move was a mistake.",
		"a1 b1":       "The turning point was move 2, O b1: it loses in 6, then a2 a3 b2 threatens c2 and c3; b2 was best and ties in 8 (b2 a2 a3 c1 b1 b3 …).",
	} {
		h := player.NewHistory(g)
		for name := range strings.FieldsSeq(play) {
			must.OK(t, h.Play(name))
		}
		if got, _ := turning(h); got != want {
			t.Errorf("%s: %q, want %q", play, got, want)
		}
	}
	for play, want := range map[string]string{ // after a1 b1
		"a2 a3":    "No move was a mistake. The start is lost for O, in 5 moves.",
		"a2 b2 a3": "No move was a mistake. The start is lost for O, in 5 moves. Move 2, O b2, shortened that most: it loses in 2 in place of 4.",
	} {
		h := player.NewHistory(g)
		must.OK(t, errors.Join(h.Play("a1"), h.Play("b1")))
		h = player.NewHistoryFrom(g, h.Position())
		for name := range strings.FieldsSeq(play) {
			must.OK(t, h.Play(name))
		}
		if got, _ := turning(h); got != want {
			t.Errorf("after a1 b1, %s: %q, want %q", play, got, want)
		}
	}
	h := player.NewHistory(g)
	for _, name := range []string{"a1", "b1", "a2"} {
		must.OK(t, h.Play(name))
	}
	_, judgments := turning(h)
	for i, want := range []string{"The turning point was move 2, ", "No move is known to be a mistake.", "The last known mistake was move 2, "} {
		some := slices.Clone(judgments)
		if some[i].After.Known = false; i == 1 {
			some[i].Mistake = false
		}
		if got := TurningPoint(h, some, who); !strings.HasPrefix(got, want) {
			t.Errorf("without the value of move %d: %q, want %q", i+1, got, want)
		}
	}
	some := slices.Clone(judgments)
	some[1].Before.Known, some[1].Mistake = false, false
	const lost = "Move 2, O b1, is the first that is known to lose: it loses in 6. Whether another move was better is not known."
	if got := TurningPoint(h, some, who); got != "No move is known to be a mistake. "+lost || FirstLost(h, some, who) != lost || FirstLost(h, judgments, who) != "" {
		t.Errorf("without the value before move 2: %q", got)
	}
	random := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		h := player.NewHistory(g)
		for moves := h.Moves(); len(moves) > 0; moves = h.Moves() {
			must.OK(t, h.Play(moves[random.IntN(len(moves))].Name))
		}
		result, last, mistakes := values[h.Position()].Outcome(), 0, 0
		for i := range h.Names() {
			if values[h.At(i)].Outcome() != values[h.At(i+1)].Outcome() {
				last = i + 1
				mistakes++
			}
		}
		got, judgments := turning(h)
		want := "No move was a mistake."
		if last > 0 {
			want = fmt.Sprintf("The turning point was move %d, %s %s", last, who(h.Mover(last-1)), h.Names()[last-1])
			if mistakes > 1 {
				want += fmt.Sprintf(", the last of %d mistakes", mistakes)
			}
			want += map[bool]string{true: ": it ties in ", false: ": it loses in "}[result == game.Tie]
			if best := judgments[last-1].Better[0].Name; !strings.Contains(got, "; "+best+" was best and ") {
				t.Errorf("%v: %q lacks %s", h.Names(), got, best)
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%v: %q, want %q", h.Names(), got, want)
		}
	}
}
