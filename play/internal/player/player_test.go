package player_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/testing/testbook"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// after returns the history of these moves.
func after(t testing.TB, spec string, moves ...string) *player.History {
	t.Helper()
	h := player.NewHistory(solved.Game(t, spec))
	for _, m := range moves {
		must.OK(t, h.Play(m))
	}
	return h
}

const three = "connectn width=3 height=3 connect=3"

// TestTurn checks the player to move, in games whose positions contain it and in games
// whose positions do not.
func TestTurn(t *testing.T) {
	for _, tt := range []struct {
		spec  string
		moves string
		turns string
		ends  string
	}{
		{three, "0 1 0 1 0", "XOXOXO", "X wins"},
		{three, "0 1 0 1 2 1", "XOXOXOX", "O wins"},
		{"mnk width=2 height=2 connect=2", "a1 b1 a2", "XOXO", "X wins"},
		{"quickcross width=3 height=3 connect=3", "a1- b1- c1-", "XOXO", "X wins"},
		{"quickcross width=3 height=3 connect=3", "a1- b1- a2- c1-", "XOXOX", "O wins"},
		{"quickcross width=1 height=1 connect=1", "a1-", "XO", "X wins"},
		{"dodgem size=2", "a1r b2l", "XOX", ""},
		{"mancala pits=1 stones=2", "0 2", "XOX", "O wins"},
	} {
		h := player.NewHistory(solved.Game(t, tt.spec))
		turns := h.Turn().String()
		for i, m := range strings.Fields(tt.moves) {
			if _, finished := h.Finished(); finished {
				t.Errorf("%s: finished before %s", tt.spec, m)
			}
			if err := h.Play(m); err != nil {
				t.Fatalf("%s: %v", tt.spec, err)
			}
			if h.Mover(i).String() != turns[i:] {
				t.Errorf("%s: move %d is %s's, want %s", tt.spec, i, h.Mover(i), turns[i:])
			}
			turns += h.Turn().String()
		}
		if turns != tt.turns {
			t.Errorf("%s, %s: turns %s, want %s", tt.spec, tt.moves, turns, tt.turns)
		}
		outcome, finished := h.Finished()
		ends := ""
		if finished {
			ends = game.Values{Players: [2]string{"X", "O"}}.Word(outcome)
		}
		if ends != tt.ends {
			t.Errorf("%s, %s: ends %q, want %q", tt.spec, tt.moves, ends, tt.ends)
		}
	}
}

// twice is a game in which each player moves twice.
type twice struct{ game.Tiered }

func (g twice) ToMove(p game.Position) game.Player { return game.Player(g.Tier(p) / 2 & 1) }

// TestTurnTwice checks a game in which the turns do not alternate.
func TestTurnTwice(t *testing.T) {
	h, turns := player.NewHistory(twice{solved.Game(t, "mnk width=3 height=3 connect=3").(game.Tiered)}), ""
	for _, m := range []string{"a1", "a2", "b1", "b2", "c3"} {
		must.OK(t, h.Play(m))
		turns += h.Mover(len(h.Names()) - 1).String()
	}
	if turns != "XXOOX" || h.Turn() != game.First {
		t.Error(turns, h.Turn())
	}
}

// still is a game in which a move changes only the player to move.
type still struct{ game.Game }

func (still) Moves(dst []game.Move, p game.Position) []game.Move {
	return append(dst, game.Move{Name: "wait", To: p})
}

// TestTimesOfTurns checks that a position with another player to move counts as a different
// one.
func TestTimesOfTurns(t *testing.T) {
	h := player.NewHistory(still{solved.Game(t, "quickcross width=2 height=2 connect=2")})
	for i, want := range []int{1, 1, 2, 2, 3} {
		if got := h.Times(); got != want {
			t.Errorf("after %d moves: %d times, want %d", i, got, want)
		}
		must.OK(t, h.Play("wait"))
	}
}

