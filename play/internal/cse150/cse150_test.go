package cse150

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
)

// small configures a search with little memory.
var small = search.Options{Memory: 4 << 20}

// caseOf reads the two lines of a case.
func caseOf(t testing.TB, lines ...string) game.Tiered {
	t.Helper()
	return must.Get(ReadCase(strings.NewReader(strings.Join(lines, "\n"))))(t)
}

// made makes a player.
func made(t testing.TB, name string, g game.Tiered, o Options) player.Player {
	t.Helper()
	if o.Search.Memory == 0 {
		o.Search = small
	}
	p := must.Get(New(name, g, o))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

// moveOf returns the action of a player at an initial position, which must have a move.
func moveOf(t testing.TB, name string, g game.Tiered) string {
	t.Helper()
	move, err := made(t, name, g, Options{}).Move(t.Context(), player.NewHistory(g), 0)
	if err != nil {
		t.Fatalf("%s: %s: %v", name, g.Spec(), err)
	}
	return ActionRepr(g.ToMove(g.Start()), move)
}

// TestCourseCases checks the course's own cases, by problem. Where the search is not cut
// off, all three searching players give the same answer.
func TestCourseCases(t *testing.T) {
	for _, tt := range []struct{ problems, first, second, answer string }{
		{"124", "State.initial(2, 1)", "State([1, 0, 1, 1, 1, 0], 1)", "Action(1, 3)"},
		{"124", "State.initial(2, 2)", "State([2, 2, 0, 2, 2, 0], 0)", "Action(0, 1)"},
		{"124", "State.initial(2, 4)", "State([4, 4, 0, 4, 4, 0], 0)", "Action(0, 0)"},
		{"24", "State.initial(3, 3)", "State(None, [3, 3, 3, 0, 3, 3, 3, 0], 0)", "Action(0, 2)"},
		{"24", "State.initial(4, 1)", "State([1, 1, 1, 0, 1, 1, 1, 1, 1, 0], 1)", "Action(1, 5)"},
		{"24", "State.initial(2, 1)", "State([7, 7, 9, 0, 1, 4], 0)", "Action(0, 0)"},
		{"24", "State.initial(9, 1)", "State([0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0], 0)", "Action(0, 8)"},
		{"3", "State.initial(2, 1)", "State([0, 0, 0, 3, 1, 0], 1)", "Action(1, 4)"},
		{"3", "State.initial(4, 4)", "State([8, 0, 4, 4, 0, 4, 4, 4, 4, 0], 0)", "Action(0, 2)"},
		{"1234", "State.initial(2, 1)", "State([0, 0, 0, 3, 1, 0], 0)", "None"},
	} {
		g := caseOf(t, tt.first, tt.second)
		for _, problem := range tt.problems {
			name := map[rune]string{'1': MinimaxName, '2': AlphaBetaName, '3': EvaluationName, '4': CustomName}[problem]
			if got := moveOf(t, name, g); got != tt.answer {
				t.Errorf("%s: %s, %s: %s, want %s", name, tt.first, tt.second, got, tt.answer)
			}
		}
	}
}

// TestForms checks the format of printed states and moves.
func TestForms(t *testing.T) {
	for want, lines := range map[string][2]string{
		"  [4, 4, 4, 4, 4, 4]\n0                    0\n  [4, 4, 4, 4, 4, 4]": {"State.initial(6, 4)", "State(None, 0)"},
		"  [3]\n7     100\n  [12]": {"State.initial(1, 1)", "State([12, 100, 3, 7], 1)"},
	} {
		g := caseOf(t, lines[0], lines[1])
		if got := Repr(g, g.Start()); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	for move, want := range map[string][2]string{"10": {"Action(1, 10)", "Player 1 played at 10"}, game.Pass: {"None", "None"}} {
		if repr, text := ActionRepr(game.Second, move), ActionText(game.Second, move); repr != want[0] || text != want[1] {
			t.Errorf("%s, %s, want %v", repr, text, want)
		}
	}
}

// TestReadCaseRefuses checks that malformed cases are refused with the line, what was
// expected and what was found.
func TestReadCaseRefuses(t *testing.T) {
	const initial, state = "State.initial(2, 1)\n", "State([1, 0, 1, 1, 1, 0], 1)\n"
	for _, tt := range []struct{ text, want string }{
		{"", `line 1: expected State.initial(M, N), found the end`},
		{initial, `line 2: expected State([…], row), found the end`},
		{state, `line 1: expected State.initial(M, N), found "State([1, 0, 1, 1, 1, 0], 1)"`},
		{initial + initial, `line 2: expected State([…], row), found "State.initial(2, 1)"`},
		{"\n" + initial + state + state, `line 4: expected nothing after the second state, found "State([1, 0, 1, 1, 1, 0], 1)"`},
		{"State.initial(0, 1)\n", `line 1: mancala: pits and stones must be at least 1, found 0 and 1`},
		{"State.initial(2, 0)\n", `line 1: mancala: pits and stones must be at least 1, found 2 and 0`},
		{initial + "State([1, 0, 1, 1, 1], 1)", `line 2: expected 6 places for 2 pits a row, found 5`},
		{initial + "State([1, 0, 1, 1, -1, 0], 1)", `line 2: mancala: expected a number of stones up to 16383 in place 4, found -1`},
		{initial + "State([1, 0, 1, 1, 1, 0], 2)", `line 2: mancala: expected row 0 or 1 to move, found 2`},
		{initial + "State([1, 0, 1, 1, 1, 0], 1, None)", `line 2: expected State([…], row), found "State([1, 0, 1, 1, 1, 0], 1, None)"`},
		{initial + "State([1, 0, 1, 1, 1, 0])", `line 2: expected State([…], row), found "State([1, 0, 1, 1, 1, 0])"`},
		{initial + "State(None, [1,, 2], 0)", `line 2: expected State([…], row), found "State(None, [1,, 2], 0)"`},
		{initial + "State([],0)" + strings.Repeat("x", 100), `line 2: expected State([…], row), found "State([],0)` + strings.Repeat("x", 49) + `"…`},
	} {
		if s, err := ReadCase(strings.NewReader(tt.text)); fmt.Sprint(err) != tt.want {
			t.Errorf("%q: %s, error\n%v, want\n%s", tt.text, s, err, tt.want)
		}
	}
	for _, text := range []string{"State(None, 0)", "State(None, [9], 0)", "State([1,2], None)", "  State( None , [ 1 ] , 1 )"} {
		if g := caseOf(t, " State.initial( 2,3 )\r", text); g.Spec() != "mancala pits=2 stones=3" {
			t.Errorf("%s: %s, want the initial board", text, g.Spec())
		}
	}
}

// FuzzReadCase checks that the result is an error, or a game whose initial position is read
// back from its printed form.
func FuzzReadCase(f *testing.F) {
	f.Add("State.initial(2, 1)\nState([1, 0, 1, 1, 1, 0], 1)\n")
	f.Add("State.initial(3, 3)\nState(None, [3, 3, 3, 0, 3, 3, 3, 0], 0)\n")
	f.Add("State.initial(1, 1)\nState([1000000, 0, 0, 0], 0)")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadCase(strings.NewReader(text))
		if err != nil {
			return
		}
		state := string(g.AppendText(nil, g.Start()))
		again, err := parseState(state, g)
		if err != nil || string(again.AppendText(nil, again.Start())) != state {
			t.Fatalf("%s is read as %v, %v", state, again, err)
		}
	})
}

