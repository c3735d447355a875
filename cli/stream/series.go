package stream

import (
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner/series"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// streamSeries runs consecutive jobs in this process.
func streamSeries(c *cli.Context, m game.Method) error {
	runtime.GOMAXPROCS(1) // a task has one core of its node
	files, err := openFiles(c, reduceSide(), new(step.Options), "the directories of the jobs")
	if err != nil {
		return err
	}
	defer files.Close()
	return series.Run(c.Context, c.App.Reader, c.App.Writer, files.FS, files.Path, m)
}