// TestTimes checks that a position counts as often as it has occurred.
func TestTimes(t *testing.T) {
	h := after(t, "quickcross width=2 height=2 connect=2", "a1-")
	start := h.Position()
	for i, m := range []string{"a1|", "a1-", "a1|", "a1-"} {
		if i == 0 && h.Times() != 1 {
			t.Errorf("%d times at first", h.Times())
		}
		must.OK(t, h.Play(m))
	}
	if h.Position() != start || h.Times() != 3 {
		t.Errorf("position %d, %d times, want %d, 3 times", h.Position(), h.Times(), start)
	}
}

// TestUndo checks that moves taken back do not count, and that a clone is independent.
func TestUndo(t *testing.T) {
	h := after(t, three, "0", "1")
	c := h.Clone()
	must.OK(t, c.Play("2"))
	if !h.Undo() || fmt.Sprint(h.Names(), h.Turn(), c.Names(), c.Turn()) != "[0] O [0 1 2] O" {
		t.Error(h.Names(), h.Turn(), c.Names(), c.Turn())
	}
	if err := h.Play("2"); err != nil || fmt.Sprint(h.Names(), c.Names()) != "[0 2] [0 1 2]" {
		t.Error(h.Names(), c.Names(), err)
	}
	undone := 0
	for h.Undo() {
		undone++
	}
	if undone != 2 || h.Position() != h.Game().Start() {
		t.Errorf("%d moves can be taken back, to position %d", undone, h.Position())
	}
}

