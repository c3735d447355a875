package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// A usageError is an error in the command line.
type usageError struct{ error }

// run runs the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := app(stdout, stderr).RunContext(ctx, args)
	if err == nil {
		return exitDone
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "cluster: %v\ncluster: see cluster --help\n", err)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "cluster: stopped")
		return exitInterrupted
	}
	fmt.Fprintln(stderr, err)
	return exitFailed
}

// app returns the command line.
func app(stdout, stderr io.Writer) *cli.App {
	dir := &cli.StringFlag{Name: "dir", Usage: "folder of the cluster", Value: filepath.Join("build", "cluster")}
	free := &cli.BoolFlag{Name: "free-ports", Usage: "take free ports rather than Hadoop's standard ones"}
	onUsage := func(_ *cli.Context, err error, _ bool) error { return usageError{err} }
	command := func(name, usage string, action cli.ActionFunc, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, Flags: append(flags, dir), OnUsageError: onUsage,
			Action: func(c *cli.Context) error {
				if c.Args().Present() {
					return usageError{fmt.Errorf("unexpected %q", c.Args().First())}
				}
				return action(c)
			},
		}
	}
	return &cli.App{
		Name:           "cluster",
		Usage:          "a real Hadoop on this machine",
		HideVersion:    true,
		Writer:         stdout,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsage,
		Commands: []*cli.Command{
			command("up", "start what does not run, and wait until it is ready", up, free),
			command("down", "stop everything", down),
			command("status", "a line for each daemon; exit 1 if not all run", status),
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usageError{fmt.Errorf("unknown command %q", c.Args().First())}
			}
			return usageError{errors.New("expected a command: up, down, status")}
		},
	}
}

func up(c *cli.Context) error {
	cl, err := minicluster.Up(c.Context, minicluster.Config{
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
func down(c *cli.Context) error {
	cl, err := minicluster.Open(c.String("dir"))
	if errors.Is(err, minicluster.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return cl.Down(c.Context)
}

func status(c *cli.Context) error {
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
