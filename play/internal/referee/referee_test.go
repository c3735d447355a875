package referee_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

const (
	three = "connectn width=3 height=3 connect=3"
	cross = "quickcross width=3 height=3 connect=3"
)

// A does is a player whose moves a function returns.
type does func(ctx context.Context, h *player.History, limit time.Duration) (string, error)

func (d does) Move(ctx context.Context, h *player.History, limit time.Duration) (string, error) {
	return d(ctx, h, limit)
}
func (does) Close() error { return nil }

// plays makes a player of these moves, one after the other, and then starts over.
func plays(moves string) player.Player {
	list := strings.Fields(moves)
	return does(func(_ context.Context, h *player.History, _ time.Duration) (string, error) {
		own := 0
		for i := range h.Names() {
			if h.Mover(i) == h.Turn() {
				own++
			}
		}
		return list[own%len(list)], nil
	})
}

func fails(err error) player.Player {
	return does(func(context.Context, *player.History, time.Duration) (string, error) { return "", err })
}

// short is a game whose draw rule limits the plies.
type short struct{ game.Game }

func (short) Info() game.Info { return game.Info{Draw: game.DrawRule{Plies: 3}} }

func TestPlay(t *testing.T) {
	panics := does(func(context.Context, *player.History, time.Duration) (string, error) { panic("oh\nno") })
	slow := does(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
		time.Sleep(60 * time.Millisecond)
		return "0", nil
	})
	dies := does(func(context.Context, *player.History, time.Duration) (string, error) {
		time.Sleep(60 * time.Millisecond)
		return "", errors.New(strings.Repeat("no idea ", 1000))
	})
	hangs := does(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
		<-ctx.Done()
		return "0", nil
	})
	for _, tt := range []struct {
		name          string
		g             game.Game
		first, second player.Player
		opening       string
		want          string
	}{
		{"win", solved.Game(t, three), plays("0"), plays("1"), "", "[0 1 0 1 0] A wins after 5 moves"},
		{"second wins", solved.Game(t, three), plays("0 0 2"), plays("1"), "", "[0 1 0 1 2 1] B wins after 6 moves"},
		{"opening", solved.Game(t, three), plays("9 9 0"), plays("9 9 1"), "0 1 0 1", "[0 1 0 1 0] A wins after 5 moves"},
		{"tie", solved.Game(t, "mnk width=1 height=2 connect=2"), plays("a1"), plays("a2"), "", "[a1 a2] tie after 2 moves"},
		{"impartial", solved.Game(t, cross), plays("a1- c1-"), plays("b1-"), "", "[a1- b1- c1-] A wins after 3 moves"},
		{"impartial, second", solved.Game(t, cross), plays("a1- b1-"), plays("a2- c1-"), "", "[a1- a2- b1- c1-] B wins after 4 moves"},
		{"illegal", solved.Game(t, three), plays("0"), plays("0 0 0"), "", `[0 0 0] A wins (illegal) after 3 moves: move 4, second at "XOX      ": expected one of 1 2, found "0"`},
		{"nonsense", solved.Game(t, three), plays("\x00"), plays("0"), "", `[] B wins (illegal) after 0 moves: move 1, first at "         ": expected one of 0 1 2, found "\x00"`},
		{"resigns", solved.Game(t, three), plays("0"), fails(player.ErrResigned), "", "[0] A wins (resigned) after 1 move"},
		{"fails", solved.Game(t, three), fails(errors.New("no\nidea")), plays("0"), "", `[] B wins (failed) after 0 moves: move 1, first at "         ": no idea`},
		{"panics", solved.Game(t, three), panics, plays("0"), "", `[] B wins (failed) after 0 moves: move 1, first at "         ": panic: oh no`},
		{"late", solved.Game(t, three), slow, plays("0"), "", "[] B wins (late) after 0 moves"},
		{"dies", solved.Game(t, three), dies, plays("0"), "", "[] B wins (failed) after 0 moves"},
		{"hangs", solved.Game(t, three), plays("0"), hangs, "", "[0] A wins (late) after 1 move"},
		{"repeats", solved.Game(t, cross), plays("a1- a1-"), plays("a1|"), "", "[a1- a1| a1- a1| a1-] draw (repetition) after 5 moves"},
		{"too long", short{solved.Game(t, cross)}, plays("a1- a1-"), plays("a1|"), "", "[a1- a1| a1-] draw (plies) after 3 moves"},
	} {
		var watched []string
		r := referee.Rules{Watch: func(p referee.Played) { watched = append(watched, fmt.Sprint(len(p.History.Names()))) }}
		seats := [2]referee.Seat{{Name: "A", Player: tt.first}, {Name: "B", Player: tt.second}}
		// The other players have no limit, so they cannot be late on a busy machine.
		switch tt.name {
		case "late", "dies":
			seats[0].Limit = 30 * time.Millisecond
		case "hangs":
			seats[1].Limit = 30 * time.Millisecond
		}
		p, err := r.Play(t.Context(), tt.g, seats, strings.Fields(tt.opening))
		got := fmt.Sprint(p.History.Names(), " ", p.Text(game.Values{}))
		if len(p.Detail()) > 1100 {
			t.Errorf("%s: %d bytes of detail", tt.name, len(p.Detail()))
		}
		if p.Reason == referee.Late || tt.name == "dies" {
			got, _, _ = strings.Cut(got, ": move ")
		}
		if got != tt.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
		chosen := len(p.History.Names()) - len(strings.Fields(tt.opening))
		asked := chosen
		if p.Reason == referee.Late {
			asked++ // the late move has a time, too
		}
		if len(p.Times) != asked || len(watched) != chosen+1 || watched[chosen] != fmt.Sprint(len(p.History.Names())) {
			t.Errorf("%s: %d times, watched %v", tt.name, len(p.Times), watched)
		}
	}
}