// solved returns the values of a board's positions, each for its player to move.
func solved(t testing.TB, pits, stones int) (game.Tiered, map[game.Position]game.Value) {
	t.Helper()
	g := must.Get(mancala.New(pits, stones))(t)
	return g, gametest.Search(g)
}

// bestPit returns the smallest of the pits with the best utility, by the solved game.
func bestPit(g game.Tiered, values map[game.Position]game.Value, p game.Position) string {
	best, name := -2, ""
	for _, m := range g.Moves(nil, p) {
		if v := map[game.Result]int{game.Wins: 1, game.Ties: 0, game.Loses: -1}[values[m.To].Outcome().For(g.ToMove(p))]; v > best {
			best, name = v, m.Name
		}
	}
	return name
}

// agree checks that players choose as the solved game shows, in some random positions.
func agree(t *testing.T, pits, stones, most int, names ...string) {
	t.Helper()
	g, values := solved(t, pits, stones)
	r := rand.New(rand.NewPCG(9, 10))
	var positions []game.Position
	for p := range values {
		if g.Primitive(p) == 0 {
			positions = append(positions, p)
		}
	}
	slices.Sort(positions)
	for range most {
		p := positions[r.IntN(len(positions))]
		start := caseOf(t, fmt.Sprintf("State.initial(%d, %d)", pits, stones), string(g.AppendText(nil, p)))
		want := ActionRepr(g.ToMove(p), bestPit(g, values, p))
		for _, name := range names {
			if got := moveOf(t, name, start); got != want {
				t.Errorf("%s: %s: %s, want %s", name, start.Spec(), got, want)
			}
		}
	}
}

// TestAgree checks that the minimax, alpha-beta and custom players choose the same move as
// the solved game wherever the search is not cut off.
func TestAgree(t *testing.T) {
	agree(t, 1, 3, 10, MinimaxName, AlphaBetaName, CustomName)
	agree(t, 2, 1, 10, MinimaxName, AlphaBetaName, CustomName)
	agree(t, 3, 1, 10, MinimaxName, AlphaBetaName, CustomName)
	agree(t, 2, 4, 20, AlphaBetaName, CustomName)
	agree(t, 3, 2, 30, AlphaBetaName, CustomName)
}

