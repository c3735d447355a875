package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/calibrate"
)

func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure this machine or a cluster for driver plan",
		Description: "It solves small games for about two minutes, on a machine that should be idle, and writes\n" +
			"the rates to a file. With --runner hadoop it runs jobs on the cluster of this machine's Hadoop, and adds\n" +
			"their rates to those of the machine, which are measured first if missing. On a busy machine it\n" +
			"fails, because the rates would be wrong.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "runner", Usage: "inline (this machine) or hadoop (the cluster)", Value: plan.Inline},
			&cli.StringFlag{Name: "to", Usage: "`FILE` to write the rates to", DefaultText: "treereduce/rates.json in the user's configuration directory"},
			&cli.DurationFlag{Name: "time", Usage: "approximate duration; below 20s the games are tiny and the rates rough", Value: 2 * time.Minute},
			&cli.StringFlag{Name: "data", Usage: "temporary `DIRECTORY` for the measurement: for inline on the disk of later runs, for hadoop in HDFS", DefaultText: "a new temporary directory; calibrate in HDFS"},
			&cli.BoolFlag{Name: "busy", Usage: "measure even if the machine is busy"},
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ""); err != nil {
				return err
			}
			if err := command.Positive(c, "time"); err != nil {
				return err
			}
			name := c.String("to")
			if name == "" {
				var err error
				if name, err = plan.RatesFile(); err != nil {
					return fmt.Errorf("%w: name a file with --to", err)
				}
			}
			runner := c.String("runner")
			if runner != plan.Inline && runner != plan.Hadoop {
				return command.Usagef("--runner %q: expected %s or %s", runner, plan.Inline, plan.Hadoop)
			}
			// Check that the file can be written before two minutes of measuring.
			if err := plan.MayWriteRates(name); err != nil {
				return err
			}
			ctx, stop := command.Interruptible(c.Context)
			defer stop()
			bar := progress.NewBar(c)
			r, err := plan.ReadRates(name)
			if runner == plan.Inline || errors.Is(err, fs.ErrNotExist) {
				var old *plan.Rates
				if err == nil {
					old = r
				}
				r, err = calibrateHere(ctx, c, bar, old)
			}
			if err == nil && runner == plan.Hadoop {
				err = calibrateCluster(ctx, c, bar, r)
			}
			bar.End()
			if ctx.Err() != nil {
				return command.ErrInterrupted
			}
			if err != nil {
				return err
			}
			if err := plan.WriteRates(name, r); err != nil {
				return err
			}
			printRates(c, name, r, runner)
			return nil
		},
	}
}

// calibrateHere measures this machine. It keeps the measured rates of a cluster from old.
func calibrateHere(ctx context.Context, c *cli.Context, bar *progress.Line, old *plan.Rates) (*plan.Rates, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir := c.String("data")
	if dir == "" || c.String("runner") != plan.Inline {
		if dir, err = os.MkdirTemp("", "treereduce-calibrate-"); err != nil {
			return nil, err
		}
	} else if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	o := calibrate.Options{Time: c.Duration("time"), Dir: dir, Self: []string{self, "--version"}, Progress: bar.Doing}
	if c.Bool("busy") {
		o.Probe = func() float64 { return 1 }
	}
	r, err := calibrate.Machine(ctx, o)
	if err == nil && old != nil {
		r.Cluster = old.Cluster
	}
	return r, err
}

// clusterRuns are the solves that measure a cluster. The first two solve a small board, whose
// largest tiers run as jobs on the cluster, in application masters and in containers; the third
// solves a larger board.
var clusterRuns = [...]struct{ what, flags string }{
	{"jobs in their application masters", "--width 4 --height 5 --connect 3 --cluster-above 30000"},
	{"jobs in containers", "--width 4 --height 5 --connect 3 --cluster-above 30000 -D mapreduce.job.ubertask.enable=false"},
	{"jobs with something to do", "--width 5 --height 5 --connect 4 --cluster-above 8000000"},
}

// calibrateCluster measures the cluster with runs of this program.
func calibrateCluster(ctx context.Context, c *cli.Context, bar *progress.Line, r *plan.Rates) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := c.String("data")
	if dir == "" {
		dir = "calibrate"
	}
	if dir, err = hadoop.InDefault(dir); err != nil {
		return datadir.Misnamed("data", err)
	}
	place, err := datadir.OpenFile("data", dir)
	if err != nil {
		return err
	}
	defer place.Close()
	place.EndWith(ctx)
	if err := freeFor(place.FS, place.Path); err != nil {
		return err
	}
	defer place.FS.RemoveAll(place.Path)
	var runs [len(clusterRuns)]calibrate.Run
	for i, run := range clusterRuns {
		bar.Doing("measuring the cluster: "+run.what, float64(i)/float64(len(clusterRuns)))
		args := append([]string{"solve", "connectn", "--runner", plan.Hadoop, "--data", dir, "--overwrite", "--final", "no"}, strings.Fields(run.flags)...)
		cmd := exec.CommandContext(ctx, self, args...)
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends its jobs
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("driver %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
		}
		journal, err := solve.ReadJournal(place.FS, place.Path)
		if err != nil {
			return err
		}
		runs[i] = calibrate.Run{Journal: journal, CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	}
	return calibrate.Cluster(r, runs[0], runs[1], runs[2], place.HDFS.Name(), time.Now().UTC().Truncate(time.Second))
}

// freeFor checks that a directory does not exist, so that calibrate may create and remove it.
func freeFor(fsys store.FS, dir string) error {
	switch _, err := fsys.Stat(dir); {
	case err == nil:
		return fmt.Errorf("%s exists already: --data must name a new directory", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: cannot check whether it exists: %w", dir, err)
	}
	return nil
}

// printRates prints the measured rates.
func printRates(c *cli.Context, name string, r *plan.Rates, runner string) {
	out := c.App.Writer
	b, l := &r.Blocks, &r.Lists
	fmt.Fprintf(out, "blocks: CPU %.1f ns per position and bit of its value, %.2f per slot, %.1f µs per range, %.1f ms per tier\n", b.Value, b.Slot, b.Range/1e3, 1e3*b.Tier)
	fmt.Fprintf(out, "lists: %.0f ns per position, %.0f per move into the next tier and %.0f beyond; states: %.0f ns per position, or %.0f ns per move without bitmap operations\n", l.Position, l.Move, l.Far, r.States.Position, r.States.Move)
	fmt.Fprintf(out, "serial: %.1f%% of the CPU, on %d cores\n", 100*r.Serial, r.Cores)
	fmt.Fprintf(out, "disk: writes %s/s, reads %s/s, %.1f ms per sync; starting a process: %.0f ms\n", numfmt.Bytes(r.Disk.Write), numfmt.Bytes(r.Disk.Read), 1e3*r.Disk.Sync, 1e3*r.Process)
	if runner == plan.Hadoop {
		fmt.Fprintf(out, "cluster %s: %.1f s to start a job, %.1f in its application master, CPU %.1f s of its client and %.1f of each task's Java; programs take %.1f times the CPU\n",
			r.Cluster.Name, r.Cluster.Job, r.Cluster.Uber, r.Cluster.Client, r.Cluster.Task, r.Cluster.Program)
	}
	fmt.Fprintf(out, "rates: %s\n", name)
}
