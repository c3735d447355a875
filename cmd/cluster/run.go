package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// run runs the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	commands := []*cli.Command{
		clusterCommand("up", "start what does not run, and wait until it is ready", up,
			&cli.BoolFlag{Name: "free-ports", Usage: "take free ports rather than Hadoop's standard ones"}),
		clusterCommand("down", "stop everything", down),
		clusterCommand("status", "a line for each daemon; exit 1 if not all run", status),
	}
	return command.Run(&cli.App{
		Name: "cluster", Usage: "a real Hadoop on this machine",
		Commands: commands, Action: command.Unknown("command", command.Names(commands)),
	}, args, nil, stdout, stderr)
}

// clusterCommand returns a command on the cluster of --dir. The action's error may have several
// lines.
func clusterCommand(name, usage string, action func(context.Context, *cli.Context) error, flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage,
		Flags: append(flags, &cli.StringFlag{Name: "dir", Usage: "folder of the cluster", Value: filepath.Join("build", "cluster")}),
		Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ""); err != nil {
				return err
			}
			ctx, stop := command.Interruptible(c.Context)
			defer stop()
			err := action(ctx, c)
			switch {
			case err == nil:
				return nil
			case ctx.Err() != nil:
				return command.ErrInterrupted
			}
			fmt.Fprintln(c.App.ErrWriter, err)
			return command.ErrReported
		},
	}
}

func up(ctx context.Context, c *cli.Context) error {
	cl, err := minicluster.Up(ctx, minicluster.Config{
		Dir: c.String("dir"), FreePorts: c.Bool("free-ports"), Log: c.App.ErrWriter,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "file system: %s\njobs:        %s\nhistory:     %s\nuse it:      . %s\n",
		cl.DefaultFS(), cl.Web(minicluster.ResourceManager), cl.Web(minicluster.JobHistoryServer),
		filepath.Join(c.String("dir"), "env.sh"))
	return nil
}

// down does nothing if there is no cluster, so that it can be called at any time.
func down(ctx context.Context, c *cli.Context) error {
	cl, err := minicluster.Open(c.String("dir"))
	if errors.Is(err, minicluster.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return cl.Down(ctx)
}

func status(_ context.Context, c *cli.Context) error {
	cl, err := minicluster.Open(c.String("dir"))
	if err != nil {
		return err
	}
	var dead []string
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	for _, s := range cl.Status() {
		if s.PID == 0 {
			dead = append(dead, string(s.Daemon))
			fmt.Fprintf(w, "%s\tnot running\t-\t%s\n", s.Daemon, s.Web)
			continue
		}
		fmt.Fprintf(w, "%s\trunning\t%d\t%s\n", s.Daemon, s.PID, s.Web)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if dead != nil {
		return fmt.Errorf("cluster: not running: %s", strings.Join(dead, ", "))
	}
	return nil
}
