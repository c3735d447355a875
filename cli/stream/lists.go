package stream

import (
	"fmt"
	"io"
	"os"
	"path"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// streamLists runs one side of a step of a game that is solved by lists. The output of a
// reducer is its shard; its messages to other tiers go to files.
func streamLists(c *cli.Context, name string, g game.Acyclic, work side, o step.Options) (n step.Counters, err error) {
	if o.Tier, err = tierOf(c, g); err != nil {
		return n, err
	}
	if work.reduces && name != step.Final {
		if name != step.Init && o.Tier < 0 {
			return n, command.Usagef("missing --tier (or %s in the environment): the tier of the positions", command.Environment("tier")[0])
		}
		output, err := outputOf(c, "the outgoing edges")
		if err != nil {
			return n, err
		}
		defer output.Close()
		o.Part = c.Int("part")
		if os.Getenv(command.Environment("packed")[0]) == "true" {
			o.Told = jobdir.Blocks
		}
		o.Create = createIn(output)
	}
	return work.lists(name, g, c.App.Reader, c.App.Writer, o)
}

// createIn returns a function that creates files in a directory.
func createIn(place *filesys.Place) func(name string) (io.WriteCloser, error) {
	return func(name string) (io.WriteCloser, error) { return place.FS.Create(path.Join(place.Path, name)) }
}

// tierOf returns the tier of a job, or -1 if --tier is not given.
func tierOf(c *cli.Context, g game.Acyclic) (int, error) {
	if !c.IsSet("tier") {
		return -1, nil
	}
	tier := c.Int("tier")
	if tier < 0 || tier > g.Tiers() {
		return 0, command.Usagef("--tier %d: expected 0 to %d", tier, g.Tiers())
	}
	return tier, nil
}

// outputOf returns the directory for the files that a reducer writes in addition to its output;
// what describes them in errors.
func outputOf(c *cli.Context, what string) (*filesys.Place, error) {
	if c.String("output") == "" {
		return nil, command.Usagef("--output is missing: the directory for %s", what)
	}
	place, err := filesAt(c.String("output"))
	if err != nil {
		return nil, fmt.Errorf("--output %s: %w", c.String("output"), err)
	}
	// On this machine the directory exists already. If it was removed with the attempt of a
	// driver that died, it must not be created again.
	if place.HDFS != nil {
		err = place.FS.MkdirAll(place.Path)
	}
	return place, err
}