// TestPlayRefuses checks that an illegal move returns a helpful error and changes nothing.
func TestPlayRefuses(t *testing.T) {
	for _, tt := range []struct {
		moves []string
		name  string
		want  string
	}{
		{nil, "3", `expected one of 0 1 2, found "3"`},
		{nil, "", `expected one of 0 1 2, found ""`},
		{nil, "\x00" + strings.Repeat("x", 100), `expected one of 0 1 2, found "\x00` + strings.Repeat("x", 59) + `"…`},
		{[]string{"0", "0", "0"}, "0", `expected one of 1 2, found "0"`},
		{[]string{"0", "1", "0", "1", "0"}, "0", `expected no move, found "0": the game is finished`},
	} {
		h := after(t, three, tt.moves...)
		before := h.Position()
		if err := h.Play(tt.name); err == nil || err.Error() != tt.want || h.Position() != before || len(h.Names()) != len(tt.moves) {
			t.Errorf("%q: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestWho checks that the names of two players do not sound the same.
func TestWho(t *testing.T) {
	for spec, want := range map[string]string{three: "X O", "mancala pits=3 stones=1": "row 0 row 1", "dobutsu": "first second"} {
		g := solved.Game(t, spec)
		if got := player.Who(g, game.First) + " " + player.Who(g, game.Second); got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestRandom checks that Random makes legal moves, each of them after enough tries, and the
// same moves with the same seed.
func TestRandom(t *testing.T) {
	h := after(t, three)
	seen := map[string]int{}
	one, same := player.NewRandom(7), player.NewRandom(7)
	for range 60 {
		m, err := one.Move(t.Context(), h, 0)
		again, _ := same.Move(t.Context(), h, 0)
		if err != nil || m != again {
			t.Fatal(m, again, err)
		}
		seen[m]++
	}
	if len(seen) != 3 {
		t.Errorf("chooses %v", seen)
	}
	if _, err := one.Move(t.Context(), after(t, three, "0", "1", "0", "1", "0"), 0); err == nil {
		t.Error("moves in a finished game")
	}
}

// TestMachine checks that a machine takes a win in one, and prevents a loss in one.
func TestMachine(t *testing.T) {
	for _, tt := range []struct{ moves, want string }{{"0 1 0 1", "0"}, {"0 1 0", "0"}, {"0 1 2 1 2", "2"}} {
		h := after(t, three, strings.Fields(tt.moves)...)
		for _, limit := range []struct {
			depth int
			time  time.Duration
		}{{3, 0}, {0, 0}, {0, time.Second}} {
			s := must.Get(search.New(h.Game(), search.Options{Memory: 1 << 20}))(t)
			got, err := player.NewMachine(s.Search, search.Limit{Depth: limit.depth, Time: limit.time}).Move(t.Context(), h, time.Second)
			if got != tt.want && tt.moves != "0 1 2 1 2" || err != nil {
				t.Errorf("%s, %+v: %s, %v, want %s", tt.moves, limit, got, err, tt.want)
			}
		}
	}
}

// TestLevels checks that every level is found by its name, that its moves are legal, and that
// the same seed gives the same moves, with or without a book.
func TestLevels(t *testing.T) {
	books := []*book.Book{nil, testbook.New(t, solved.Game(t, three).(game.Tiered), 8)}
	for _, l := range player.Levels() {
		if parsed, err := player.ParseLevel(l.Name); err != nil || parsed != l {
			t.Errorf("%s: %+v, %v", l.Name, parsed, err)
		}
		if l.String() != "machine:level="+l.Name {
			t.Error(l)
		}
		var plays [2][]string
		for i := range plays {
			h := after(t, three)
			s := must.Get(search.New(h.Game(), search.Options{Memory: 1 << 20}))(t)
			p := player.NewLevel(l, nil, books[i], s.Search, 7)
			for len(h.Moves()) > 0 {
				name, err := p.Move(t.Context(), h.Clone(), 0)
				if err == nil {
					err = h.Play(name)
				}
				if err != nil {
					t.Fatalf("%s: %v", l.Name, err)
				}
			}
			plays[i] = h.Names()
		}
		if !slices.Equal(plays[0], plays[1]) {
			t.Errorf("%s: %v, then %v", l.Name, plays[0], plays[1])
		}
	}
	if _, err := player.ParseLevel("divine"); err == nil || !strings.Contains(err.Error(), `level "divine": expected random, beginner, novice, `) {
		t.Error(err)
	}
}

// TestPerfect checks that only the perfect level plays from a table and a book, and that it searches where they fail.
func TestPerfect(t *testing.T) {
	h := after(t, three, "0", "1")
	g := h.Game()
	opening, closed := testbook.New(t, g.(game.Tiered), 8), solved.Table(t, g)
	closed.Close()
	for _, tt := range []struct {
		level string
		table *table.Table
		book  *book.Book
		want  int // searches
	}{
		{"perfect", solved.Table(t, g), nil, 0}, {"perfect", closed, opening, 0}, {"perfect", closed, nil, 1}, {"perfect", nil, nil, 1}, {"club", solved.Table(t, g), opening, 1},
	} {
		searches, searching := 0, player.Searching(g, search.Options{Memory: 1 << 20})
		l := must.Get(player.ParseLevel(tt.level))(t)
		l.Random = 0
		p := player.NewLevel(l, tt.table, tt.book, func(ctx context.Context, p game.Position, l search.Limit) (search.Result, error) {
			searches++
			return searching(ctx, p, l)
		}, 1)
		if move, err := p.Move(t.Context(), h.Clone(), 0); tt.level == "perfect" && move != "0" || err != nil || searches != tt.want {
			t.Errorf("%+v: %q, %v, %d searches", tt, move, err, searches)
		}
		if err := p.Close(); (err != nil) != (tt.table == closed) {
			t.Errorf("%+v: Close: %v", tt, err)
		}
	}
	if _, err := player.NewTable(closed).Move(t.Context(), h, 0); err == nil || !strings.HasPrefix(err.Error(), "table: ") {
		t.Errorf("a closed table: %v", err)
	}
	if _, err := player.Searching(g, search.Options{Memory: -1})(t.Context(), h.Position(), search.Limit{}); err == nil {
		t.Error("a search without memory")
	}
}

// TestHuman checks that a human is asked until a legal move is typed, and that the end of
// the input ends the play.
func TestHuman(t *testing.T) {
	const nine = "X to move\n" + `expected one of 0 1 2, found "9"; or help, resign, quit` + "\n"
	for _, tt := range []struct {
		typed, move string
		err         error
		output      string
	}{
		{"1\n", "1", nil, "X to move\n"},
		{"  1 \r\n", "1", nil, "X to move\n"},
		{"1", "1", nil, "X to move\n"},
		{"9\n1\n", "1", nil, nine + "X to move\n"},
		{"\n1\n", "1", nil, "X to move\n" + `expected one of 0 1 2, found ""; or help, resign, quit` + "\nX to move\n"},
		{strings.Repeat("1", 1000) + "\n2\n", "2", nil, "X to move\n" + `expected one of 0 1 2, found "` + strings.Repeat("1", 60) + "\"…; or help, resign, quit\nX to move\n"},
		{"resign\n", "", player.ErrResigned, "X to move\n"},
		{"quit\n1\n", "", player.ErrLeft, "X to move\n"},
		{"", "", player.ErrLeft, "X to move\n"},
		{"9\n", "", player.ErrLeft, nine + "X to move\n"},
	} {
		var out strings.Builder
		p := player.NewHuman(player.NewConsole(strings.NewReader(tt.typed), &out))
		move, err := p.Move(t.Context(), after(t, three), 0)
		if move != tt.move || !errors.Is(err, tt.err) || out.String() != tt.output {
			t.Errorf("%.20q: %q, %v, %q, want %q", tt.typed, move, err, out.String(), tt.output)
		}
	}
}

// TestHumanBroken checks that a broken console means ErrLeft, not a fault of the human.
func TestHumanBroken(t *testing.T) {
	broken := errors.New("broken")
	r, w := io.Pipe()
	w.CloseWithError(broken)
	r2, w2 := io.Pipe()
	r2.CloseWithError(broken)
	for _, c := range []*player.Console{player.NewConsole(r, io.Discard), player.NewConsole(strings.NewReader("1\n"), w2)} {
		if _, err := player.NewHuman(c).Move(t.Context(), after(t, three), 0); !errors.Is(err, player.ErrLeft) || !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

// TestConsoleKeepsLines checks that a line that comes too late is returned by the next
// call.
func TestConsoleKeepsLines(t *testing.T) {
	r, w := io.Pipe()
	c := player.NewConsole(r, io.Discard)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := player.NewHuman(c).Move(ctx, after(t, three), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	go io.WriteString(w, "2\n1\n")
	for _, want := range []string{"2", "1"} {
		if got, err := player.NewHuman(c).Move(t.Context(), after(t, three), 0); got != want || err != nil {
			t.Errorf("%q, %v, want %s", got, err, want)
		}
	}
}

// FuzzHuman checks that any input ends with a legal move, a resignation or the end of the
// input.
func FuzzHuman(f *testing.F) {
	f.Add("9\n\x00\n1\n")
	g := solved.Game(f, three)
	f.Fuzz(func(t *testing.T, typed string) {
		h := player.NewHistory(g)
		move, err := player.NewHuman(player.NewConsole(strings.NewReader(typed), io.Discard)).Move(context.Background(), h, 0)
		if err == nil {
			err = h.Play(move)
		}
		if err != nil && !errors.Is(err, player.ErrLeft) && !errors.Is(err, player.ErrResigned) {
			t.Errorf("%q: %v", typed, err)
		}
	})
}

// script writes a shell program; body is the cases with its answers to commands.
func script(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "engine.sh")
	text := "#!/bin/sh\nwhile read -r id command rest; do case $command in\n" + body + "\n*) printf '=%s\\n\\n' $id;; esac; done\n"
	must.OK(t, os.WriteFile(name, []byte(text), 0o777))
	return "exec " + name
}

// TestMachineTime checks that a machine's limit is the shorter of its own time and the
// limit of the move, at any depth.
func TestMachineTime(t *testing.T) {
	h := after(t, "connectn width=7 height=6 connect=4")
	s := must.Get(search.New(h.Game(), search.Options{Memory: 1 << 20}))(t)
	const short, long = 30 * time.Millisecond, time.Hour
	for _, tt := range []struct {
		depth      int
		own, limit time.Duration
	}{{0, short, 0}, {0, short, long}, {0, long, short}, {0, 0, short}, {4, 0, 0}, {4, 0, short}, {30, 0, short}} {
		begun := time.Now()
		if m, err := player.NewMachine(s.Search, search.Limit{Depth: tt.depth, Time: tt.own}).Move(t.Context(), h, tt.limit); m == "" || err != nil {
			t.Errorf("%+v: %q, %v", tt, m, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%+v: it took %v", tt, took)
		}
	}
}

// TestProgram checks that time_left is not sent to a program that does not know it.
func TestProgram(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	command := script(t, `list_commands) printf '=%s play\n\n' $id;;
time_left) printf '?%s unknown command\n\n' $id;;
genmove) echo "genmove $rest" >>`+log+`; printf '=%s 1\n\n' $id; continue;;`)
	p := must.Get(player.NewProgram(t.Context(), solved.Game(t, three), command, "", nil, nil))(t)
	defer p.Close()
	h := after(t, three, "0")
	for range 2 {
		m, err := p.Move(t.Context(), h, 1500*time.Millisecond)
		if m != "1" || err != nil {
			t.Fatal(m, err)
		}
		for _, m := range []string{"1", "2"} {
			must.OK(t, h.Play(m))
		}
	}
	output, err := os.ReadFile(log)
	if err != nil || string(output) != "genmove second\ngenmove second\n" {
		t.Errorf("%q, %v", output, err)
	}
}

// TestProgramReceives checks the commands that a program receives, word by word: before a
// later game, only clear_board.
func TestProgramReceives(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	name := filepath.Join(t.TempDir(), "engine.sh")
	text := "#!/bin/sh\nwhile read -r id command rest; do echo $command $rest >>" + log + "\ncase $command in list_commands) a=time_left;; genmove) a=2;; *) a=;; esac; printf '=%s %s\\n\\n' $id $a; done\n"
	must.OK(t, os.WriteFile(name, []byte(text), 0o777))
	p := must.Get(player.NewProgram(t.Context(), solved.Game(t, three), name, "", nil, nil))(t)
	for _, moves := range [][]string{{"0"}, {"0", "2", "1"}, {"1", "1"}} {
		if m, err := p.Move(t.Context(), after(t, three, moves...), 1500*time.Millisecond); m != "2" || err != nil {
			t.Fatal(m, err)
		}
	}
	for _, limit := range []time.Duration{1, 123456789 * time.Nanosecond, 0} {
		must.Get(p.Move(t.Context(), after(t, three, "1", "1"), limit))(t)
	}
	p.Close()
	output, err := os.ReadFile(log)
	const want = `list_commands
game connectn width=3 height=3 connect=3
play first 0
time_left second 1.5 1
genmove second
play first 1
time_left second 1.5 1
genmove second
clear_board
play first 1
play second 1
time_left first 1.5 1
genmove first
clear_board
play first 1
play second 1
time_left first 0.000000001 1
genmove first
clear_board
play first 1
play second 1
time_left first 0.123456789 1
genmove first
clear_board
play first 1
play second 1
genmove first
quit
`
	if string(output) != want || err != nil {
		t.Errorf("sent %s, %v, want %s", output, err, want)
	}
}

// TestProgramFails checks that a program that does not play the game, or does not even
// start, is refused with the reason, and that the error of a program that fails quotes the
// last line of its stderr.
func TestProgramFails(t *testing.T) {
	for _, tt := range []struct{ command, start, move, did string }{
		{script(t, `game) printf '?%s unknown game\n\n' $id;;`), `program: answered "game ` + three + `" with an error: unknown game`, "", "reported an error"},
		{"exec /nowhere/at/all", "program: list_commands: no answer (exit status 127); on stderr: \"", "", "ended without an answer"},
		{"echo hello", `program: protocol error after list_commands: line 1: expected an answer that begins with = or ?, found "hello"`, "", "gave an answer that breaks the protocol"},
		{script(t, `genmove) echo 'bad luck' >&2; exit 3;;`), "", `program: genmove: no answer (exit status 3); on stderr: "bad luck"`, "ended without an answer"},
		{script(t, `genmove) kill -9 $$;;`), "", "program: genmove: no answer (signal: killed)", "ended without an answer"},
		{script(t, `genmove) exec >&-;;`), "", "program: genmove: no answer", "ended without an answer"},
		{script(t, `genmove) printf '=%s 1\n' $id; exit;;`), "", "program: genmove: the answer lacks the empty line that ends it (exit status 0)", "gave an answer that breaks the protocol"},
		{"read -r id rest; printf '=%s game\n' $id", "program: list_commands: the answer lacks the empty line that ends it (exit status 0)", "", "gave an answer that breaks the protocol"},
		{script(t, `genmove) echo yes;;`), "", `program: protocol error after genmove: line 5: expected an answer that begins with = or ?, found "yes"`, "gave an answer that breaks the protocol"},
		{script(t, `genmove) printf '?%s no idea\n\n' $id;;`), "", `program: answered "genmove first" with an error: no idea`, "reported an error"},
		{script(t, `genmove) printf '=%s resign\n\n' $id;;`), "", "resigned", ""},
	} {
		did := func(err error) string {
			if failure := new(player.Failure); errors.As(err, &failure) {
				return failure.Did
			}
			return ""
		}
		p, err := player.NewProgram(t.Context(), solved.Game(t, three), tt.command, "", nil, nil)
		if tt.start != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.start) || did(err) != tt.did {
				t.Errorf("%s: %v, it %q, want %s, %q", tt.command, err, did(err), tt.start, tt.did)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.command, err)
			continue
		}
		if _, err := p.Move(t.Context(), after(t, three), 0); err == nil || err.Error() != tt.move || did(err) != tt.did {
			t.Errorf("%s: %v, it %q, want %s, %q", tt.command, err, did(err), tt.move, tt.did)
		}
		p.Close()
	}
}

// TestProgramHangs checks that a program that hangs is killed when its time is over, with
// all processes that it has started.
func TestProgramHangs(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	p, err := player.NewProgram(t.Context(), solved.Game(t, three), script(t, `genmove) sleep 1000 & echo $! >`+pid+`; wait;;`), "", nil, nil)
	must.OK(t, err)
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := p.Move(ctx, after(t, three), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Skip("the machine is too busy: it was not asked in time")
	}
	for range 100 {
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(text)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("its child lives")
}

// TestProgramUnended checks the error of a program that waits for the next command after an answer without
// the empty line.
func TestProgramUnended(t *testing.T) {
	answered := filepath.Join(t.TempDir(), "answered")
	p, err := player.NewProgram(t.Context(), solved.Game(t, three), script(t, `genmove) printf '=%s 1\n' $id; touch `+answered+`; continue;;`), "", nil, nil)
	must.OK(t, err)
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for _, err := os.Stat(answered); err != nil; _, err = os.Stat(answered) {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second) // in which the answer is read
		cancel()
	}()
	const want = "program: genmove: the answer lacks the empty line that ends it"
	if _, err := p.Move(ctx, after(t, three), 0); err == nil || err.Error() != want || errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestProgramLog checks that what a program writes to stderr is kept when it ends, with the heading of
// each game in which it wrote something, and not more than 64 KiB of it; also if it does not start.
func TestProgramLog(t *testing.T) {
	var logs []string
	keep := func(text []byte) { logs = append(logs, string(text)) }
	g := solved.Game(t, three)
	p := must.Get(player.NewProgram(t.Context(), g, script(t, `genmove) printf 'thinking' >&2; printf '=%s 1\n\n' $id; continue;;`), "", nil, keep))(t)
	p.Head("== game 1")
	must.Get(p.Move(t.Context(), after(t, three), 0))(t)
	p.Close()
	if want := "== game 1\nthinking\n"; strings.Join(logs, "|") != want {
		t.Errorf("%q, want %q", logs, want)
	}
	logs = nil
	if _, err := player.NewProgram(t.Context(), g, "seq 100000 >&2; exit 3", "", nil, keep); err == nil || !strings.Contains(err.Error(), `"100000"`) {
		t.Error(err)
	}
	if len(logs) != 1 || len(logs[0]) != 64<<10 || !strings.HasSuffix(logs[0], "\n99999\n100000\n") {
		t.Errorf("%d logs", len(logs))
	}
	logs = nil
	p = must.Get(player.NewProgram(t.Context(), g, script(t, `quit) echo bye >&2;;`), "", nil, keep))(t)
	p.Close()
	if strings.Join(logs, "|") != "bye\n" {
		t.Errorf("%q", logs)
	}
}