func TestLongAgree(t *testing.T) {
	longtest.Skip(t)
	for _, b := range [][2]int{{1, 3}, {2, 1}, {2, 2}, {2, 4}, {2, 5}, {3, 1}, {3, 2}, {4, 1}, {3, 3}} {
		agree(t, b[0], b[1], 200, AlphaBetaName, CustomName)
	}
}

// A fake is a player whose moves a function returns.
type fake func(ctx context.Context, h *player.History, limit time.Duration) (string, error)

func (f fake) Move(ctx context.Context, h *player.History, limit time.Duration) (string, error) {
	return f(ctx, h, limit)
}
func (fake) Close() error { return nil }

// entrant returns an entrant that always has the same player.
func entrant(name string, p player.Player) referee.Entrant {
	return referee.Entrant{Name: name, New: func(context.Context) (player.Player, error) { return p, nil }}
}

// TestGame checks that a game prints what the course's program prints, with passes and the
// winner.
func TestGame(t *testing.T) {
	var out strings.Builder
	start := caseOf(t, "State.initial(1, 1)", "State(None, 0)")
	first := fake(func(ctx context.Context, h *player.History, limit time.Duration) (string, error) {
		if limit != 3*time.Second {
			t.Errorf("the limit is %v", limit)
		}
		return chooser(evaluation).Move(ctx, h, 0)
	})
	g := &Game{Players: [2]referee.Entrant{entrant("Fake", first), entrant(AlphaBetaName, made(t, AlphaBetaName, start, Options{}))},
		Out: &out, Timeout: 3 * time.Second, Rand: rand.New(rand.NewPCG(1, 2))}
	const want = `  [1]
0     0
  [1]

Player 0 played at 0
  [1]
0     1
  [0]

Player 1 played at 2
  [0]
1     1
  [0]
Draw!
`
	if err := g.Play(t.Context(), start); err != nil || out.String() != want {
		t.Errorf("%v, %s", err, out.String())
	}
	out.Reset()
	const passed = "  [0]\n0     0\n  [1]\n\nNone\n  [0]\n0     0\n  [1]\n\nPlayer 0 played at 0\n  [0]\n0     1\n  [0]\nFake (0) won!\n"
	if err := g.Play(t.Context(), caseOf(t, "State.initial(1, 1)", "State([1, 0, 0, 0], 1)")); err != nil || out.String() != passed {
		t.Errorf("%v, %s", err, out.String())
	}
}

// TestGameLate checks that a player without a move at the end of its time gets a random
// move, which the game prints, and that an illegal move ends the game.
func TestGameLate(t *testing.T) {
	late := fake(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
		if d, ok := ctx.Deadline(); !ok || time.Until(d) > time.Second+time.Millisecond {
			t.Errorf("the time ends at %v", d)
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	var out strings.Builder
	started := 0
	start := caseOf(t, "State.initial(1, 1)", "State([1, 0, 0, 0], 0)")
	g := &Game{Players: [2]referee.Entrant{{Name: "Fake", New: func(context.Context) (player.Player, error) { started++; return late, nil }},
		entrant(RandomName, player.NewRandom(1))}, Out: &out, Timeout: time.Millisecond, Rand: rand.New(rand.NewPCG(1, 2))}
	begun := time.Now()
	const want = "  [0]\n0     0\n  [1]\n\nTime is up and no valid move was returned, playing a random move.\nPlayer 0 played at 0\n  [0]\n0     1\n  [0]\nFake (0) won!\n"
	if err := g.Play(t.Context(), start); err != nil || out.String() != want || time.Since(begun) < time.Second || started != 1 {
		t.Errorf("%v after %v, started %d times\n%s", err, time.Since(begun), started, out.String())
	}
	g.Players[0] = entrant("Fake", fake(func(context.Context, *player.History, time.Duration) (string, error) { return "1", nil }))
	if err := g.Play(t.Context(), start); fmt.Sprint(err) != `Fake (0): move 1, first at "State([1, 0, 0, 0], 0)": expected one of 0, found "1"` {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Play(ctx, start); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	g.Players[0] = entrant(HumanName, player.NewHuman(player.NewConsole(strings.NewReader("x\n"), io.Discard)))
	if err := g.Play(t.Context(), start); !errors.Is(err, player.ErrLeft) {
		t.Error(err)
	}
}

// TestTime checks that no search ends late after its context, nor a custom player after its
// limit.
func TestTime(t *testing.T) {
	g := caseOf(t, "State.initial(6, 4)", "State(None, 0)")
	h := player.NewHistory(g)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if move, err := made(t, MinimaxName, g, Options{}).Move(ctx, h, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("minimax: %v, %v", move, err)
	}
	p := made(t, CustomName, g, Options{})
	for range 3 {
		const limit = 200 * time.Millisecond
		begun := time.Now()
		move, err := p.Move(t.Context(), h, limit)
		if took := time.Since(begun); err != nil || took > limit+lastSecond {
			t.Errorf("%v after %v", err, took)
		}
		if err := h.Play(move); err != nil {
			t.Error(err)
		}
	}
}
