//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
)

// run runs the command and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	commands := []*cli.Command{
		clusterCommand("up", "", "start what does not run, and wait until it is ready", up,
			&cli.BoolFlag{Name: "free-ports", Usage: "take free ports rather than Hadoop's standard ones"},
			&cli.IntFlag{Name: "nodes", Usage: "number of nodes with a DataNode and a NodeManager; default: as before, or 1"},
			&cli.BoolFlag{Name: "secure", Usage: "require Kerberos, with a KDC of its own"}),
		clusterCommand("down", "", "stop everything", down),
		clusterCommand("status", "", "a line for each daemon, or each of several nodes; exit 1 if not all run", status),
		clusterCommand("kill-node", "NODE", "kill the daemons and tasks of a node by SIGKILL", killNode,
			&cli.BoolFlag{Name: "remove-storage", Usage: "also delete its blocks and the files of its tasks"}),
		clusterCommand("start-node", "NODE", "start the daemons of a node, and wait until they are ready", startNode),
	}
	return command.Run(context.Background(), &cli.App{
		Name: "cluster", Usage: "a real Hadoop on this machine",
		Commands: commands, Action: command.Unknown("command", command.Names(commands)),
	}, args, nil, stdout, stderr)
}

// options are what a command line sets.
type options struct {
	minicluster.Config
	node          int // the argument
	removeStorage bool
	out           io.Writer
}

// clusterCommand returns a command on the cluster of --dir, with one argument or, if argument is
// empty, none. The action's error may have several lines.
func clusterCommand(name, argument, usage string, action func(context.Context, options) error, flags ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: argument,
		Flags: append(flags, &cli.StringFlag{Name: "dir", Usage: "folder of the cluster", Value: filepath.Join("build", "cluster")}),
		Action: func(c *cli.Context) error {
			node, err := strconv.Atoi(c.Args().First())
			if argument == "" {
				err = command.NoArguments(c, "")
			} else if err != nil || c.Args().Len() != 1 {
				err = command.Usagef("expected the number of a node, found %q", strings.Join(c.Args().Slice(), " "))
			}
			if err != nil {
				return err
			}
			ctx, stop := command.Interruptible(c.Context)
			defer stop()
			err = action(ctx, options{
				Config: minicluster.Config{Dir: c.String("dir"), FreePorts: c.Bool("free-ports"), Nodes: c.Int("nodes"), Secure: c.Bool("secure"), Log: c.App.ErrWriter},
				node:   node, removeStorage: c.Bool("remove-storage"), out: c.App.Writer,
			})
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

func up(ctx context.Context, o options) error {
	cl, err := minicluster.Up(ctx, o.Config)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, "file system: %s\njobs:        %s\nhistory:     %s\nuse it:      . %s\n",
		cl.DefaultFS(), cl.Web(minicluster.ResourceManager), cl.Web(minicluster.JobHistoryServer),
		filepath.Join(o.Dir, "env.sh"))
	if o.Secure {
		fmt.Fprintf(o.out, "log in:      export KRB5PRINCIPAL=%s KRB5KEYTAB=%s\n", cl.Principal(), cl.Keytab())
	}
	return nil
}

// down does nothing if there is no cluster, so that it can be called at any time.
func down(ctx context.Context, o options) error {
	cl, err := minicluster.Open(o.Dir)
	if errors.Is(err, minicluster.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return cl.Down(ctx)
}

func status(_ context.Context, o options) error {
	cl, err := minicluster.Open(o.Dir)
	if err != nil {
		return err
	}
	// A row is a daemon, or the daemons of one of several nodes with the web address of the last.
	type row struct {
		name, web string
		pids      []string
		dead      []string
	}
	var rows []*row
	nodes := make(map[int]*row)
	var dead []string
	for _, s := range cl.Status() {
		r := nodes[s.Node]
		if r == nil {
			r = &row{name: string(s.Daemon)}
			rows = append(rows, r)
		}
		if s.Node > 0 {
			nodes[s.Node], r.name = r, fmt.Sprintf("node %d", s.Node)
		}
		r.web = s.Web
		if s.PID == 0 {
			r.dead = append(r.dead, string(s.Daemon))
			dead = append(dead, string(s.Daemon))
			continue
		}
		r.pids = append(r.pids, strconv.Itoa(s.PID))
	}
	w := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		state := "running"
		switch {
		case r.pids == nil:
			state, r.pids = "not running", []string{"-"}
		case r.dead != nil:
			state = "no " + strings.Join(r.dead, ", ")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.name, state, strings.Join(r.pids, " "), r.web)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if dead != nil {
		return fmt.Errorf("cluster: not running: %s", strings.Join(dead, ", "))
	}
	return nil
}

func killNode(_ context.Context, o options) error {
	cl, err := minicluster.Open(o.Dir)
	if err != nil {
		return err
	}
	return cl.KillNode(o.node, o.removeStorage)
}

func startNode(ctx context.Context, o options) error {
	cl, err := minicluster.Open(o.Dir)
	if err != nil {
		return err
	}
	return cl.StartNode(ctx, o.node)
}