// TestTakenBack checks that the play goes on before moves that were taken back, but not before
// those of the opening, and that their times are dropped.
func TestTakenBack(t *testing.T) {
	undone := 0
	undoes := does(func(_ context.Context, h *player.History, _ time.Duration) (string, error) {
		if len(h.Names()) == 4 && undone < 2 {
			undone++
			return "", player.TakenBack{Moves: 2 + undone}
		}
		return "0", nil
	})
	seats := [2]referee.Seat{{Name: "A", Player: undoes}, {Name: "B", Player: plays("1")}}
	p, err := referee.Rules{}.Play(t.Context(), solved.Game(t, three), seats, []string{"0", "1"})
	if err != nil || undone != 2 || p.Text(game.Values{}) != "A wins after 5 moves" || len(p.Times) != 3 {
		t.Error(p, undone, err)
	}
}

// TestGrace checks that a move within the grace time is in time, but that the limit passed
// to the player does not include it.
func TestGrace(t *testing.T) {
	var given time.Duration
	slow := does(func(_ context.Context, _ *player.History, limit time.Duration) (string, error) {
		given = limit
		time.Sleep(30 * time.Millisecond)
		return "0", nil
	})
	r := referee.Rules{Grace: time.Minute}
	p, err := r.Play(t.Context(), solved.Game(t, three), [2]referee.Seat{{Player: slow, Limit: time.Millisecond}, {Player: plays("1")}}, nil)
	if err != nil || p.Reason != referee.Finished || given != time.Millisecond || p.Times[0] < 30*time.Millisecond {
		t.Error(p, err, given)
	}
}

// TestAbandoned checks that the referee does not wait for a player that ignores its
// context.
func TestAbandoned(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	deaf := does(func(context.Context, *player.History, time.Duration) (string, error) { <-forever; return "0", nil })
	made := 0
	m := referee.Match{Game: solved.Game(t, three), Games: 2, Entrants: [2]referee.Entrant{
		{Name: "deaf", Limit: time.Millisecond, New: func(context.Context) (player.Player, error) {
			if made++; made > 1 {
				return plays("1"), nil
			}
			return deaf, nil
		}},
		{Name: "B", New: func(context.Context) (player.Player, error) { return plays("0"), nil }},
	}}
	var output []string
	m.Report = func(p referee.Played) error { output = append(output, p.Reason.String()); return nil }
	s, err := m.Play(t.Context())
	// On a busy machine, the second player of the entrant may be late, too.
	if err != nil || made != 2 || len(output) != 2 || output[0] != "late" || s[1].Wins != 2 {
		t.Error(s, err, made, output)
	}
}

