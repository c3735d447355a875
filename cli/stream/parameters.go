package stream

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// jobProperties are what the driver puts into a job's configuration, beside what is a
// flag of a step too.
var jobProperties = []string{step.BuildProperty, "packed", "parents", "reducers", "name-nodes"}

// checkParameters wants every parameter of a game to be given: a step that goes by
// another board than its neighbours makes other positions, and says nothing. So a
// name in the environment that looks like ours must be one that a step knows.
func checkParameters(c *cli.Context, kind game.Kind) error {
	var known []string
	for _, name := range jobProperties {
		known = append(known, command.Environment(name)...)
	}
	for _, f := range c.Command.Flags {
		if f, ok := f.(cli.DocGenerationFlag); ok {
			known = append(known, f.GetEnvVars()...)
		}
	}
	slices.Sort(known)
	prefix := command.Environment("")[0]
	known = slices.DeleteFunc(known, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, prefix) && !slices.Contains(known, name) {
			return command.Usagef("unknown %s in the environment, expected %s", name, strings.Join(known, ", "))
		}
	}
	var missing []string
	for _, p := range kind.Params {
		if !c.IsSet(p.Name) {
			missing = append(missing, fmt.Sprintf("--%s (or %s in the environment)", p.Name, command.Environment(p.Name)[0]))
		}
	}
	if len(missing) > 0 {
		return command.Usagef("%s: missing %s", kind.Name, strings.Join(missing, ", "))
	}
	if n := c.Int("memory"); n < 1 {
		return command.Usagef("--memory %d: expected 1 or more bytes", n)
	}
	if n := c.Int("part"); n < 0 {
		return command.Usagef("--part %d: expected 0 or more", n)
	}
	return nil
}
