package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/sandbox"
)

// RulesVariable is the environment variable that replaces --rules-program. WithRules sets it for the
// processes that this one starts.
const RulesVariable = "TREEREDUCE_RULES"

// RulesProperty is the property of a job on a cluster that has the command.
const RulesProperty = "rules"

// RulesFlag is the name of the flag --rules-program.
const RulesFlag = "rules-program"

// SandboxFlag is the name of the flag that runs the rules program with limits, and SandboxVariable the environment
// variable that replaces it. WithRules sets it for the processes that this one starts.
const (
	SandboxFlag     = "sandbox"
	SandboxVariable = "TREEREDUCE_SANDBOX"
)

// WithRules calls run with the games, the arguments without --rules-program, and the program that it names, or
// the environment; its game is one more game. The program is nil if none is named, or if only the environment names
// one and of is a game of ours, the one that the arguments ask for. It ends before WithRules
// returns. If a question fails later, in a method that returns no error, WithRules ends this process. A signal ends the
// program, from its start on, and this process if run has no context of Interruptible. The context is for Run.
func WithRules(games game.Kinds, of string, args []string, stderr io.Writer, run func(context.Context, game.Kinds, []string, *program.Program) int) int {
	name, boxed, args, err := rulesProgram(args)
	if err != nil {
		return Exit(args, err, stderr)
	}
	if _, ours := games.Named(of); name == "" && !ours {
		name = cmp.Or(os.Getenv(RulesVariable), os.Getenv(Environment(RulesProperty)[0]))
	}
	ctx, received := withSignals(context.Background())
	if name == "" && boxed {
		return Exit(args, Usagef("--%s: expected --%s COMMAND, the program that it limits", SandboxFlag, RulesFlag), stderr)
	}
	if name == "" {
		return run(ctx, games, args, nil)
	}
	ctx, stop := received.notify(ctx)
	defer stop()
	o := program.Options{Notice: func(line string) { fmt.Fprintf(stderr, "%s: %s\n", filepath.Base(args[0]), Printable(line)) }}
	var p *program.Program
	var failed sync.Mutex // is never unlocked: one error ends this process
	o.Fail = func(err error) {
		failed.Lock()
		p.Close()
		os.Exit(received.exitCode(Exit(args, Stopped(ctx, err), stderr)))
	}
	if boxed || os.Getenv(SandboxVariable) != "" {
		if o.Sandbox, err = sandbox.New(ctx, sandbox.Default); err != nil {
			err = fmt.Errorf("--%s: %w", SandboxFlag, err)
		} else {
			err = os.Setenv(SandboxVariable, "1")
		}
	}
	if err == nil {
		p, err = program.Open(ctx, name, o)
	}
	if err != nil {
		return received.exitCode(Exit(args, Stopped(ctx, err), stderr))
	}
	defer p.Close()
	unwatch := context.AfterFunc(ctx, func() {
		if received.awaiting.Load() == 0 {
			o.Fail(ErrInterrupted)
		}
	})
	defer unwatch()
	kind := p.Kind()
	if _, taken := games.Named(kind.Name); taken {
		return Exit(args, fmt.Errorf("rules program %q: there is another game %s: choose another name", name, kind.Name), stderr)
	}
	if err := os.Setenv(RulesVariable, name); err != nil {
		return Exit(args, err, stderr)
	}
	return run(ctx, append(slices.Clone(games), kind), args, p)
}

// GameIn returns the name of one of games that is among the first two words of a command line after its own name: solve
// mnk, or tui mnk, or mnk.
func GameIn(games game.Kinds, args []string) string {
	for _, word := range args[min(1, len(args)):min(3, len(args))] {
		if _, ok := games.Named(word); ok {
			return word
		}
	}
	return ""
}

// rulesProgram returns the value of --rules-program, whether there is --sandbox, and the other arguments.
func rulesProgram(args []string) (name string, boxed bool, others []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		flag := aFlag.FindStringSubmatch(word)
		switch {
		case word == "--":
			return name, boxed, append(append(others, word), args...), nil
		case word == "--"+SandboxFlag || word == "-"+SandboxFlag:
			boxed = true
		case flag == nil || flag[1] != RulesFlag:
			others = append(others, word)
		case flag[2] != "":
			name = flag[2][1:] // without =
		case len(args) == 0:
			return "", boxed, others, Usagef("--%s: expected a command", RulesFlag)
		default:
			name, args = args[0], args[1:]
		}
	}
	return name, boxed, others, nil
}
