package program_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/naive"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/runnertest"
	"github.com/treereduce/treereduce/table"
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
	for want, test := range map[string]struct{ more, answer string }{
		`question "text 0": expected UTF-8 without control characters, found "\u2028"`: {`text\n`, `0) echo 1 ;; *) printf 'a\342\200\250\n' ;;`},
		`question "picture 0": expected UTF-8 without control characters, found "\t"`:  {`picture\n`, `0) echo 1 ;; *) printf 'a\tb\n' ;;`},
		`question "0": expected UTF-8 without control characters, found "\x01"`:        {"", `0) printf 'a\001:1\n' ;;`},
	} {
		if err := checked(t, script(t, test.more, test.answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, more := range map[string]string{
		"player 2 moves in the initial position": "players Y, Z",
		"move 1 leads from tier 0 to tier 0":     "tiers 1",
	} {
		answer := "*) echo 1 ;;"
		if more == "players Y, Z" {
			answer = "*) echo 2 1 ;;"
		}
		if err := checked(t, script(t, more+`\n`, answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", more, err, want)
		}
	}
}

// TestCheckLoops checks which moves may stay in a tier.
func TestCheckLoops(t *testing.T) {
	for _, test := range []struct{ more, answers, want string }{
		{"", "0) echo 128 ;; *) echo lose ;;", ""},
		{"", "0) echo 1 ;; *) echo lose ;;", "move 1 leads from tier 0 to tier 0, expected a later one"},
		{`loops 0\n`, "0) echo 1 128 ;; 1) echo 0 ;; *) echo lose ;;", ""},
		{`loops all\n`, "0) echo 128 ;; 128) echo 129 ;; *) echo 128 ;;", ""},
		{`loops 0\n`, "0) echo 1 ;; 1) echo 128 ;; *) echo 128 ;;", "move 128 leads from tier 1 to tier 1, expected a later one"},
		{`loops 1\n`, "0) echo 128 ;; *) echo 0 ;;", "move 0 leads from tier 1 to tier 0, expected the same or a later one"},
	} {
		if err := checked(t, script(t, `tiers 1\n`+test.more, test.answers)); (err == nil) != (test.want == "") || err != nil && !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%s%s: %v, want %s", test.more, test.answers, err, test.want)
		}
	}
}

// TestCheckAnotherCopy checks rules that differ from one copy of the program to the next.
func TestCheckAnotherCopy(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, answers := range [][]any{{1, 2}, {"lose", "win"}} {
		err := checked(t, script(t, "", fmt.Sprintf(`0) [ "$n" ] || { n=%v; [ -e begun ] && n=%v; : >begun; }; echo $n ;; *) echo lose ;;`, answers...)))
		if err == nil || !strings.Contains(err.Error(), "position 0: asked again, the program gives another answer") {
			t.Errorf("%v", err)
		}
		must.OK(t, os.Remove("begun"))
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
		{"cat /dev/zero", `the header: a line has more than 131072 bytes`},
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
		{script(t, "", "*) cat /dev/zero ;;"), `position 0: a line has more than 131072 bytes`},
		{script(t, `title A\tB\n`, "*) echo lose ;;"), `the header: expected UTF-8 without control characters, found "\t" in "title A\tB"`},
		{script(t, `rules A\033[2JB\n`, "*) echo lose ;;"), `found "\x1b" in "rules A\x1b[2JB"`},
		{script(t, `players A, B\302\205\n`, "*) echo lose ;;"), `found "\u0085" in "players A, B\u0085"`},
		{script(t, `title \377\n`, "*) echo lose ;;"), `found "\xff" in "title \xff"`},
		{script(t, "", `*) printf 'error \177\n' ;;`), `position 0: expected UTF-8 without control characters, found "\x7f" in "error \x7f"`},
		{script(t, "", `*) printf 'a\000b:1\n' ;;`), `position 0: expected UTF-8 without control characters, found "\x00" in "a\x00b:1"`},
		{script(t, "", `*) printf 'a:1 lange\342\200\256:2\n' ;;`), `found "\u202e" in "a:1 lange\u202e:2"`},
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
	there, files, err := p.There()
	if must.OK(t, err); there != "sh ./rules.sh" || !slices.Equal(files, []string{"rules.sh"}) {
		t.Errorf("%q in a task, with %q", there, files)
	}
	must.OK(t, os.WriteFile(name, append(must.Get(os.ReadFile(name))(t), "# more\n"...), 0o666))
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = game.BatchOf(g, []game.Position{0}) })
	}
	all.Wait()
	err = errors.Join(errs...)
	if runtime.GOMAXPROCS(0) > 1 && (err == nil || !strings.Contains(err.Error(), "a file of it has changed since this command began")) {
		t.Errorf("%v", err)
	}
}

