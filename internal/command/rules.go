package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/sandbox"
)

// RulesVariable and FilesVariable are the environment variables that replace --rules-program and --rules-files.
// WithRules sets them for the processes that this one starts, except the program.
const RulesVariable, FilesVariable = "TREEREDUCE_RULES", "TREEREDUCE_RULES_FILES"

// RulesProperty and FilesProperty are the properties of a job on a cluster that have their values.
const RulesProperty, FilesProperty = "rules", "rules-files"

// RulesFlag and FilesFlag are the names of the flags --rules-program and --rules-files.
const RulesFlag, FilesFlag = "rules-program", "rules-files"

// SandboxFlag is the name of the flag that runs the rules program with limits, and SandboxVariable the environment
// variable that replaces it. WithRules sets it for the processes that this one starts.
const (
	SandboxFlag     = "sandbox"
	SandboxVariable = "TREEREDUCE_SANDBOX"
)

// WithRules calls run with the games, the arguments without these flags, and the program that they name, or
// the environment; its game is one more game. The program is nil if none is named, or if only the environment names
// one and either of returns a game of ours, the one that the arguments ask for, or they need no games. Help does without a
// program of the environment that cannot start. The program ends before WithRules returns. If a question fails later, in a
// method that returns no error, WithRules ends this process. A signal ends the program, from its start on, and this process
// if run has no context of Interruptible. The context is for Run.
func WithRules(games game.Kinds, of func() string, args []string, stderr io.Writer, run func(context.Context, game.Kinds, []string, *program.Program) int) int {
	values, args, err := rulesFlags(args)
	if err != nil {
		return Exit(args, err, stderr)
	}
	rulesProperty, filesProperty := Environment(RulesProperty)[0], Environment(FilesProperty)[0]
	name, where := values[RulesFlag], "--"+RulesFlag
	for _, variable := range []string{RulesVariable, rulesProperty} {
		if program := os.Getenv(variable); name == "" && program != "" && !withoutGames(args[1:]) {
			if _, ours := games.Named(of()); !ours {
				name, where = program, variable
			}
		}
	}
	signalled, received := withSignals(context.Background())
	for _, other := range []string{FilesFlag, SandboxFlag} {
		if name == "" && values[other] != "" {
			return Exit(args, Usagef("--%s: expected --%s as well", other, RulesFlag), stderr)
		}
	}
	if name == "" {
		return run(signalled, games, args, nil)
	}
	ctx, stop := received.notify(signalled)
	defer stop()
	files := cmp.Or(values[FilesFlag], os.Getenv(FilesVariable), os.Getenv(filesProperty))
	o := program.Options{
		Files:  filepath.SplitList(files),
		Hidden: []string{RulesVariable, FilesVariable, rulesProperty, filesProperty}, // a driver that it starts would start it again
		Notice: func(line string) { fmt.Fprintf(stderr, "%s: %s\n", filepath.Base(args[0]), Printable(line)) },
	}
	var p *program.Program
	var failed sync.Mutex // is never unlocked: one error ends this process
	o.Fail = func(err error) {
		failed.Lock()
		p.Close()
		os.Exit(received.exitCode(Exit(args, Stopped(ctx, err), stderr)))
	}
	if values[SandboxFlag] != "" || os.Getenv(SandboxVariable) != "" {
		if o.Sandbox, err = sandbox.New(ctx, sandbox.Default); err != nil {
			err = fmt.Errorf("--%s: %w", SandboxFlag, err)
		} else {
			err = os.Setenv(SandboxVariable, "1")
		}
	}
	if err == nil {
		if p, err = program.Open(ctx, name, o); err == nil {
			defer p.Close()
			if kind := p.Kind().Name; slices.Contains(games.Names(), kind) {
				err = fmt.Errorf("rules program %q: there is another game %s: choose another name", name, kind)
			}
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", where, err)
		}
	}
	if err != nil {
		code := received.exitCode(Exit(args, Stopped(ctx, err), stderr))
		if where == "--"+RulesFlag || !asksHelp(args[1:]) || ctx.Err() != nil {
			return code
		}
		stop()
		return run(signalled, games, args, nil)
	}
	unwatch := context.AfterFunc(ctx, func() {
		if received.awaiting.Load() == 0 {
			o.Fail(ErrInterrupted)
		}
	})
	defer unwatch()
	if err := cmp.Or(os.Setenv(RulesVariable, name), os.Setenv(FilesVariable, files)); err != nil {
		return Exit(args, err, stderr)
	}
	return run(ctx, append(slices.Clone(games), p.Kind()), args, p)
}

// withoutGames reports whether a command line, without its own name, needs no list of games.
func withoutGames(words []string) bool {
	return len(words) > 0 && (words[0] == "completion" || words[0] == manPage || isFlag(words[0], cli.VersionFlag))
}

// asksHelp reports whether a command line, without its own name, asks for help or a completion. One without words prints how
// to begin.
func asksHelp(words []string) bool {
	if len(words) == 0 || words[0] == "help" || words[len(words)-1] == completing {
		return true
	}
	end := slices.Index(append(slices.Clone(words), "--"), "--")
	return slices.ContainsFunc(words[:end], func(word string) bool { return isFlag(word, cli.HelpFlag) })
}

// isFlag reports whether a word is a flag.
func isFlag(word string, f cli.Flag) bool {
	flag := aFlag.FindStringSubmatch(word)
	return flag != nil && slices.Contains(f.Names(), flag[1])
}

// GameIn returns the name of one of games that is among the first two words of a command line after its own name and help:
// solve mnk, or tui mnk, or mnk.
func GameIn(games game.Kinds, args []string) string {
	words := args[min(1, len(args)):]
	if len(words) > 0 && words[0] == "help" {
		words = words[1:]
	}
	for _, word := range words[:min(2, len(words))] {
		if _, ok := games.Named(word); ok {
			return word
		}
	}
	return ""
}

// rulesFlags returns the values of the flags of a rules program by their names, --rules-files as a path list, and the other
// arguments.
func rulesFlags(args []string) (values map[string]string, others []string, err error) {
	values = make(map[string]string)
	given, others := ValuesOf(args, RulesFlag, FilesFlag)
	for name, what := range map[string]string{RulesFlag: "a command", FilesFlag: "a file"} {
		if all := given[name]; slices.Contains(all, "") {
			return nil, others, Usagef("--%s: expected %s", name, what)
		} else if len(all) > 0 {
			values[name] = all[len(all)-1]
		}
	}
	values[FilesFlag] = strings.Join(given[FilesFlag], string(os.PathListSeparator))
	end := slices.Index(append(others, "--"), "--")
	if i := slices.IndexFunc(others[:end], func(word string) bool { return strings.TrimLeft(word, "-") == SandboxFlag && word != SandboxFlag }); i >= 0 {
		values[SandboxFlag], others = "1", slices.Delete(others, i, i+1)
	}
	return values, others, nil
}
