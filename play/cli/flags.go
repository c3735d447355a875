package play

import (
	"fmt"
	"log"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/search"
)

// byDefault is the default memory of a search.
const byDefault = "85M"

// searchFlags returns the flags of commands that search; memory describes the default of
// --memory.
func searchFlags(memory string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "memory", Usage: "size of the table of positions, e.g. 64M or 4G", DefaultText: memory},
		&cli.IntFlag{Name: "threads", Usage: fmt.Sprintf("number of cores for the search, at most %d", search.MaxThreads), DefaultText: "all"},
	}
}

// logOf returns the log of a command's messages, on stderr.
func logOf(c *cli.Context) *log.Logger { return log.New(c.App.ErrWriter, c.App.Name+": ", 0) }

// searchOptions returns the search options that --memory and --threads set.
func searchOptions(c *cli.Context) (o search.Options, err error) {
	if o.Memory, err = command.Size(c, "memory"); err != nil {
		return o, err
	}
	if !c.IsSet("threads") {
		o.Threads = min(runtime.GOMAXPROCS(0), search.MaxThreads)
		return o, nil
	}
	o.Threads = c.Int("threads")
	if o.Threads < 1 || o.Threads > search.MaxThreads {
		return o, command.Usagef("--threads %d: expected 1 to %d", o.Threads, search.MaxThreads)
	}
	return o, nil
}

// searcherOf returns a searcher of a game with these options.
func searcherOf(c *cli.Context, g game.Game) (*search.Searcher, error) {
	o, err := searchOptions(c)
	if err != nil {
		return nil, err
	}
	s, err := search.New(g, o)
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	return s, nil
}
