package program_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
)

// server builds the rules program that answers for our own games.
func server(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rulesprogram")
	process.Output(t, exec.Command("go", "build", "-o", name, "../../internal/testing/rulesprogram"))
	return name
}

// open opens a rules program. A question that fails fails the test.
func open(t testing.TB, command string) *program.Program {
	t.Helper()
	p := must.Get(program.Open(t.Context(), command, program.Options{Limit: time.Minute}))(t)
	t.Cleanup(p.Close)
	return p
}

// withoutCode returns the kind of a program without the parameter with its hash.
func withoutCode(p *program.Program) game.Kind {
	kind := p.Kind()
	kind.Params = kind.Params[:len(kind.Params)-1]
	make := kind.New
	kind.New = func(args []int) (game.Game, error) { return make(append(slices.Clone(args), 0)) }
	return kind
}

// TestEverySize solves every small board of our games by their rules program.
func TestEverySize(t *testing.T) {
	name := server(t)
	for _, of := range []string{"mnk", "quickcross", "dodgem", "mancala", "connectn"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			p := open(t, name+" "+of)
			runnertest.EverySize(t, &inline.Runner{}, game.Kinds{withoutCode(p)}, 60)
		})
	}
}

// TestCheck checks rules that are right, and finds each mistake.
func TestCheck(t *testing.T) {
	name := server(t)
	p := open(t, name+" dodgem")
	g := must.Get(p.Kind().New([]int{3, 0}))(t)
	if n, err := program.Check(t.Context(), g, 500, 1); n != 500 || err != nil {
		t.Errorf("%d positions, %v", n, err)
	}
	for want, answers := range map[string]string{
		`position 1: move 2: position 2: no`:         `0) echo 1 ;; 1) echo 2 ;; *) echo error no ;;`,
		`two moves have the name a`:                  `*) echo a:1 a:2 ;;`,
		`position 0: asked again, the program gives`: `*) [ -e asked ] && echo lose || { echo 1 ; : >asked; } ;;`,
	} {
		t.Run(want, func(t *testing.T) {
			t.Chdir(t.TempDir())
			err := checked(t, script(t, "", answers))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	for want, answer := range map[string]string{
		`answered "a b/c": expected rows`:                       `0) echo 1 ;; "picture 0") echo a b/c ;;`,
		`answered " ": expected`:                                `0) echo 1 ;; pic*) echo " " ;;`,
		`it has 1 rows of 2 cells, another picture 1 rows of 1`: `0) echo 1 ;; 1) echo lose ;; "picture 0") echo a ;; pic*) echo a b ;;`,
	} {
		if err := checked(t, script(t, `picture\n`, answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("picture: %v, want %s", err, want)
		}
	}
	for want, more := range map[string]string{
		"player 2 moves in the initial position":    "players Y, Z",
		"after move 1 it is the same player's turn": "players X, O",
		"move 1 leads from tier 0 to tier 0":        "tiers 1",
	} {
		answer := "*) echo 1 ;;"
		if more == "players X, O" {
			answer = "*) echo 1 1 ;;"
		} else if more == "players Y, Z" {
			answer = "*) echo 2 1 ;;"
		}
		if err := checked(t, script(t, more+`\n`, answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
}

// checked returns the error of Check, or of a question.
func checked(t *testing.T, command string) (err error) {
	t.Helper()
	defer func() {
		if failed, ok := recover().(error); ok {
			err = failed
		}
	}()
	g := must.Get(open(t, command).Kind().New([]int{0}))(t)
	_, err = program.Check(t.Context(), g, 100, 1)
	return err
}

// script returns a rules program that answers as the cases of a shell script say. more is further lines of its header.
func script(t *testing.T, more, cases string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rules.sh")
	text := fmt.Sprintf("printf 'treereduce rules 1\\nname shell\\nbits 8\\nstart 0\\n%s\\n'\nwhile read -r p; do case $p in '') echo ;; %s esac; done\n", more, cases)
	must.OK(t, os.WriteFile(name, []byte(text), 0o666))
	return "sh " + name
}

// TestHostile asks programs that do everything wrong. Each error has one line, and names the program; none leaves a
// process behind.
func TestHostile(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"exit 3", `the header: its output ends (exit status 3)`},
		{"no-such-program", `the header: its output ends (exit status 127); on stderr: "sh: 1: no-such-program: not found"`},
		{"echo trouble >&2; exit 1", `the header: its output ends (exit status 1); on stderr: "trouble"`},
		{"yes", `the header: its header has more than 1000 lines`},
		{"cat /dev/zero", `the header: a line has more than 65536 bytes`},
		{"printf treereduce", `the header: its output ends in a line: "treereduce" (exit status 0)`},
		{"echo; echo", `the header: expected "treereduce rules 1" as the first line`},
		{"sleep 1000", `no answer within 1s: check that it flushes its output, and ends it with an empty line`},
		{"sleep 1000 & wait", `no answer within 1s`},
		{script(t, "", "*) exit 4 ;;"), `position 0: its output ends (exit status 4)`},
		{script(t, "", "*) kill -9 $$ ;;"), `position 0: its output ends (exit status 137); on stderr: "Killed"`},
		{script(t, "", "*) echo far >&2; exit 1 ;;"), `position 0: its output ends (exit status 1); on stderr: "far"`},
		{script(t, "", "*) ;;"), `position 0: answered an empty line`},
		{script(t, "", "*) echo win; echo win ;;"), `after the last answer, expected an empty line, found "win"`},
		{script(t, "", "*) echo nonsense ;;"), `position 0: answered "nonsense": expected win, lose, tie or moves to numbers up to 255, separated by one blank, found "nonsense"`},
		{script(t, "", "*) echo 256 ;;"), `position 0: answered "256": expected win`},
		{script(t, "", "*) echo error not mine ;;"), `position 0: answered "error not mine": it is refused`},
		{script(t, "", "*) sleep 1000 ;;"), `no answer within 1s`},
		{script(t, "", "*) printf 1; sleep 1000 ;;"), `no answer within 1s`},
		{script(t, "", "*) while :; do printf 1; sleep 0.1; done ;;"), `no answer within 1s`},
		{"while :; do echo name x; sleep 0.1; done", `the header: no answer within 1s`},
		{script(t, "", "*) cat /dev/zero ;;"), `position 0: a line has more than 65536 bytes`},
		{script(t, "", "*) exec 0<&-; sleep 1000 ;;"), `no answer within 1s`},
		{script(t, `players X, O\n`, "*) echo lose ;;"), `position 0: answered "lose": expected it to begin with the player to move, 1 or 2`},
		{script(t, `$RANDOM$$\n`, "*) echo lose ;;"), `expected name, title, rules, parameter`},
		{script(t, `parameter n 1\nparameter n 2\n`, "*) echo lose ;;"), `parameter "n": it is given twice`},
		{"printf 'treereduce rules 1\\nname Small\\nbits 8\\nstart 0\\n\\n'", `its name must be small letters`},
		{script(t, `parameter n 1\n`, "*) echo lose ;;"), `the header: found game shell and parameters [n=1], expected shell and [n=0]`},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.Contains(test.want, "1s") {
				limit = time.Second
			}
			err := asked(t, test.command, limit)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "rules program ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

// asked opens a program, and asks for its initial position.
func asked(t *testing.T, command string, limit time.Duration) error {
	p, err := program.Open(t.Context(), command, program.Options{Limit: limit, HeaderLimit: limit})
	if err != nil {
		return err
	}
	defer p.Close()
	args := make([]int, len(p.Kind().Params))
	g, err := p.Kind().New(args)
	if err != nil {
		return err
	}
	_, err = game.BatchOf(g, []game.Position{g.Start()})
	return err
}

// TestChanged changes a program after it was opened: no other copy of it answers.
func TestChanged(t *testing.T) {
	command := script(t, "", "*) sleep 0.1; echo lose ;;")
	p := open(t, command)
	g := must.Get(p.Kind().New([]int{0}))(t)
	name := strings.TrimPrefix(command, "sh ")
	if want := "sh ./rules.sh"; p.There() != want {
		t.Errorf("%q in a task, want %q", p.There(), want)
	}
	must.OK(t, os.WriteFile(name, append(must.Get(os.ReadFile(name))(t), "# more\n"...), 0o666))
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = game.BatchOf(g, []game.Position{0}) })
	}
	all.Wait()
	err := errors.Join(errs...)
	if runtime.GOMAXPROCS(0) > 1 && (err == nil || !strings.Contains(err.Error(), "a file of it has changed since this command began")) {
		t.Errorf("%v", err)
	}
}

// TestContext ends the context of a program that answers nothing: the question fails with the cause, long before the limit.
func TestContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	p := must.Get(program.Open(ctx, script(t, "", "*) sleep 1000 ;;"), program.Options{Limit: time.Hour}))(t)
	g, cause := must.Get(p.Kind().New([]int{0}))(t), errors.New("a signal")
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	for range 2 {
		if _, err := game.BatchOf(g, []game.Position{0}); err != cause {
			t.Errorf("%v, want %v", err, cause)
		}
	}
	p.Close()
}

// TestHeaderTime starts a program that takes longer for its header than for an answer. A notice says what is waited for.
func TestHeaderTime(t *testing.T) {
	t.Parallel()
	notices := make(chan string, 1)
	begun := time.Now()
	command := "until [ -e " + t.TempDir() + "/go ]; do sleep 0.1; done; "
	go func() {
		notices <- <-notices
		os.WriteFile(strings.Fields(command)[3], nil, 0o666)
	}()
	p := must.Get(program.Open(t.Context(), command+script(t, "", "*) echo lose ;;"), program.Options{Limit: time.Second, Notice: func(line string) { notices <- line }}))(t)
	defer p.Close()
	if line := <-notices; !strings.HasPrefix(line, "waiting for the header of the rules program \"until") || !strings.HasSuffix(line, ", at most 10m0s") || time.Since(begun) < 10*time.Second {
		t.Errorf("after %v: %s", time.Since(begun), line)
	}
}

// TestUnread asks a program that answers without reading the questions, which fill the pipe.
func TestUnread(t *testing.T) {
	t.Parallel()
	var ps []game.Position
	for i := range game.BatchSize {
		ps = append(ps, 1<<63-1-game.BatchSize+uint64(i))
	}
	name := filepath.Join(t.TempDir(), "rules.sh")
	must.OK(t, os.WriteFile(name, fmt.Appendf(nil, "printf 'treereduce rules 1\nname shell\nbits 64\ntiers 1\nstart 0\n\n'; yes lose | head -n %d; echo; sleep 1000\n", len(ps)), 0o666))
	p := must.Get(program.Open(t.Context(), "sh "+name, program.Options{Limit: 2 * time.Second}))(t)
	defer p.Close()
	_, err := game.BatchOf(must.Get(p.Kind().New([]int{0}))(t), ps)
	if err == nil || !strings.Contains(err.Error(), "it answered without reading them") {
		t.Errorf("%v", err)
	}
}

// TestClose checks that no process is left, even one that ignores the end of its input.
func TestClose(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe() // its reading end gets no end while a process has the other one
	must.OK(t, err)
	defer r.Close()
	p := must.Get(program.Open(t.Context(), fmt.Sprintf("exec 9>/proc/%d/fd/%d; ", os.Getpid(), w.Fd())+script(t, "", "*) sleep 1000 & echo lose ;;")+"; sleep 1000; :", program.Options{}))(t)
	g := must.Get(p.Kind().New([]int{0}))(t)
	must.Get(game.BatchOf(g, []game.Position{0}))(t)
	w.Close()
	p.Close()
	must.Get(io.ReadAll(r))(t)
	if _, err := game.BatchOf(g, []game.Position{0}); err == nil || err.Error() != "the rules program is closed" {
		t.Errorf("a closed program: %v", err)
	}
}

// TestCloseEarly closes a program while another copy of it, which a waiting question has started, prints no header.
func TestCloseEarly(t *testing.T) {
	t.Parallel()
	if runtime.GOMAXPROCS(0) == 1 {
		t.Skip("one core: there is no other copy")
	}
	dir := t.TempDir()
	r, w, err := os.Pipe() // as in TestClose
	must.OK(t, err)
	defer r.Close()
	p := must.Get(program.Open(t.Context(), fmt.Sprintf("exec 9>/proc/%d/fd/%d; mkdir %[3]s/first || { : >%[3]s/second; sleep 1000; }; ", os.Getpid(), w.Fd(), dir)+
		script(t, "", "*) until [ -e "+dir+"/second ]; do sleep 0.01; done; echo lose ;;")+"; :", program.Options{}))(t)
	g := must.Get(p.Kind().New([]int{0}))(t)
	var asked sync.WaitGroup
	for range 2 {
		asked.Go(func() {
			if _, err := game.BatchOf(g, []game.Position{0}); err != nil {
				t.Error(err)
			}
		})
	}
	asked.Wait()
	w.Close()
	p.Close()
	must.Get(io.ReadAll(r))(t)
}

// TestAskedOnce logs the questions of a solve: it asks for each position once, with tiers and without, and for the
// initial one once more when it looks up its value.
func TestAskedOnce(t *testing.T) {
	name := server(t)
	for _, test := range []struct {
		game string
		args []int
	}{{"mnk", []int{3, 3, 3, 0}}, {"mancala", []int{2, 2, 0}}, {"dodgem", []int{3, 0}}, {"quickcross", []int{3, 3, 3, 0}}} {
		t.Run(test.game, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := open(t, fmt.Sprintf("tee %s/$$ | %s %s", dir, name, test.game))
			g := must.Get(p.Kind().New(test.args))(t)
			positions := solveNew(t, g)
			p.Close()
			asked := make(map[string]int)
			for _, log := range must.Get(filepath.Glob(filepath.Join(dir, "*")))(t) {
				for line := range strings.Lines(string(must.Get(os.ReadFile(log))(t))) {
					if line != "\n" {
						asked[line]++
					}
				}
			}
			asked[fmt.Sprintln(g.Start())]--
			for position, times := range asked {
				if times != 1 {
					t.Errorf("position %s is asked for %d times", strings.TrimSpace(position), times)
				}
			}
			if len(asked) != int(positions) {
				t.Errorf("asked for %d positions, want %d", len(asked), positions)
			}
		})
	}
}

// solveNew solves a game, and returns its number of positions.
func solveNew(t testing.TB, g game.Game) uint64 {
	t.Helper()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Codec: jobdir.Packed, Final: solve.FinalNo, UntilTier: -1}
	data := must.Get(store.Create(store.Local{}, t.TempDir(), g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	n := must.Get(solve.Run(t.Context(), data, g, o))(t).Positions
	must.OK(t, data.Close())
	return n
}

// BenchmarkSolve solves games by a program that answers at once, and reports the CPU time of this process for a
// position: all but that of the program.
func BenchmarkSolve(b *testing.B) {
	name := server(b)
	for _, test := range []struct {
		game string
		args []int
	}{{"mnk", []int{4, 3, 3, 0}}, {"dodgem", []int{4, 0}}, {"quickcross", []int{4, 3, 3, 0}}} {
		b.Run(test.game, func(b *testing.B) {
			g := must.Get(open(b, name+" "+test.game).Kind().New(test.args))(b)
			positions, before := uint64(0), system.CPU()
			for b.Loop() {
				positions += solveNew(b, g)
			}
			b.ReportMetric(float64((system.CPU()-before).Microseconds())/float64(positions), "µs/position")
		})
	}
}
