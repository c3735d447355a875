package driver

import (
	"errors"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/result/compare"
	"github.com/treereduce/treereduce/internal/trial"
)

// The suffixes of program names.
const (
	mapEnd    = "_map"
	reduceEnd = "_reduce"
)

// Validate implements RunnerOptions: it checks that the programs replace steps of the game.
func (p *pipeOptions) Validate(g game.Game) error {
	if p.compare && len(p.words.Value()) == 0 {
		return command.Usagef("--compare requires --program")
	}
	steps, cyclic := step.NamesOf(g), !game.IsAcyclic(g)
	var known []string
	for _, name := range steps {
		known = append(known, name+mapEnd)
		if !cyclic || name == step.Final {
			known = append(known, name+reduceEnd)
		}
	}
	p.programs = make(map[string]string)
	for _, word := range p.words.Value() {
		name, line, ok := strings.Cut(word, "=")
		of, reduces := strings.CutSuffix(name, reduceEnd)
		like := command.Like(name, known)
		switch {
		case !ok:
			return command.Usagef("--program %q: expected STEP=COMMAND, such as possible_map='python3 my_map.py'", word)
		case strings.TrimSpace(line) == "":
			return command.Usagef("--program %s: the command is missing", word)
		case p.programs[name] != "":
			return command.Usagef("--program %s: it is given twice", name)
		case slices.Contains(known, name):
		case reduces && cyclic && slices.Contains(steps, of):
			return command.Usagef("--program %s: this reducer writes packed states: expected one of %s", name, strings.Join(known, ", "))
		case like != "":
			return command.Usagef("--program %s: no such step: did you mean %s?", name, like)
		default:
			return command.Usagef("--program %s: no such step: expected one of %s", name, strings.Join(known, ", "))
		}
		p.programs[name] = line
	}
	return nil
}

// printWrong prints a wrong line and its input as boards and in words. It returns err.
func (r *run) printWrong(err error) error {
	if w := new(trial.WrongLine); errors.As(err, &w) {
		out := r.Context.App.Writer
		if r.flags.json {
			out = r.Context.App.ErrWriter
		}
		compare.Explain(out, r.Game, w)
	}
	return err
}
