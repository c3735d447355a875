package play

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/search"
)

// byDefault is the memory of a search.
const byDefault = "85M"

// searchFlags are those of whatever searches; memory says how much it is by default.
func searchFlags(memory string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "memory", Usage: "of the table of positions, e.g. 64M or 4G", DefaultText: memory},
		&cli.IntFlag{Name: "threads", Usage: "search on so many cores", DefaultText: "all"},
	}
}

// memoryOf is --memory in bytes; 0: not given.
func memoryOf(c *cli.Context) (int64, error) {
	if !c.IsSet("memory") {
		return 0, nil
	}
	n, err := command.ParseSize(c.String("memory"))
	if err == nil && n == 0 {
		err = command.Usagef("expected more than 0")
	}
	if err != nil {
		return 0, command.Usagef("--memory: %w", err)
	}
	return n, nil
}

// searchOptions are the options of a search by --memory and --threads.
func searchOptions(c *cli.Context) (o search.Options, err error) {
	if o.Memory, err = memoryOf(c); err != nil {
		return o, err
	}
	if o.Threads = c.Int("threads"); c.IsSet("threads") && o.Threads < 1 {
		return o, command.Usagef("--threads %d: expected 1 or more", o.Threads)
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	return o, nil
}
