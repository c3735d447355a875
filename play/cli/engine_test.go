package play

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
)

// A timed player makes the first move, and records its time limits.
type timed struct{ limits []time.Duration }

func (p *timed) Move(_ context.Context, h *player.History, limit time.Duration) (string, error) {
	p.limits = append(p.limits, limit)
	return h.Moves()[0].Name, nil
}
func (*timed) Close() error { return nil }

// newEngine returns an engine for a game and a player.
func newEngine(t testing.TB, spec string, p player.Player) *engine {
	t.Helper()
	g := solved.Game(t, spec)
	e := &engine{ctx: context.Background(), games: all.Kinds()}
	e.sit = func(game.Game) (player.Player, time.Duration, error) { return p, time.Minute, nil }
	must.OK(t, e.take(g))
	return e
}

// TestEngineTime checks that the time for a move is the one that the controller has set for its
// side, divided by the number of moves, or else the engine's own, and that it is reset when
// another game starts.
func TestEngineTime(t *testing.T) {
	p := new(timed)
	var out bytes.Buffer
	err := newEngine(t, "connectn width=3 height=3 connect=3", p).frame().Serve(strings.NewReader(
		"genmove first\ntime_left second 1.5\ngenmove second\ntime_left first 3 2\ngenmove first\n"+
			"time_left second 0.2 1\ngenmove second\nclear_board\ngenmove first\ntime_left second 0 1\ngenmove second\n"+
			"time_left first 60 0\ngenmove first\n"), &out)
	want := []time.Duration{time.Minute, 1500 * time.Millisecond, 1500 * time.Millisecond, 200 * time.Millisecond, time.Minute, 1, 3 * time.Second}
	if err != nil || strings.Contains(out.String(), "?") || len(p.limits) != len(want) {
		t.Fatal(err, out.String(), p.limits)
	}
	for i := range want {
		if p.limits[i] != want[i] {
			t.Errorf("move %d: %v, want %v", i, p.limits[i], want[i])
		}
	}
}

// TestEngineSeed checks that the same seed gives the same moves, and other ones in the next game.
func TestEngineSeed(t *testing.T) {
	const game = "game connectn width=7 height=6 connect=4\ngenmove first\ngenmove second\ngenmove first\ngenmove second\ngenmove first\n"
	play := func(seed string) string {
		_, out, _ := runLine(some(), "engine connectn --seed "+seed+" random", game+game)
		return out
	}
	one := play("1")
	if first, next := one[:len(one)/2], one[len(one)/2:]; one != play("1") || one == play("5") || first == next {
		t.Error(one)
	}
}

// TestEngineNoTime checks that an engine with no time left moves immediately, on a board that
// takes years to solve.
func TestEngineNoTime(t *testing.T) {
	for _, flags := range []string{"", "--threads 2"} {
		_, out, _ := runLine(some(), "engine connectn --width 8 --height 7 --connect 4 "+flags, "time_left first 0 1\ngenmove first\n")
		if !regexp.MustCompile(`^=\n\n= [0-7]\n\n$`).MatchString(out) {
			t.Errorf("%q: answered %q", flags, out)
		}
	}
}

// FuzzEngine checks that any input leaves the engine in a legal position, and that each line
// gets at most one answer.
func FuzzEngine(f *testing.F) {
	f.Add("play first 1\ngenmove second\nundo\nshowboard\n7 game\ngame quickcross width=2 height=2 connect=2\ngenmove first\ntime_left first 1e3 2\nplay second a1-\n")
	f.Add("1 clear_board\n# x\nlist_commands\ngame mancala pits=1 stones=1\ngenmove first\nquit\nname\n")
	f.Fuzz(func(t *testing.T, output string) {
		if strings.Contains(output, "game") && len(output) > 200 {
			return // some games take long to make
		}
		e := newEngine(t, "connectn width=3 height=3 connect=3", new(timed))
		var out bytes.Buffer
		must.OK(t, e.frame().Serve(strings.NewReader(output), &out))
		if err := e.h.Game().Check(e.h.Position()); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "\n\n"); n > strings.Count(output, "\n")+1 {
			t.Errorf("%d answers to %q", n, output)
		}
	})
}
