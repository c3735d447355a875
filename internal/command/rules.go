package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
)

// RulesVariable and FilesVariable are the environment variables that replace --rules-program and --rules-files.
// WithRules sets them for the processes that this one starts.
const RulesVariable, FilesVariable = "TREEREDUCE_RULES", "TREEREDUCE_RULES_FILES"

// RulesProperty and FilesProperty are the properties of a job on a cluster that have their values.
const RulesProperty, FilesProperty = "rules", "rules-files"

// RulesFlag and FilesFlag are the names of the flags --rules-program and --rules-files.
const RulesFlag, FilesFlag = "rules-program", "rules-files"

// WithRules calls run with the games, the arguments without these flags, and the program that they name, or
// the environment; its game is one more game. The program is nil if none is named, or if only the environment names
// one and of is a game of ours, the one that the arguments ask for. It ends before WithRules
// returns. If a question fails later, in a method that returns no error, WithRules ends this process.
func WithRules(games game.Kinds, of string, args []string, stderr io.Writer, run func(game.Kinds, []string, *program.Program) int) int {
	name, files, args, err := rulesProgram(args)
	if err != nil {
		return Exit(args, err, stderr)
	}
	if _, ours := games.Named(of); name == "" && !ours {
		name = cmp.Or(os.Getenv(RulesVariable), os.Getenv(Environment(RulesProperty)[0]))
	}
	if name == "" && files != "" {
		return Exit(args, Usagef("--%s: expected --%s as well", FilesFlag, RulesFlag), stderr)
	}
	if name == "" {
		return run(games, args, nil)
	}
	files = cmp.Or(files, os.Getenv(FilesVariable), os.Getenv(Environment(FilesProperty)[0]))
	var p *program.Program
	fail := func(err error) {
		p.Close()
		os.Exit(Exit(args, err, stderr))
	}
	if p, err = program.Open(name, program.Options{Fail: fail, Files: filepath.SplitList(files)}); err != nil {
		return Exit(args, err, stderr)
	}
	defer p.Close()
	kind := p.Kind()
	if _, taken := games.Named(kind.Name); taken {
		return Exit(args, fmt.Errorf("rules program %q: there is another game %s: choose another name", name, kind.Name), stderr)
	}
	if err := cmp.Or(os.Setenv(RulesVariable, name), os.Setenv(FilesVariable, files)); err != nil {
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

// rulesProgram returns the values of --rules-program and --rules-files, the latter as a path list, and the other arguments.
func rulesProgram(args []string) (name, files string, others []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		flag := aFlag.FindStringSubmatch(word)
		switch {
		case word == "--":
			return name, files, append(append(others, word), args...), nil
		case flag == nil || flag[1] != RulesFlag && flag[1] != FilesFlag:
			others = append(others, word)
			continue
		case flag[2] == "" && len(args) == 0:
			return "", "", others, Usagef("--%s: expected %s", flag[1], map[string]string{RulesFlag: "a command", FilesFlag: "a file"}[flag[1]])
		case flag[2] == "":
			flag[2], args = "="+args[0], args[1:]
		}
		value := flag[2][1:] // without =
		switch {
		case flag[1] == RulesFlag:
			name = value
		case files != "":
			files += string(os.PathListSeparator) + value
		default:
			files = value
		}
	}
	return name, files, others, nil
}