// TestStopped checks that nothing is decided if a player leaves or the match is stopped.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stops := does(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	})
	for want, p := range map[error]player.Player{player.ErrLeft: fails(player.ErrLeft), context.Canceled: stops} {
		_, err := referee.Rules{}.Play(ctx, solved.Game(t, three), [2]referee.Seat{{Player: p}, {Player: plays("0")}}, nil)
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
	}
	if _, err := (referee.Rules{}).Play(t.Context(), solved.Game(t, three), [2]referee.Seat{}, []string{"0", "7"}); err == nil || err.Error() != `opening: move 2: expected one of 0 1 2, found "7"` {
		t.Error(err)
	}
}

// FuzzMove checks that, whatever a player answers, the play ends with a win.
func FuzzMove(f *testing.F) {
	f.Add("0", "1")
	f.Add("0 0 2", "1")
	f.Add("resign", "\n")
	g := solved.Game(f, three)
	f.Fuzz(func(t *testing.T, one, other string) {
		says := func(text string) player.Player {
			return does(func(_ context.Context, h *player.History, _ time.Duration) (string, error) {
				words := strings.Split(text, " ")
				return words[len(h.Names())/2%len(words)], nil
			})
		}
		p, err := referee.Rules{}.Play(context.Background(), g, [2]referee.Seat{{Name: "A", Player: says(one)}, {Name: "B", Player: says(other)}}, nil)
		if err != nil || p.Outcome == game.Undecided || (p.Reason == referee.Illegal) != (p.Detail() != "") {
			t.Errorf("%q, %q: %+v, %v", one, other, p, err)
		}
	})
}

// TestExplain checks the sentences for faults, and that the text of a player cannot change them.
func TestExplain(t *testing.T) {
	for _, tt := range []struct{ player, sentence, message, did string }{
		{"9", "B played 9, which is not a legal move, on move 2; A wins", `expected one of 0 1 2, found "9"`, ""},
		{"", `B played "", which is not a legal move, on move 2; A wins`, `expected one of 0 1 2, found ""`, ""},
		{`x", on move 7`, `B played "x\", on move 7", which is not a legal move, on move 2; A wins`, `expected one of 0 1 2, found "x\", on move 7"`, ""},
		{"illegal: I know", "B chose a move that is not legal on move 2; A wins", player.ErrIllegal.Error() + ": I know", ""},
		{"illegal: move, engine.py line 3: expected one of 0 1 2, it returned '99'", "B chose a move that is not legal on move 2; A wins", "illegal move: move, engine.py", ""},
		{"illegal: it returned 8, on move 7; B wins", "B chose a move that is not legal on move 2; A wins", "illegal move: it returned", ""},
		{"fails", "B failed on move 2; A wins", `move 7, first at "": no idea`, ""},
		{"fails", "B gave no answer on move 2; A wins", "program: list_commands: no answer within 30s", "gave no answer"},
		{"fails", "B ended without an answer on move 2; A wins", "program: genmove: no answer (exit status 3)", "ended without an answer"},
		{"fails", "B gave an answer that breaks the protocol on move 2; A wins", "program: protocol error after genmove: line 1", "gave an answer that breaks the protocol"},
		{"fails", "B reported an error on move 2; A wins", `program: answered "genmove first" with an error: IndexError`, "reported an error"},
		{"hangs", "B took too long on move 2; A wins", "it took", ""},
	} {
		second := does(func(ctx context.Context, _ *player.History, _ time.Duration) (string, error) {
			if text, ok := strings.CutPrefix(tt.player, "illegal: "); ok {
				return "", fmt.Errorf("%w: %s", player.ErrIllegal, text)
			}
			switch tt.player {
			case "fails":
				return "", &player.Failure{Did: tt.did, Err: errors.New(tt.message)}
			case "hangs":
				<-ctx.Done()
			}
			return tt.player, nil
		})
		seats := [2]referee.Seat{{Name: "A", Player: plays("0")}, {Name: "B", Player: second}}
		if tt.player == "hangs" {
			seats[1].Limit = time.Millisecond
		}
		p, err := referee.Rules{}.Play(t.Context(), solved.Game(t, three), seats, nil)
		if err != nil {
			t.Fatal(err)
		}
		if sentence := p.Explain(); sentence != tt.sentence || !strings.HasPrefix(p.Message, tt.message) {
			t.Errorf("%q: %s; %s, want %s; %s", tt.player, sentence, p.Message, tt.sentence, tt.message)
		}
	}
}
