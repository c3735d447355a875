// Package stream is the command lines of mapper and reducer: a step as a
// filter from stdin to stdout, with the habits of Hadoop Streaming. It opens no
// file, but where a job of the driver says that its records are blocks, for the states
// that a reducer of a game with cycles keeps, and for what the reducer of a game of
// which only the rules are known tells other tiers.
package stream

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/lists"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/task"
)

// A stream is the map or the reduce of a step: on lines, or on blocks.
type stream struct {
	lines  func(name string, g game.Tiered, in io.Reader, out io.Writer, o step.Options) (step.Counters, error)
	blocks func(t task.Task, in io.Reader, out io.Writer) (step.Counters, error)
	pass   func(c *cli.Context, name string, g game.Cyclic, o step.Options) (step.Counters, error)       // of a game with cycles
	lists  func(c *cli.Context, name string, g game.Acyclic, o lists.StepOptions) (step.Counters, error) // of one of rules only
	tells  bool                                                                                          // the map: of solve it must know whose turn it is
}

// Mapper is the command mapper, which is also called STEP_map.
func Mapper(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return streamCommand("map", stream{step.Map, task.Task.Map, mapPass, mapLists, true}, args, stdin, stdout, stderr)
}

// Reducer is the command reducer, which is also called STEP_reduce.
func Reducer(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return streamCommand("reduce", stream{step.Reduce, reduceBlocks, reducePass, reduceLists, false}, args, stdin, stdout, stderr)
}

