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
	"github.com/treereduce/treereduce/internal/longtest"
	"github.com/treereduce/treereduce/internal/naive"
	"github.com/treereduce/treereduce/player"
	"github.com/treereduce/treereduce/search"
)

// small is a search in little memory.
var small = search.Options{Memory: 4 << 20}

// caseOf reads the two lines of a case.
func caseOf(t testing.TB, lines ...string) State {
	t.Helper()
	s, err := ReadCase(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// moves of a player, which must have one.
func moveOf(t testing.TB, p Player, s State) string {
	t.Helper()
	a, err := p.Move(t.Context(), s, 0)
	if err != nil {
		t.Fatalf("%s: %s at %s: %v", p.Name(), s, p.Name(), err)
	}
	return a.Repr()
}

// The course's own cases, by problem. Where the search ends, all three of the searching
// players answer alike.
func TestCourseCases(t *testing.T) {
	for _, tt := range []struct{ problems, first, second, answer string }{
		{"124", "State.initial(2, 1)", "State([1, 0, 1, 1, 1, 0], 1)", "Action(1, 3)"},
		{"124", "State.initial(2, 2)", "State([2, 2, 0, 2, 2, 0], 0)", "Action(0, 1)"},
		{"124", "State.initial(2, 4)", "State([4, 4, 0, 4, 4, 0], 0)", "Action(0, 0)"},
		{"24", "State.initial(3, 3)", "State(None, [3, 3, 3, 0, 3, 3, 3, 0], 0)", "Action(0, 2)"},
		{"24", "State.initial(4, 1)", "State([1, 1, 1, 0, 1, 1, 1, 1, 1, 0], 1)", "Action(1, 5)"},
		{"3", "State.initial(2, 1)", "State([0, 0, 0, 3, 1, 0], 1)", "Action(1, 4)"},
		{"3", "State.initial(4, 4)", "State([8, 0, 4, 4, 0, 4, 4, 4, 4, 0], 0)", "Action(0, 2)"},
	} {
		s := caseOf(t, tt.first, tt.second)
		for _, problem := range tt.problems {
			p := map[rune]Player{'1': Minimax{}, '2': NewAlphaBeta(), '3': Evaluation{}, '4': NewCustom(CustomOptions{Search: small})}[problem]
			if got := moveOf(t, p, s); got != tt.answer {
				t.Errorf("%s: %s, %s: %s, want %s", p.Name(), tt.first, tt.second, got, tt.answer)
			}
		}
	}
}

// The forms in which the course prints, and the hand-out's example of a move and a
// capture.
func TestForms(t *testing.T) {
	s, err := Initial(6, 4)
	if err != nil {
		t.Fatal(err)
	}
	const start = "  [4, 4, 4, 4, 4, 4]\n0                    0\n  [4, 4, 4, 4, 4, 4]"
	if s.Repr() != start || s.String() != "[4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 0]" {
		t.Errorf("%s\n%s", s.Repr(), s)
	}
	after := s.Result(Action{0, 4})
	const sown = "  [4, 4, 4, 4, 5, 5]\n0                    1\n  [4, 4, 4, 4, 0, 5]"
	if after.Repr() != sown || after.Row() != 1 {
		t.Errorf("%s, row %d", after.Repr(), after.Row())
	}
	// As the hand-out draws it, row 0 is to move once more.
	again, err := after.With(after.Board(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const taken = "  [4, 4, 4, 4, 0, 5]\n0                    7\n  [0, 5, 5, 5, 0, 5]"
	if got := again.Result(Action{0, 0}).Repr(); got != taken {
		t.Error(got)
	}
	big := caseOf(t, "State.initial(1, 1)", "State([12, 100, 3, 7], 1)")
	if got := big.Repr(); got != "  [3]\n7     100\n  [12]" {
		t.Error(got)
	}
	for a, want := range map[Action][2]string{{0, 2}: {"Action(0, 2)", "Player 0 played at 2"}, {1, 10}: {"Action(1, 10)", "Player 1 played at 10"}, {1, NoPit}: {"None", "None"}} {
		if a.Repr() != want[0] || a.String() != want[1] {
			t.Errorf("%s, %s, want %v", a.Repr(), a, want)
		}
	}
}

// So many stones as go round once capture, and more than that sow the pit that they came
// from too.
func TestLaps(t *testing.T) {
	for n, want := range map[int]string{5: "[0, 1, 3, 1, 0, 0]", 6: "[1, 2, 1, 1, 1, 0]", 10: "[2, 2, 2, 2, 2, 0]"} {
		s := caseOf(t, "State.initial(2, 1)", fmt.Sprintf("State([%d, 0, 0, 0, 0, 0], 0)", n))
		if got := s.Result(Action{0, 0}).String(); got != want {
			t.Errorf("%d stones: %s, want %s", n, got, want)
		}
	}
	for _, n := range []int{1, 4, 5, 6, 10, 11, 999} {
		s := caseOf(t, "State.initial(2, 1)", fmt.Sprintf("State([%d, 3, 0, 2, 0, 0], 0)", n))
		if got := s.Result(Action{0, 0}).String(); got != slow(s, 0) {
			t.Errorf("%d stones: %s, want %s", n, got, slow(s, 0))
		}
	}
}

// slow sows one by one, in row 0.
func slow(s State, pit int) string {
	b := s.Board()
	n, at := b[pit], pit
	b[pit] = 0
	for n > 0 {
		if at = (at + 1) % len(b); at != len(b)-1 {
			b[at]++
			n--
		}
	}
	if at < s.pits && b[at] == 1 && b[2*s.pits-at] > 0 {
		b[s.pits] += 1 + b[2*s.pits-at]
		b[at], b[2*s.pits-at] = 0, 0
	}
	return list(b)
}

// What is no case is refused with its line, what was expected and what was found.
func TestReadCaseRefuses(t *testing.T) {
	const initial, state = "State.initial(2, 1)\n", "State([1, 0, 1, 1, 1, 0], 1)\n"
	for _, tt := range []struct{ text, want string }{
		{"", `line 1: expected State.initial(M, N), found the end`},
		{initial, `line 2: expected State([…], row), found the end`},
		{state, `line 1: expected State.initial(M, N), found "State([1, 0, 1, 1, 1, 0], 1)"`},
		{initial + initial, `line 2: expected State([…], row), found "State.initial(2, 1)"`},
		{"\n" + initial + state + state, `line 4: expected nothing after the second state, found "State([1, 0, 1, 1, 1, 0], 1)"`},
		{"State.initial(0, 1)\n", `line 1: expected 1 to 1000 pits a row, found 0`},
		{"State.initial(2, 0)\n", `line 1: expected 1 to 1000000 stones in each pit, found 0`},
		{initial + "State([1, 0, 1, 1, 1], 1)", `line 2: expected 6 places for 2 pits a row, found 5`},
		{initial + "State([1, 0, 1, 1, -1, 0], 1)", `line 2: expected 0 to 1000000 stones in place 4, found -1`},
		{initial + "State([1, 0, 1, 1, 1, 0], 2)", `line 2: expected row 0 or 1 to move, found 2`},
		{initial + "State([1, 0, 1, 1, 1, 0], 1, None)", `line 2: expected State([…], row), found "State([1, 0, 1, 1, 1, 0], 1, None)"`},
		{initial + "State([1, 0, 1, 1, 1, 0])", `line 2: expected State([…], row), found "State([1, 0, 1, 1, 1, 0])"`},
		{initial + "State(None, [1,, 2], 0)", `line 2: expected State([…], row), found "State(None, [1,, 2], 0)"`},
		{initial + "State([],0)" + strings.Repeat("x", 100), `line 2: expected State([…], row), found "State([],0)` + strings.Repeat("x", 49) + `…"`},
	} {
		if s, err := ReadCase(strings.NewReader(tt.text)); fmt.Sprint(err) != tt.want {
			t.Errorf("%q: %s, error\n%v, want\n%s", tt.text, s, err, tt.want)
		}
	}
	for _, text := range []string{"State(None, 0)", "State(None, [9], 0)", "State([1,2], None)", "  State( None , [ 1 ] , 1 )"} {
		if s := caseOf(t, " State.initial( 2,3 )\r", text); s.String() != "[3, 3, 0, 3, 3, 0]" || s.Row() != 0 {
			t.Errorf("%s: %s, row %d, want the initial board", text, s, s.Row())
		}
	}
}

// FuzzReadCase wants an error, or a state that is read again as it is printed, and of which
// every move keeps the stones.
func FuzzReadCase(f *testing.F) {
	f.Add("State.initial(2, 1)\nState([1, 0, 1, 1, 1, 0], 1)\n")
	f.Add("State.initial(3, 3)\nState(None, [3, 3, 3, 0, 3, 3, 3, 0], 0)\n")
	f.Add("State.initial(1, 1)\nState([1000000, 0, 0, 0], 0)")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadCase(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := s.Parse(fmt.Sprintf("State(%s, %d)", s, s.Row()))
		if err != nil || again.String() != s.String() || again.Row() != s.Row() {
			t.Fatalf("%s, row %d is read as %s, %v", s, s.Row(), again, err)
		}
		sum := func(s State) (n int) {
			for _, m := range s.board {
				n += m
			}
			return n
		}
		for _, a := range append(s.Actions(), s.None()) {
			if after := s.Result(a); s.Check(a) != nil || sum(after) != sum(s) || after.Row() == s.Row() {
				t.Errorf("%s, %s: %s", s, a.Repr(), after)
			}
		}
	})
}

// FuzzCheck wants the actions that can be made, and no others, to be allowed.
func FuzzCheck(f *testing.F) {
	f.Add(0, 0)
	f.Add(1, 5)
	f.Add(-1, -1)
	f.Fuzz(func(t *testing.T, row, pit int) {
		s := caseOf(t, "State.initial(2, 1)", "State([1, 0, 1, 1, 1, 0], 1)")
		a := Action{row, pit}
		if can := slices.Contains(s.Actions(), a) || pit == NoPit; (s.Check(a) == nil) != can {
			t.Errorf("%s: %v", a.Repr(), s.Check(a))
		}
	})
}

// seen is a state as the slow rules have it: from the mover's side.
func seen(s State) string {
	var b []byte
	for i := range s.board {
		b = append(b, byte(s.board[(i+s.row*(s.pits+1))%len(s.board)]))
	}
	return string(b)
}

// randomGames plays at random, and wants the rules here to be the slow ones.
func randomGames(t *testing.T, games int) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range games {
		pits, stones := 1+n%4, 1+n/4%4
		s, err := Initial(pits, stones)
		if err != nil {
			t.Fatal(err)
		}
		m := naive.Mancala{Pits: pits, Stones: stones}
		for !s.Ended() {
			want := m.Moves([]byte(seen(s)))
			actions := s.Actions()
			if len(actions) == 0 {
				actions = []Action{s.None()}
			}
			if len(actions) != len(want) {
				t.Fatalf("%s, row %d: %v, want %v", s, s.row, actions, want)
			}
			for _, a := range actions {
				pit := -1
				if a.Pit != NoPit {
					pit = a.Pit - s.row*(pits+1)
				}
				if after := s.Result(a); string(want[pit]) != seen(after) {
					t.Fatalf("%s, %s: %s, want %v", s, a.Repr(), after, want[pit])
				}
			}
			s = s.Result(actions[r.IntN(len(actions))])
		}
		if !m.Finished([]byte(seen(s))) {
			t.Fatalf("%s has ended", s)
		}
	}
}

func TestRandomGames(t *testing.T) { randomGames(t, 500) }

func TestLongRandomGames(t *testing.T) {
	longtest.Skip(t)
	randomGames(t, 100_000)
}

// solved is what a board's positions are worth, each from its own player's side.
func solved(t testing.TB, pits, stones int) (game.Acyclic, map[game.Position]game.Value) {
	t.Helper()
	g, err := mancala.New(pits, stones)
	if err != nil {
		t.Fatal(err)
	}
	return g, gametest.Search(g)
}

// bestPit is the smallest pit of best utility, by the solved game.
func bestPit(g game.Acyclic, values map[game.Position]game.Value, p game.Position) string {
	best, name := -2, ""
	for _, m := range g.Moves(nil, p) {
		if v := map[game.Result]int{game.Wins: 1, game.Ties: 0, game.Loses: -1}[values[m.To].Outcome().For(g.ToMove(p))]; v > best {
			best, name = v, m.Name
		}
	}
	return name
}

// agree wants players to choose as the solved game says, in some positions at random.
func agree(t *testing.T, pits, stones, most int, players ...Player) {
	t.Helper()
	g, values := solved(t, pits, stones)
	initial, err := Initial(pits, stones)
	if err != nil {
		t.Fatal(err)
	}
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
		s, err := initial.Parse(string(g.AppendText(nil, p)))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("Action(%d, %s)", s.row, bestPit(g, values, p))
		if len(s.Actions()) == 0 {
			want = "None"
		}
		for _, player := range players {
			if got := moveOf(t, player, s); got != want {
				t.Errorf("%s: %s, row %d: %s, want %s", player.Name(), s, s.row, got, want)
			}
		}
	}
}

// Minimax, alpha-beta and custom player choose alike wherever the search ends, and as the
// solved game says.
func TestAgree(t *testing.T) {
	custom := func(o search.Options) Player { return NewCustom(CustomOptions{Search: o, NoEndgames: true}) }
	agree(t, 1, 3, 20, Minimax{}, NewAlphaBeta(), custom(small))
	agree(t, 2, 1, 30, Minimax{}, NewAlphaBeta(), custom(small))
	agree(t, 3, 1, 30, Minimax{}, NewAlphaBeta(), custom(small))
	two := small
	two.Threads = 2
	agree(t, 2, 4, 60, NewAlphaBeta(), custom(two))
	agree(t, 3, 2, 100, NewAlphaBeta(), custom(small), NewCustom(CustomOptions{Search: small}))
}

func TestLongAgree(t *testing.T) {
	longtest.Skip(t)
	for _, b := range [][2]int{{1, 3}, {2, 1}, {2, 2}, {2, 4}, {2, 5}, {3, 1}, {3, 2}, {4, 1}, {3, 3}} {
		players := []Player{NewAlphaBeta(), NewCustom(CustomOptions{Search: small}), NewCustom(CustomOptions{Search: small, NoEndgames: true})}
		agree(t, b[0], b[1], 1000, players...)
	}
}

// Whoever has no move passes.
func TestPass(t *testing.T) {
	s := caseOf(t, "State.initial(2, 1)", "State([0, 0, 0, 3, 1, 0], 0)")
	for _, p := range []Player{NewRandom(1), Minimax{}, NewAlphaBeta(), Evaluation{}, NewCustom(CustomOptions{Search: small}), NewHuman(player.NewConsole(strings.NewReader(""), io.Discard))} {
		if got := moveOf(t, p, s); got != "None" {
			t.Errorf("%s: %s", p.Name(), got)
		}
	}
}

// A custom player has a board of any number of stones, one after the other of any size,
// and knows what it has learned from move to move.
func TestCustomBoards(t *testing.T) {
	p := NewCustom(CustomOptions{Search: small})
	for _, tt := range [][2]string{
		{"State.initial(3, 3)", "State([3, 3, 3, 0, 3, 3, 3, 0], 0)"},
		{"State.initial(2, 1)", "State([1, 0, 1, 1, 1, 0], 1)"},
		{"State.initial(2, 1)", "State([7, 7, 9, 0, 1, 4], 0)"},
		{"State.initial(9, 1)", "State([0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0], 0)"},
	} {
		s := caseOf(t, tt[0], tt[1])
		a := moveOf(t, p, s)
		if b := moveOf(t, NewAlphaBeta(), s); a != b {
			t.Errorf("%s: %s, want %s", s, a, b)
		}
	}
	s := caseOf(t, "State.initial(3, 3)", "State([3, 3, 3, 0, 3, 3, 3, 0], 0)")
	o := CustomOptions{Search: small, NoEndgames: true}
	p = NewCustom(o)
	moveOf(t, p, s)
	first := p.Last().Nodes
	after := s.Result(Action{0, 2})
	moveOf(t, p, after)
	fresh := NewCustom(o)
	moveOf(t, fresh, after)
	if again := p.Last().Nodes; first < 1000 || again >= fresh.Last().Nodes {
		t.Errorf("%d positions for the first move, %d for the second, %d for that by one who knows nothing", first, again, fresh.Last().Nodes)
	}
	many, err := Initial(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := p.Move(t.Context(), many, 0); fmt.Sprint(err) != "mancala: a row may have 16 pits at most, found 20" {
		t.Error(a, err)
	}
}

// A human is asked until the pit is one that can be sown.
func TestHuman(t *testing.T) {
	var out strings.Builder
	p := NewHuman(player.NewConsole(strings.NewReader("x\n0\n9\n4\n"), &out))
	s := caseOf(t, "State.initial(2, 1)", "State([0, 0, 0, 0, 1, 0], 1)")
	const ask, again = "HumanPlayer (1) move? ", "Invalid input. Enter index in range [3, 5) with non-zero stones\n"
	if got := moveOf(t, p, s); got != "Action(1, 4)" || out.String() != ask+again+ask+again+ask+again+ask {
		t.Errorf("%s, %q", got, out.String())
	}
	if _, err := p.Move(t.Context(), s, 0); !errors.Is(err, player.ErrLeft) {
		t.Error(err)
	}
}

// A fake does what a test wants.
type fake func(ctx context.Context, s State, limit time.Duration) (Action, error)

func (fake) Name() string { return "Fake" }
func (f fake) Move(ctx context.Context, s State, limit time.Duration) (Action, error) {
	return f(ctx, s, limit)
}

// A game prints what the course's does: passes and who has won, too.
func TestGame(t *testing.T) {
	var out strings.Builder
	first := fake(func(_ context.Context, s State, limit time.Duration) (Action, error) {
		if limit != 3*time.Second {
			t.Errorf("the limit is %v", limit)
		}
		return Evaluation{}.Move(t.Context(), s, 0)
	})
	g := &Game{Players: [2]Player{first, NewAlphaBeta()}, Out: &out, Timeout: 3 * time.Second, Rand: rand.New(rand.NewPCG(1, 2))}
	start, err := Initial(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	end, err := g.Play(t.Context(), start)
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
	if err != nil || out.String() != want || !end.Ended() {
		t.Errorf("%v, %s", err, out.String())
	}
	out.Reset()
	const passed = "  [0]\n0     0\n  [1]\n\nNone\n  [0]\n0     0\n  [1]\n\nPlayer 0 played at 0\n  [0]\n0     1\n  [0]\nFake (0) won!\n"
	s := caseOf(t, "State.initial(1, 1)", "State([1, 0, 0, 0], 1)")
	if _, err := g.Play(t.Context(), s); err != nil || out.String() != passed {
		t.Errorf("%v, %s", err, out.String())
	}
}

// Who has no move when its time is over gets one at random, and the game says so; who
// makes one that is none ends the game.
func TestGameLate(t *testing.T) {
	late := fake(func(ctx context.Context, _ State, _ time.Duration) (Action, error) {
		if d, ok := ctx.Deadline(); !ok || time.Until(d) > time.Second+time.Millisecond {
			t.Errorf("the time ends at %v", d)
		}
		<-ctx.Done()
		return Action{}, ctx.Err()
	})
	var out strings.Builder
	g := &Game{Players: [2]Player{late, NewRandom(1)}, Out: &out, Timeout: time.Millisecond, Rand: rand.New(rand.NewPCG(1, 2))}
	s := caseOf(t, "State.initial(1, 1)", "State([1, 0, 0, 0], 0)")
	begun := time.Now()
	const want = "  [0]\n0     0\n  [1]\n\nTime is up and no valid move was returned, playing a random move.\nPlayer 0 played at 0\n  [0]\n0     1\n  [0]\nFake (0) won!\n"
	if _, err := g.Play(t.Context(), s); err != nil || out.String() != want || time.Since(begun) < time.Second {
		t.Errorf("%v after %v\n%s", err, time.Since(begun), out.String())
	}
	g.Players[0] = fake(func(context.Context, State, time.Duration) (Action, error) { return Action{0, 1}, nil })
	if _, err := g.Play(t.Context(), s); fmt.Sprint(err) != "Fake (0): illegal action: Action(0, 1)" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Play(ctx, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// No search is later than its context, nor a custom player than its limit.
func TestTime(t *testing.T) {
	s, err := Initial(6, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Player{Minimax{}, NewAlphaBeta()} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if a, err := p.Move(ctx, s, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, %v", p.Name(), a, err)
		}
		cancel()
	}
	p := NewCustom(CustomOptions{Search: small, Endgames: mancala.NewEndgames(6, 6)})
	for range 3 {
		const limit = 200 * time.Millisecond
		begun := time.Now()
		a, err := p.Move(t.Context(), s, limit)
		if took := time.Since(begun); err != nil || took > limit+lastSecond {
			t.Errorf("%v after %v", err, took)
		}
		if s = s.Result(a); p.Last().Depth < 1 {
			t.Errorf("%d moves ahead", p.Last().Depth)
		}
	}
}

// A guest is shown the moves of the others, and one that was made for it.
func TestGuest(t *testing.T) {
	g, err := mancala.New(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	started := 0
	guest := NewGuest("guest", g, func(context.Context) (player.Player, error) {
		started++
		return player.NewRandom(3), nil
	})
	defer guest.Close()
	s, err := Initial(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 20 && !s.Ended(); n++ {
		a, err := guest.Move(t.Context(), s, 0)
		if err == nil {
			err = s.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%3 == 1 { // as if it had been late
			a = anyOf(r, s)
			guest.played.Undo()
		}
		if s = s.Result(a); !s.Ended() {
			s = s.Result(anyOf(r, s))
		}
	}
	if started != 1 {
		t.Errorf("started %d times", started)
	}
}

// A machine at the generic table, which knows all by its endgames, plays what keeps it.
func TestMachine(t *testing.T) {
	for _, b := range [][2]int{{2, 1}, {3, 1}, {3, 2}} {
		g, values := solved(t, b[0], b[1])
		for _, limit := range []search.Limit{{}, {Time: time.Minute}, {First: true}} {
			s, err := search.New(g, small)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for p, v := range values {
				if n++; n > 200 || g.Primitive(p) != 0 {
					continue
				}
				r, err := s.Search(t.Context(), p, limit)
				if err != nil || len(r.Line) == 0 || !r.Exact || r.Value.Outcome() != v.Outcome() || values[r.Line[0].To].Outcome() != v.Outcome() {
					t.Errorf("%s: %+v, %v, want a move that keeps %v", g.AppendText(nil, p), r, err, v)
				}
			}
		}
	}
}