// TestIdentity changes words of commands, and files: the code changes with each that counts.
func TestIdentity(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("my dir", 0o777))
	text := "printf 'treereduce rules 1\\nname one\\nbits 4\\nstart 0\\n\\n'\n"
	codeOf := func(command string, files ...string) string {
		p := must.Get(program.Open(t.Context(), command, program.Options{Files: files}))(t)
		defer p.Close()
		params := p.Kind().Params
		return params[len(params)-1].Words[0]
	}
	write := func(name, text string) { must.OK(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("my dir/x.sh", text)
	write("data", "1")
	for _, command := range []string{`sh "my dir/x.sh"`, "env X='my dir/x.sh' sh my' 'dir/x.sh"} {
		before, normal := codeOf(command), codeOf(command+" normal")
		if misere := codeOf(command + " misere"); misere == normal || normal == before {
			t.Errorf("%s: %s, with words after it %s and %s", command, before, normal, misere)
		}
		named := codeOf(command, "data", "./data")
		write("my dir/x.sh", text+"# more\n")
		if after := codeOf(command); after == before {
			t.Errorf("%s: %s, also after a change of the file", command, before)
		}
		write("my dir/x.sh", text)
		write("data", "2")
		if other := codeOf(command, "data"); named == before || other == named {
			t.Errorf("%s: %s, with a named file %s, after its change %s", command, before, named, other)
		}
		write("data", "1")
		if after := codeOf(command, "data"); codeOf(command) != before || after != named {
			t.Errorf("%s: %s, with a named file %s; found another code for the same files", command, before, named)
		}
	}
	if here, there := codeOf("/bin/sh 'my dir/x.sh' normal"), codeOf("sh  "+must.Get(os.Getwd())(t)+"/'my dir'/x.sh normal"); here != there {
		t.Errorf("%s and %s for other folders", here, there)
	}
	if normal, misere := codeOf("sh 'my dir/x.sh' normal"), codeOf("sh 'my dir/x.sh' misere"); normal == misere {
		t.Errorf("%s with two words", normal)
	}
}

// TestNoFile checks that a command of which no file is found is refused, unless its program reports modules.
func TestNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.WriteFile("data", nil, 0o666))
	must.OK(t, os.Mkdir("folder", 0o777))
	header := func(more string) string {
		return `printf 'treereduce rules 1\nname one\nbits 4\nstart 0\n` + more + `\n'`
	}
	const advice = `found no file of it, but the content of its files is a part of the rules: name them by --rules-files`
	for _, test := range []struct {
		command, want string
		files         []string
	}{
		{command: header(""), want: advice},
		{command: header("") + " folder", want: advice},
		{command: header("") + " 2>data", want: advice},
		{command: header(""), files: []string{"data"}},
		{command: header("") + " data"},
		{command: header(`module a.b 12\nmodule c 34\n`)},
		{command: header(`module a\n`), want: `"module a": expected module NAME HASH`},
		{command: header(""), files: []string{"none"}, want: "file of the rules: open none: "},
		{command: header(""), files: []string{"folder"}, want: "file of the rules: folder: expected a regular file"},
	} {
		p, err := program.Open(t.Context(), test.command, program.Options{Files: test.files})
		if err == nil {
			p.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %q: %v, want %s", test.command, test.files, err, test.want)
		}
	}
}

// TestSameName checks that two files of one name cannot go to a task, if they are not the same.
func TestSameName(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("a", 0o777))
	for _, name := range []string{"x.sh", "a/x.sh"} {
		must.OK(t, os.WriteFile(name, []byte("printf 'treereduce rules 1\\nname one\\nbits 4\\nstart 0\\n\\n'"), 0o666))
	}
	if _, _, err := open(t, "sh a/x.sh x.sh").There(); err == nil {
		must.OK(t, os.WriteFile("x.sh", nil, 0o666))
		_, _, err = open(t, "sh a/x.sh x.sh").There()
		if err == nil || !strings.Contains(err.Error(), "a/x.sh and x.sh have the same name in a task: rename one") {
			t.Errorf("%v", err)
		}
	}
}

