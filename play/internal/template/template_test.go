package template_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/template"
)

// write writes a file.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
}

// program writes the program of a template, changed, and returns the command that runs it.
func program(t *testing.T, name string, g game.Game, old, new string) string {
	t.Helper()
	text := must.Get(template.Program(name, g))(t)
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", name, old)
	}
	text, dir := strings.Replace(text, old, new, 1), t.TempDir()
	tool, file := map[string]string{"python": "python3", "java": "java", "go": "go"}[name], map[string]string{"python": "engine.py", "java": "Main.java", "go": "engine.go"}[name]
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("the program needs %s", tool)
	}
	write(t, dir, file, text)
	if name != "go" {
		return fmt.Sprintf("cd %s && exec %s %s", dir, tool, file)
	}
	build := exec.Command("go", "build", "-o", "engine", file)
	build.Dir = dir
	process.Output(t, build)
	return "exec " + filepath.Join(dir, "engine")
}

// match plays games of a program against random moves.
func match(t *testing.T, g game.Game, games int, command string) (all []referee.Played) {
	t.Helper()
	m := referee.Match{Game: g, Games: games, Entrants: [2]referee.Entrant{
		{Name: "program", Limit: time.Minute, New: func(ctx context.Context) (player.Player, error) {
			return player.NewProgram(ctx, g, command, "", nil, nil)
		}},
		{Name: "random", New: func(context.Context) (player.Player, error) { return player.NewRandom(1), nil }},
	}, Report: func(p referee.Played) error { all = append(all, p); return nil }}
	if _, err := m.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGames plays each game with the templates against random moves: no game ends by a fault.
func TestGames(t *testing.T) {
	for i, kind := range all.Kinds() {
		g := must.Get(kind.Default())(t)
		for _, name := range []string{"python", "java", "go"} {
			if name != "python" && i > 0 {
				continue // their games differ in no line
			}
			t.Run(kind.Name+"/"+name, func(t *testing.T) {
				for _, p := range match(t, g, 4, program(t, name, g, "", "")) {
					if p.Reason == referee.Resigned || p.Fault() {
						t.Error(p.Text(g.Values()))
					}
				}
			})
		}
	}
}

// TestFaults checks that the error of a program names the class or function, the file and the
// line, and that an illegal move is called so.
func TestFaults(t *testing.T) {
	g := solved.Game(t, "connectn width=3 height=3 connect=3")
	for _, tt := range []struct{ name, old, new, want string }{
		{"python", "return moves[len(moves) // 2]", "return moves[7]", "Player, engine.py line %d: IndexError: list index out of range"},
		{"python", "return moves[len(moves) // 2]", "return 9", "illegal move: Player.choose, engine.py line %d: expected one of 0 1 2, it returned 9"},
		{"java", "return moves.get(moves.size() / 2)", "return moves.get(7)", "Main.choose, Main.java line %d: java.lang.IndexOutOfBoundsException"},
		{"java", "return moves.get(moves.size() / 2)", `return "9"`, "illegal move: choose returned 9, expected one of 0 1 2"},
		{"go", "return moves[len(moves)/2]", "return moves[len(moves)+7]", "choose, engine.go line %d: runtime error: index out of range"},
		{"go", "return moves[len(moves)/2]", `return "8"`, `illegal move: choose returned "8", expected one of 0 1 2`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := must.Get(template.Program(tt.name, g))(t)
			line := strings.Count(text[:strings.Index(text, tt.old)], "\n") + 1
			if strings.Contains(tt.want, "Player.choose") { // where the method begins
				line = strings.Count(text[:strings.Index(text, "def choose(self, moves):\n        \"\"\"Return one of the legal moves, such")], "\n") + 1
			}
			want := strings.Replace(tt.want, "%d", fmt.Sprint(line), 1)
			p := match(t, g, 1, program(t, tt.name, g, tt.old, tt.new))[0]
			if !p.Fault() || !strings.Contains(p.Detail(), want) {
				t.Errorf("%s\nwant %s", p.Text(g.Values()), want)
			}
		})
	}
}

// course is a file with players of CSE 150, as students wrote them.
const course = `from assignment2 import Player, State, Action

class GreedyPlayer(Player):
    def __init__(self):
        self.asked = 0

    def move(self, state):
        """Look one move ahead, while there is time."""
        print("thinking of", state)
        self.asked += 1
        best, most = None, -1
        for i in xrange(len(state.actions())):
            action = state.actions()[i]
            goal = state.result(action).board[state.player_goal_idx]
            if goal > most and not self.is_time_up():
                best, most = action, goal
        return state.actions().pop(0) if best is None else best

class LostPlayer(Player):
    def move(self, state):
        return state.actions()[99]

class IllegalPlayer(Player):
    def move(self, state):
        return Action(state.player_row, 99)
`

