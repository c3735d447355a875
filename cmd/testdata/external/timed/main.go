// Timed is a driver with a runner of its own: it executes jobs in this process, and appends the time of
// each to a file.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/game"

	"external/games"
)

// timed is a driver.JobRunner.
type timed struct {
	driver.JobRunner
	file string
}

func (r timed) Run(ctx context.Context, job *driver.Job) (driver.Stats, error) {
	begun := time.Now()
	stats, err := r.JobRunner.Run(ctx, job)
	if err != nil {
		return stats, err
	}
	out, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return stats, err
	}
	defer out.Close()
	_, err = fmt.Fprintf(out, "%s\t%d\t%v\n", job.Name, stats.Records, time.Since(begun))
	return stats, err
}

// Preflight refuses a run without --times. It implements driver.Preflighter.
func (r timed) Preflight(context.Context, game.Game, driver.Codec, string) error {
	if r.file == "" {
		return fmt.Errorf("--runner timed requires --times FILE")
	}
	return nil
}

func main() {
	var file string
	driver.Extension{Runners: []driver.Runner{{
		Name: "timed", Usage: "this process, and the time of each job", Model: "inline",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "times", Destination: &file, Usage: "`FILE` of the times of --runner timed"}},
		Memory: func(_ game.Method, given int, _ *driver.Options) (least, own int) { return 80 << 20, given },
		New:    func(s *driver.Start) (driver.JobRunner, error) { return timed{driver.Inline(s.Memory), file}, nil },
	}}}.Main(games.Kinds()...)
}
