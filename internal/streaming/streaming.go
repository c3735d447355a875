// Package streaming is the command lines of mapper and reducer: a step as a
// filter from stdin to stdout, with the habits of Hadoop Streaming. Nothing in it
// opens a file, so that the binaries stay small and quick to start.
package streaming

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/games"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/step"
)

// A stream is the map or the reduce of a step.
type stream func(name string, g game.Tiered, in io.Reader, out io.Writer, o step.Options) (step.Counters, error)

// Mapper is the command mapper, which is also called STEP_map.
func Mapper(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return streamCommand("map", step.Map, args, stdin, stdout, stderr)
}

// Reducer is the command reducer, which is also called STEP_reduce.
func Reducer(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return streamCommand("reduce", step.Reduce, args, stdin, stdout, stderr)
}

// streamCommand runs one side of the steps. Its name may say which.
func streamCommand(side string, work stream, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := &cli.App{
		Name:      filepath.Base(args[0]),
		Usage:     fmt.Sprintf("the %s of a step of treereduce: records from stdin to stdout", side),
		UsageText: filepath.Base(args[0]) + " STEP [flags]",
		Action:    command.Unknown("step", step.Names()),
	}
	for _, name := range step.Names() {
		app.Commands = append(app.Commands, &cli.Command{
			Name:  name,
			Usage: fmt.Sprintf("the %s of this step", side),
			Flags: streamFlags(),
			Action: func(c *cli.Context) error {
				return runStream(c, name+"_"+side, func(g game.Tiered, o step.Options) (step.Counters, error) {
					return work(name, g, stdin, stdout, o)
				})
			},
		})
	}
	if name, ok := strings.CutSuffix(app.Name, "_"+side); ok {
		args = slices.Concat([]string{args[0], name}, args[1:])
	}
	return command.Run(app, args, stdin, stdout, stderr)
}

// streamFlags are the parameters of a step: those of every game, and those of
// a job.
func streamFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "game", Usage: "name of the game", Value: games.All()[0].Name, EnvVars: command.Environment("game")},
	}
	seen := make(map[string]bool)
	for _, kind := range games.All() {
		for _, f := range command.GameFlags(kind, true) {
			if name := f.Names()[0]; !seen[name] {
				seen[name] = true
				flags = append(flags, f)
			}
		}
	}
	return append(flags,
		&cli.StringFlag{Name: "turn", Usage: "who moves in this job, X or O (solve needs it)", EnvVars: command.Environment("turn")},
		&cli.StringFlag{Name: "last-round", Usage: "whether the moves of this job fill the board, true or false (checked if given)", EnvVars: command.Environment("last-round")},
		&cli.BoolFlag{Name: "combine", Usage: "merge equal keys in the mapper before they are printed", Value: true, EnvVars: command.Environment("combine")},
		&cli.IntFlag{Name: "memory", Usage: "bytes that a mapper may hold back in order to merge", Value: step.DefaultMemory, EnvVars: command.Environment("memory")},
	)
}

// runStream runs one side of a step with the parameters of a command line.
func runStream(c *cli.Context, name string, stream func(game.Tiered, step.Options) (step.Counters, error)) error {
	if err := command.NoArguments(c, ": records come on stdin"); err != nil {
		return err
	}
	kind, err := command.KindOf(c.String("game"))
	if err != nil {
		return err
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	o := step.Options{
		Source:  "stdin",
		Turn:    c.String("turn"),
		Combine: c.Bool("combine"),
		Memory:  c.Int("memory"),
	}
	if file := os.Getenv("mapreduce_map_input_file"); file != "" {
		o.Source = file
	}
	if o.Turn != "" && o.Turn != "X" && o.Turn != "O" {
		return command.Usagef("--turn %q: expected X or O", o.Turn)
	}
	switch text := c.String("last-round"); text {
	case "":
	case "true", "false":
		last := text == "true"
		o.LastRound = &last
	default:
		return command.Usagef("--last-round %q: expected true or false", text)
	}
	counters, err := stream(g, o)
	if err != nil {
		return err
	}
	return report(c.App.ErrWriter, name, counters)
}

// report tells the counters: to Hadoop in a task, to a person otherwise.
func report(stderr io.Writer, name string, n step.Counters) error {
	w := bufio.NewWriter(stderr)
	if os.Getenv("mapreduce_task_attempt_id") != "" {
		fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup, step.RecordsIn, n.In)
		fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup, step.RecordsOut, n.Out)
		fmt.Fprintf(w, "reporter:status:%s done\n", name)
	} else {
		fmt.Fprintf(w, "%s: %d records in, %d out\n", name, n.In, n.Out)
	}
	return w.Flush()
}
