package stream

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// jobProperties are the properties that the driver writes to a job's configuration and that are
// not flags of a step.
var jobProperties = []string{step.BuildProperty, step.DriverProperty, "data", "packed", "predecessors", "file-system", "name-nodes", command.RulesProperty, command.FilesProperty}

// checkParameters checks that every parameter of a game is given: a step with another board
// than its neighbours would silently compute other positions. For the same reason, an
// environment variable that looks like one of ours must be one that a step knows.
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
	return cmp.Or(command.AtLeast(c, 1, "memory"), command.AtLeast(c, 0, "part"))
}