// TestCourse checks that player classes of CSE 150 run unchanged, that a player without a stone
// in its pits is not asked (here that would be an error), and that errors name class and line.
func TestCourse(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the program needs python3")
	}
	g, dir := solved.Game(t, "mancala pits=2 stones=2"), t.TempDir()
	text := must.Get(template.Program("cse150", g))(t)
	write(t, dir, "assignment2.py", text)
	write(t, dir, "greedy_player.py", course)
	write(t, dir, "old_player.py", "from assignment2 import *\n\nclass P(Player):\n    def move(self, state):\n        print 1\n")
	command := func(args string) string { return fmt.Sprintf("cd %s && exec python3 assignment2.py %s", dir, args) }
	passes := 0
	for _, p := range match(t, g, 10, command("greedy_player.py GreedyPlayer")) {
		if p.Reason != referee.Finished {
			t.Error(p.Text(g.Values()))
		}
		passes += strings.Count(strings.Join(p.History.Names(), " "), game.Pass)
	}
	if passes == 0 {
		t.Error("no game has a pass")
	}
	for args, want := range map[string]string{
		"greedy_player.py LostPlayer": "LostPlayer, greedy_player.py line 21: IndexError: list index out of range",
		"greedy_player.py":            "illegal move: IllegalPlayer.move, greedy_player.py line 24: expected one of 0 1, it returned 99",
	} {
		if p := match(t, g, 1, command(args))[0]; !p.Fault() || !strings.Contains(p.Detail(), want) {
			t.Errorf("%s: %s\nwant %s", args, p.Text(g.Values()), want)
		}
	}
	for args, want := range map[string]string{
		"greedy_player.py Nobody": "greedy_player.py: expected a class Nobody, which has the base class Player of assignment2; found GreedyPlayer, LostPlayer, IllegalPlayer",
		"old_player.py":           "old_player.py line 5: SyntaxError: Missing parentheses in call to 'print'",
	} {
		if _, err := player.NewProgram(t.Context(), g, command(args), "", nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", args, err, want)
		}
	}
	if _, err := player.NewProgram(t.Context(), solved.Game(t, "dodgem size=2"), command("greedy_player.py"), "", nil, nil); err == nil || !strings.Contains(err.Error(), "only mancala is played here, found dodgem") {
		t.Error(err)
	}
}

// machinePlayer compiles the MachinePlayer of testdata, with pairs of an old and a new text, and returns the command
// that runs it.
func machinePlayer(t *testing.T, pairs ...string) string {
	t.Helper()
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the program needs %s", tool)
		}
	}
	dir := t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS("testdata")))
	name := filepath.Join("player", "MachinePlayer.java")
	text := string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
	write(t, dir, name, strings.NewReplacer(pairs...).Replace(text))
	write(t, dir, "Network.java", must.Get(template.Program("cs61b", solved.Game(t, "network")))(t))
	compile := exec.Command("javac", "player/Player.java", "player/Move.java", "player/MachinePlayer.java")
	compile.Dir = dir
	process.Output(t, compile)
	return fmt.Sprintf("cd %s && exec java Network.java", dir)
}

// TestMachinePlayer checks that a MachinePlayer of CS 61B runs unchanged: in games of both colors, and at positions
// that moves of both colors lead to.
func TestMachinePlayer(t *testing.T) {
	g, command := solved.Game(t, "network"), machinePlayer(t)
	steps := 0
	for _, p := range match(t, g, 4, command) {
		if p.Reason == referee.Resigned || p.Fault() {
			t.Error(p.Text(g.Values()))
		}
		steps += strings.Count(strings.Join(p.History.Names(), " "), "-")
	}
	if steps == 0 {
		t.Error("no game has a step")
	}
	p := must.Get(player.NewProgram(t.Context(), g, command+" 2", "", nil, nil))(t)
	defer p.Close()
	h := player.NewHistory(g)
	for range 30 { // it plays both sides
		must.OK(t, h.Play(must.Get(p.Move(t.Context(), h.Clone(), 0))(t)))
		if _, over := h.Finished(); over {
			break
		}
	}
	if len(h.Names()) < 11 {
		t.Error(h.Names())
	}
}

// TestMachinePlayerFaults checks how games end in which a MachinePlayer of CS 61B fails or quits: the search depth
// is the fault.
func TestMachinePlayerFaults(t *testing.T) {
	g := solved.Game(t, "network")
	command := machinePlayer(t, "int searchDepth) { this(color);", "int searchDepth) { this(color); fault = searchDepth;",
		"public Move chooseMove() {", `int fault; public Move chooseMove() {
    if (fault == 1) board[8][0] = 1;
    if (fault == 2) return new Move(0, 0);
    if (fault == 3) return new Move();`,
		"return make(m, 1 - color);", "return fault != 4 && make(m, 1 - color);")
	for fault, tt := range []struct {
		want   string
		reason referee.Reason
	}{
		1: {"player.MachinePlayer.chooseMove, MachinePlayer.java line 12: java.lang.ArrayIndexOutOfBoundsException", referee.Failed},
		2: {"illegal move: choose returned 00, expected one of 01 ", referee.Illegal},
		3: {"", referee.Resigned},
		4: {"opponentMove returned false for [add to ", referee.Failed},
	} {
		if fault == 0 {
			continue
		}
		if p := match(t, g, 1, fmt.Sprint(command, " ", fault))[0]; p.Reason != tt.reason || !strings.Contains(p.Detail(), tt.want) {
			t.Errorf("fault %d: %s\nwant %s", fault, p.Text(g.Values()), tt.want)
		}
	}
}

// TestProgramRefuses checks that an unknown template is refused with the known ones.
func TestProgramRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"dodgem size=2":           `template "cse150": expected python, java, go`,
		"mancala pits=2 stones=1": "<nil>",
		"network":                 `template "cse150": expected python, java, go, cs61b`,
	} {
		if _, err := template.Program("cse150", solved.Game(t, spec)); fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}