// TestModuleChanged changes a module that the program reports: no other copy of it answers.
func TestModuleChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { must.OK(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("rules.sh", "cat header\nwhile read -r p; do echo; done\n")
	header := "treereduce rules 1\nname one\nparameter n 1\nbits 4\nstart 0\nmodule m 12\n"
	write("header", header+"\n")
	p := open(t, "sh rules.sh")
	write("header", header+"module lazy 78\n\n")
	if _, err := p.Kind().New([]int{2, 0}); err == nil || !strings.Contains(err.Error(), "found game one and parameters [n=1]") {
		t.Errorf("one more module: %v", err)
	}
	write("header", strings.Replace(header, "12", "34", 1)+"\n")
	if _, err := p.Kind().New([]int{2, 0}); err == nil || !strings.Contains(err.Error(), "a module of it has changed since this command began: m") {
		t.Errorf("another module: %v", err)
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
	rules := script(t, "", "*) echo lose ;;")
	p := must.Get(program.Open(t.Context(), command+rules, program.Options{Files: strings.Fields(rules)[1:], Limit: time.Second, Notice: func(line string) { notices <- line }}))(t)
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
	p := must.Get(program.Open(t.Context(), "sh "+name, program.Options{Limit: 10 * time.Second}))(t)
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
	rules := script(t, "", "*) sleep 1000 & echo lose ;;")
	p := must.Get(program.Open(t.Context(), fmt.Sprintf("exec 9>/proc/%d/fd/%d; ", os.Getpid(), w.Fd())+rules+"; sleep 1000; :", program.Options{Files: strings.Fields(rules)[1:]}))(t)
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
	rules := script(t, "", "*) until [ -e "+dir+"/second ]; do sleep 0.01; done; echo lose ;;")
	p := must.Get(program.Open(t.Context(), fmt.Sprintf("exec 9>/proc/%d/fd/%d; mkdir %[3]s/first || { : >%[3]s/second; sleep 1000; }; ", os.Getpid(), w.Fd(), dir)+
		rules+"; :", program.Options{Files: strings.Fields(rules)[1:]}))(t)
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
			p := must.Get(program.Open(t.Context(), fmt.Sprintf("tee %s/$$ | %s %s", dir, name, test.game), program.Options{Files: []string{name}}))(t)
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
	return must.Get(solveInto(t, t.TempDir(), g, func(*solve.Options) {}))(t)
}

// solveInto solves a game into a directory, with changed options.
func solveInto(t testing.TB, dir string, g game.Game, change func(*solve.Options)) (positions uint64, err error) {
	t.Helper()
	o := solve.Options{Runner: &inline.Runner{}, Reducers: 1, Combine: true, Final: solve.FinalNo, UntilTier: -1}
	change(&o)
	data := must.Get(store.Create(store.Local{}, dir, g.Spec(), store.Fresh, solve.IsRunArtifact, nil))(t)
	defer func() { must.OK(t, data.Close()) }()
	result, err := solve.Run(t.Context(), data, g, o)
	return result.Positions, err
}

// TestRandomRules solves random rules programs, and compares every value, or the refusal, with brute force.
func TestRandomRules(t *testing.T) { randomRules(t, 0, 30) }

// TestLongRandomRules is TestRandomRules for more programs.
func TestLongRandomRules(t *testing.T) {
	longtest.Skip(t)
	randomRules(t, 30, 300)
}

func randomRules(t *testing.T, from, to uint64) {
	name, kinds := server(t), make(map[string]int)
	for seed := from; seed < to; seed++ {
		g := naive.RandomRules(rand.New(rand.NewPCG(48, seed)))
		want, refused := g.Solve()
		file := filepath.Join(t.TempDir(), "answers")
		must.OK(t, os.WriteFile(file, []byte(g.Answers()), 0o666))
		what := fmt.Sprintf("tiers %v, loops %v, players %v, puzzle %v, %q", g.Tiers >= 0, len(g.Loops) > 0, g.Players, g.Puzzle, refused)
		kinds[what]++
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { compareRules(t, name+" answers "+file, g, want, refused, int(seed)) }) {
			t.Logf("program %d: %s", seed, what)
		}
	}
	for what, n := range kinds {
		t.Logf("%3d programs: %s", n, what)
	}
}

// compareRules solves the game of a rules program, and compares it with the values of the positions that play can reach, or
// with the reason why it must be refused.
func compareRules(t *testing.T, command string, brute *naive.Rules, want map[uint64]naive.Worth, refused string, seed int) {
	g := must.Get(open(t, command).Kind().New([]int{0}))(t)
	_, err := program.Check(t.Context(), g, 50, uint64(seed))
	dir := t.TempDir()
	if err == nil {
		_, err = solveInto(t, dir, g, func(o *solve.Options) {
			o.Reducers, o.Lines = 1+seed%3, seed%2 == 1
		})
	}
	if refused != "" || err != nil {
		if refused == "" || err == nil || !strings.Contains(err.Error(), refused) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, refused)
		}
		return
	}
	solved := must.Get(table.OpenOf(store.Local{}, dir, g))(t)
	defer solved.Close()
	n := 0
	for batch, err := range solved.All() {
		must.OK(t, err)
		for i, p := range batch.Positions {
			v := batch.Values[i]
			result := game.Result(v.Outcome())
			if !g.Values().OfMover {
				result = v.Outcome().For(game.Player(brute.Mover(p)))
			}
			if got := (naive.Worth{Result: result.String(), Remoteness: v.Remoteness()}); got != want[p] {
				t.Errorf("position %d: %v, want %v", p, got, want[p])
			}
		}
		n += len(batch.Positions)
	}
	if n != len(want) {
		t.Errorf("%d positions, want %d", n, len(want))
	}
	must.Get(solved.Verify(t.Context()))(t)
	for _, sample := range []uint64{0, 7} {
		_, _, err := table.Rules{Sample: sample}.Verify(t.Context(), solved)
		must.OK(t, err)
	}
}

