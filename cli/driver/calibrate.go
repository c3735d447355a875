package driver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/treereduce/treereduce/internal/system"
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
			name, data := c.String("to"), c.String("data")
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
			o := calibrate.Options{Time: c.Duration("time"), Progress: bar.Doing}
			if runner == plan.Inline {
				o.Dir = data
			}
			if c.Bool("busy") {
				o.Probe = func() float64 { return 1 }
			}
			r, err := plan.ReadRates(name)
			if runner == plan.Inline || errors.Is(err, fs.ErrNotExist) {
				var old *plan.Rates
				if err == nil {
					old = r
				}
				r, err = calibrateHere(ctx, o, old)
			}
			if err == nil && runner == plan.Hadoop {
				err = calibrateCluster(ctx, cmp.Or(data, "calibrate"), bar, r)
			}
			bar.End()
			if err := command.Stopped(ctx, err); err != nil {
				return err
			}
			if err := plan.WriteRates(name, r); err != nil {
				return err
			}
			printRates(c.App.Writer, name, r, runner)
			return nil
		},
	}
}

// calibrateHere measures this machine in the new directory o.Dir, or, if that is "", in a temporary one.
// It keeps the measured rates of a cluster from old.
func calibrateHere(ctx context.Context, o calibrate.Options, old *plan.Rates) (*plan.Rates, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o.Self = []string{self, "--version"}
	if o.Dir == "" {
		o.Dir, err = os.MkdirTemp("", "treereduce-calibrate-")
	} else {
		err = os.Mkdir(o.Dir, 0o777)
	}
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(o.Dir)
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

// calibrateCluster measures the cluster with runs of this program in a new directory of HDFS.
func calibrateCluster(ctx context.Context, dir string, bar *progress.Line, r *plan.Rates) error {
	self, err := os.Executable()
	if err != nil {
		return err
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
		var out bytes.Buffer
		cmd := exec.Command(self, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		group, err := system.Start(context.WithoutCancel(ctx), cmd)
		if err == nil {
			stop := context.AfterFunc(ctx, func() { cmd.Process.Signal(os.Interrupt) }) // so that it ends its jobs
			err = cmd.Wait()
			stop()
			group.Kill()
		}
		if err != nil {
			return fmt.Errorf("driver %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(out.String()))
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
func printRates(out io.Writer, name string, r *plan.Rates, runner string) {
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