// streamCommand runs one side of the steps. Its name may say which.
func streamCommand(side string, work stream, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := &cli.App{
		Name:      filepath.Base(args[0]),
		Usage:     fmt.Sprintf("the %s of a step of treereduce: records from stdin to stdout", side),
		UsageText: filepath.Base(args[0]) + " STEP [flags]",
		Action:    command.Unknown("step", step.AllNames()),
	}
	for _, name := range step.AllNames() {
		app.Commands = append(app.Commands, &cli.Command{
			Name:  name,
			Usage: fmt.Sprintf("the %s of this step", side),
			Flags: streamFlags(),
			Action: func(c *cli.Context) error {
				begun := time.Now()
				n, err := runStream(c, name, work)
				if err != nil {
					return err
				}
				return report(stderr, name, side, n, begun)
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
		&cli.StringFlag{Name: "game", Usage: "name of the game", Value: all.Kinds()[0].Name, EnvVars: command.Environment("game")},
	}
	seen := make(map[string]bool)
	for _, kind := range all.Kinds() {
		for _, f := range command.GameFlags(kind, true) {
			if name := f.Names()[0]; !seen[name] {
				seen[name] = true
				flags = append(flags, f)
			}
		}
	}
	return append(flags,
		&cli.IntFlag{Name: "tier", Usage: "tier of the positions of this job (a game of rules only needs it)", EnvVars: command.Environment("tier")},
		&cli.StringFlag{Name: "turn", Usage: "who moves in this job, X or O (solve needs it)", EnvVars: command.Environment("turn")},
		&cli.StringFlag{Name: "last-round", Usage: "whether the moves of this job fill the board, true or false (checked if given)", EnvVars: command.Environment("last-round")},
		&cli.BoolFlag{Name: "combine", Usage: "merge equal keys in the mapper before they are printed", Value: true, EnvVars: command.Environment("combine")},
		&cli.IntFlag{Name: "number", Usage: "number of the pass over a game with cycles, from 1 (in solve and ties what is decided has it as remoteness)", Value: 1, EnvVars: command.Environment("number")},
		&cli.StringFlag{Name: "states", Usage: "reduce of a game with cycles: the `DIRECTORY` of the pass before, whose index has the states of all ranges", EnvVars: command.Environment("states")},
		&cli.StringFlag{Name: "output", Usage: "reduce: the `DIRECTORY` for files beside the part: new states of a game with cycles, what other tiers are told of a game of rules only", EnvVars: []string{"mapreduce_task_output_dir"}},
		&cli.IntFlag{Name: "part", Usage: "reduce that writes files: the number of this reducer", EnvVars: []string{"mapreduce_task_partition"}},
		&cli.IntFlag{Name: "memory", Usage: "bytes that a mapper may hold back in order to merge", Value: step.DefaultMemory, EnvVars: command.Environment("memory")},
	)
}

// runStream runs one side of a step with the parameters of a command line.
func runStream(c *cli.Context, name string, work stream) (n step.Counters, err error) {
	if err := command.NoArguments(c, ": records come on stdin"); err != nil {
		return n, err
	}
	kind, err := command.KindOf(c.String("game"))
	if err != nil {
		return n, err
	}
	if err := checkParameters(c, kind); err != nil {
		return n, err
	}
	rules, err := command.GameOf(c, kind)
	if err != nil {
		return n, err
	}
	known := step.Names()
	if _, cyclic := rules.(game.Cyclic); cyclic {
		known = step.CyclicNames()
	}
	if !slices.Contains(known, name) {
		return n, command.Usagef("%s has no step %s; its steps are %s", kind.Name, name, strings.Join(known, ", "))
	}
	in, out := c.App.Reader, c.App.Writer
	if os.Getenv(command.Environment("reducers")[0]) != "" {
		t, done, err := taskOf(c, name, rules)
		if err != nil {
			return n, err
		}
		defer done()
		return work.blocks(t, in, out)
	}
	o, err := lineOptions(c)
	if err != nil {
		return n, err
	}
	switch g := rules.(type) {
	case game.Tiered:
		if work.tells && name == step.Solve && o.Turn == "" {
			return n, command.Usagef("missing --turn (or %s in the environment), X or O: it tells children from parents", command.Environment("turn")[0])
		}
		return work.lines(name, g, in, out, o)
	case game.Acyclic:
		return work.lists(c, name, g, lists.StepOptions{Source: o.Source, Combine: o.Combine})
	case game.Cyclic:
		return work.pass(c, name, g, o)
	}
	return n, game.UnknownKind(rules)
}

// lineOptions turns the flags into options.
func lineOptions(c *cli.Context) (step.Options, error) {
	o := step.Options{
		Source:  source(),
		Turn:    c.String("turn"),
		Combine: c.Bool("combine"),
		Memory:  c.Int("memory"),
	}
	if o.Turn != "" && o.Turn != "X" && o.Turn != "O" {
		return o, command.Usagef("--turn %q: expected X or O", o.Turn)
	}
	switch text := c.String("last-round"); text {
	case "":
	case "true", "false":
		last := text == "true"
		o.LastRound = &last
	default:
		return o, command.Usagef("--last-round %q: expected true or false", text)
	}
	return o, nil
}

// inTask reports whether this process is a task of Hadoop's.
func inTask() bool { return os.Getenv("mapreduce_task_attempt_id") != "" }

// source is what the input of this process is called in errors. A mapper knows
// where its split of a file begins, not which line of the file that is; a
// reducer knows which part of its directory it writes.
func source() string {
	if file := os.Getenv("mapreduce_map_input_file"); file != "" {
		if start := os.Getenv("mapreduce_map_input_start"); start != "" && start != "0" {
			return file + step.SplitMark + start
		}
		return file
	}
	if dir := os.Getenv("mapreduce_output_fileoutputformat_outputdir"); dir != "" && inTask() {
		return fmt.Sprintf("input of partition %s of %s", os.Getenv("mapreduce_task_partition"), dir)
	}
	return "stdin"
}

// report tells the counters: to Hadoop in a task, to a person otherwise.
func report(stderr io.Writer, name, side string, n step.Counters, begun time.Time) error {
	if inTask() {
		w := bufio.NewWriter(stderr)
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			return err
		}
		cpu := used.Utime.Nano() + used.Stime.Nano()
		for _, c := range []struct {
			name  string
			value int64
		}{{step.RecordsIn, n.In}, {step.RecordsOut, n.Out}, {step.RecordsDone, n.Done},
			{step.Tasks, 1}, {step.Wall, time.Since(begun).Milliseconds()}, {step.CPU, cpu / 1e6}} {
			fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup(side), c.name, c.value)
		}
		if n.Messages > 0 {
			fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup(side), step.MessagesSaid, n.Messages)
		}
		for result, value := range n.New {
			if value > 0 {
				fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup(side), step.NewRecords(game.Result(result)), value)
			}
		}
		fmt.Fprintf(w, "reporter:status:%s_%s done\n", name, side)
		return w.Flush()
	}
	fmt.Fprintf(stderr, "%s_%s: %d records in, %d out\n", name, side, n.In, n.Out) // a word that nobody counts on
	return nil
}
