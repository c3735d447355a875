package driver

import (
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
)

// rangesCommand returns driver ranges, for games whose tiers have ranges. For others only the driver knows
// the boundaries of the partitions: it divides lists by what an earlier tier has written, and a
// pass over a game with cycles that is run by hand does not write the index that the next pass
// needs.
func rangesCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:  "ranges",
		Usage: "write the file of ranges for a job with several reducers",
		Description: "It makes the output files of a job ordered, as later jobs and DIR/final require:\n" +
			"-D mapreduce.totalorderpartitioner.path=FILE -D mapreduce.totalorderpartitioner.naturalorder=false\n" +
			"-partitioner org.apache.hadoop.mapred.lib.TotalOrderPartitioner",
		Flags: rangesFlags(),
	}, ranges)
}

func rangesFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "tier", Usage: "tier of the positions that the job writes", DefaultText: "required"},
		&cli.IntFlag{Name: "reducers", Usage: "number of reducers of the job", DefaultText: "required"},
		&cli.StringFlag{Name: "out", Usage: "`FILE`, on this machine or in HDFS (hdfs://host:port/path); - is stdout", Value: "-"},
	}
}

// ranges implements driver ranges.
func ranges(c *cli.Context, kind game.Kind) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	for _, name := range []string{"tier", "reducers"} {
		if !c.IsSet(name) {
			return command.Usagef("--%s is missing", name)
		}
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	keys, err := method.Of(g).Ranges(c.Int("tier"), c.Int("reducers"))
	if err != nil {
		return command.Usagef("%w", err)
	}
	return datadir.Write(c.App.Writer, "out", c.String("out"), streaming.Ranges(keys))
}
