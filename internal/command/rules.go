package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
)

// RulesVariable is the environment variable that replaces --rules-program. WithRules sets it for the
// processes that this one starts.
const RulesVariable = "TREEREDUCE_RULES"

// RulesProperty is the property of a job on a cluster that has the command.
const RulesProperty = "rules"

// RulesFlag is the name of the flag --rules-program.
const RulesFlag = "rules-program"

// WithRules calls run with the games, the arguments without --rules-program, and the program that it names, or
// the environment; its game is one more game. The program is nil if none is named, or if only the environment names
// one and of is a game of ours, the one that the arguments ask for. It ends before WithRules
// returns. If a question fails later, in a method that returns no error, WithRules ends this process.
func WithRules(games game.Kinds, of string, args []string, stderr io.Writer, run func(game.Kinds, []string, *program.Program) int) int {
	name, args, err := rulesProgram(args)
	if err != nil {
		return Exit(args, err, stderr)
	}
	if _, ours := games.Named(of); name == "" && !ours {
		name = cmp.Or(os.Getenv(RulesVariable), os.Getenv(Environment(RulesProperty)[0]))
	}
	if name == "" {
		return run(games, args, nil)
	}
	var p *program.Program
	fail := func(err error) {
		p.Close()
		os.Exit(Exit(args, err, stderr))
	}
	if p, err = program.Open(name, program.Options{Fail: fail}); err != nil {
		return Exit(args, err, stderr)
	}
	defer p.Close()
	kind := p.Kind()
	if _, taken := games.Named(kind.Name); taken {
		return Exit(args, fmt.Errorf("rules program %q: there is another game %s: choose another name", name, kind.Name), stderr)
	}
	if err := os.Setenv(RulesVariable, name); err != nil {
		return Exit(args, err, stderr)
	}
	return run(append(slices.Clone(games), kind), args, p)
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

// rulesProgram returns the value of --rules-program, and the other arguments.
func rulesProgram(args []string) (name string, others []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		flag := aFlag.FindStringSubmatch(word)
		switch {
		case word == "--":
			return name, append(append(others, word), args...), nil
		case flag == nil || flag[1] != RulesFlag:
			others = append(others, word)
		case flag[2] != "":
			name = flag[2][1:] // without =
		case len(args) == 0:
			return "", others, Usagef("--%s: expected a command", RulesFlag)
		default:
			name, args = args[0], args[1:]
		}
	}
	return name, others, nil
}