// TestManyMoves solves a game whose start has many moves, with long names.
func TestManyMoves(t *testing.T) {
	var text strings.Builder
	text.WriteString("treereduce rules 1\nname many\nbits 64\nstart 0\ntiers 1\n\n0\t")
	ends := ""
	for i := range 1000 {
		to := math.MaxUint64 - uint64(i)
		fmt.Fprintf(&text, "%s%0100d:%d", " "[:min(i, 1)], i, to)
		ends += fmt.Sprintf("\n%d\tlose", to)
	}
	file := filepath.Join(t.TempDir(), "many")
	must.OK(t, os.WriteFile(file, []byte(text.String()+ends+"\n"), 0o666))
	g := must.Get(open(t, server(t)+" answers "+file).Kind().New([]int{0}))(t)
	if n, err := program.Check(t.Context(), g, 500, 1); n != 500 || err != nil {
		t.Errorf("%d positions, %v", n, err)
	}
	if n := solveNew(t, g); n != 1001 {
		t.Errorf("%d positions, want 1001", n)
	}
}

// TestDecimal checks that messages write positions of a rules program as it does.
func TestDecimal(t *testing.T) {
	g := must.Get(open(t, script(t, `tiers 3\n`, `0) echo 200 ;; 200) echo 130 ;;`)).Kind().New([]int{0}))(t)
	want := "position 200: a move leads from tier 3 to 130 of tier 2,"
	if _, err := solveInto(t, t.TempDir(), g, func(*solve.Options) {}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTurns checks games without tiers. Where positions show whose turn it is, values name the winner, and a player may
// move twice in a row.
func TestTurns(t *testing.T) {
	for more, answers := range map[string]string{
		"":               "0) echo 1 2 ;; 1) echo 2 ;; *) echo lose ;;",
		`players A, B\n`: "0) echo 1 1 2 ;; 1) echo 1 2 ;; *) echo 2 lose ;;",
	} {
		g := must.Get(open(t, script(t, more, answers)).Kind().New([]int{0}))(t)
		if n, err := program.Check(t.Context(), g, 100, 1); n != 3 || err != nil {
			t.Errorf("%q: %d positions, %v", more, n, err)
		}
		if vs := g.Values(); vs.OfMover != (more == "") || !vs.TiesSoon {
			t.Errorf("%q: values %+v", more, vs)
		}
	}
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
