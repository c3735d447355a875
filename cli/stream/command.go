// Package stream contains the command lines of mapper and reducer: a step as a filter from
// stdin to stdout that follows the conventions of Hadoop Streaming. It opens files only if a
// job of the driver uses packed records, and for the states that a reducer of a game solved by layers
// reads and writes, the predecessors that it looks up, and the messages that it sends to other jobs.
package stream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
)

// A side is the map or the reduce of all steps.
type side struct {
	name    string
	do      func(m runner.Method, name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error)
	reduces bool
}

// A task is one side of a step, with what its command line sets.
type task struct {
	work        side
	method      runner.Method
	name        string // the step
	o           step.Options
	output      string // directory
	in          io.Reader
	out, stderr io.Writer
}

// mapSide and reduceSide return the two sides.
func mapSide() side    { return side{"map", runner.Method.Map, false} }
func reduceSide() side { return side{"reduce", runner.Method.Reduce, true} }

// Mapper implements the command mapper, also called STEP_map, for a program with these games;
// the first one is the default. It executes the command line of the process, and ends the
// process.
func Mapper(games ...game.Kind) {
	process(mapSide(), games)
}

// process executes the command line of the process, and ends it. A task uses two cores: one for the work, one for the
// collector.
func process(work side, games game.Kinds) {
	if _, set := os.LookupEnv("GOMAXPROCS"); inTask() && !set {
		runtime.GOMAXPROCS(min(2, runtime.GOMAXPROCS(0)))
	}
	os.Exit(command.WithRules(games, func() string { return gameNamed(games, os.Args) }, os.Args, os.Stderr, func(ctx context.Context, games game.Kinds, args []string, _ *program.Program) int {
		return work.run(ctx, games, args, os.Stdin, os.Stdout, os.Stderr)
	}))
}

// Reducer implements the command reducer, also called STEP_reduce; otherwise it is like Mapper.
func Reducer(games ...game.Kind) {
	process(reduceSide(), games)
}

// run executes a command line of one side of the steps and returns its exit code. The name of
// the command may contain the step.
func (s side) run(ctx context.Context, games game.Kinds, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := stepFlags()
	if err := command.CheckGames(games, flags, jobProperties...); err != nil {
		return command.Exit(args, err, stderr)
	}
	called, gameName := strings.TrimSuffix(filepath.Base(args[0]), ".exe"), gameNamed(games, args)
	kind, known := games.Named(gameName)
	// stepOf returns the command of a step, which the user calls by some words.
	stepOf := func(name, by string) *cli.Command {
		return &cli.Command{
			Name:        name,
			Usage:       purposes[name],
			Description: description(games, by, name, s.reduces),
			Flags:       slices.Concat([]cli.Flag{gameFlag(games)}, command.GameFlags(kind, true), flags),
			// The flags of an unknown game are not known.
			SkipFlagParsing: !known,
			Action: func(c *cli.Context) error {
				if !known {
					return command.Usagef("unknown game %q", gameName)
				}
				if parsed := c.String("game"); parsed != gameName {
					return command.Usagef("--game %s is the value of another flag, and the game is %s", gameName, parsed)
				}
				begun := time.Now()
				n, err := runStream(c, name, kind, s)
				if err != nil {
					return err
				}
				return report(stderr, name, s.name, n, begun)
			},
		}
	}
	app := &cli.App{Name: called}
	if name, ok := strings.CutSuffix(called, "_"+s.name); ok && slices.Contains(step.AllNames(), name) {
		c := stepOf(name, called)
		app.Usage, app.Description, app.Flags, app.SkipFlagParsing, app.Action = c.Usage, c.Description, c.Flags, c.SkipFlagParsing, c.Action
	} else {
		app.Usage = fmt.Sprintf("run the %s of a step of treereduce, from stdin to stdout", s.name)
		app.UsageText = called + " STEP [flags]"
		app.Action = command.Unknown("step", step.AllNames())
		for _, name := range step.AllNames() {
			app.Commands = append(app.Commands, stepOf(name, called+" "+name))
		}
	}
	return command.Run(ctx, app, args, stdin, stdout, stderr)
}

// gameNamed returns the name of the game that the command line gives, or else the environment, or else the default. It
// must be known before the flags are parsed, because it determines which flags there are.
func gameNamed(games game.Kinds, args []string) (name string) {
	if len(games) == 0 {
		return ""
	}
	of := gameFlag(games)
	values, _ := command.ValuesOf(args[1:], of.Name)
	if given := values[of.Name]; len(given) > 0 {
		return given[len(given)-1]
	}
	if text, ok := os.LookupEnv(of.EnvVars[0]); ok {
		return text
	}
	return of.Value
}

// gameFlag returns --game, the game of a step.
func gameFlag(games game.Kinds) *cli.StringFlag {
	return &cli.StringFlag{Name: "game", Usage: "name of the game; its parameters are flags, too: " + strings.Join(games.Names(), ", "),
		Value: games[0].Name, EnvVars: command.Environment("game")}
}

// stepFlags returns the parameters of a step, without its game and the game's parameters.
func stepFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "tier", Usage: "tier of the positions of this job (required for layers)", EnvVars: command.Environment("tier")},
		&cli.StringFlag{Name: "turn", Usage: "player to move in this job, X or O (required for solve)", EnvVars: command.Environment("turn")},
		&cli.StringFlag{Name: "last-round", Usage: "true if the moves of this job fill the board, else false (checked if given)", EnvVars: command.Environment("last-round")},
		&cli.BoolFlag{Name: "combine", Usage: "merge equal keys in the mapper", Value: true, EnvVars: command.Environment("combine")},
		&cli.IntFlag{Name: "pass", Usage: "mark, and solve and ties of a tier with inner moves: number of the pass, from 1 (in solve and ties, the remoteness of the new values)", EnvVars: command.Environment("pass")},
		&cli.StringFlag{Name: "states", Usage: "reduce by layers: `DIRECTORIES` of earlier passes with states, from the oldest to the newest, with commas between them; each has a file _SUCCESS", EnvVars: command.Environment("states")},
		&cli.IntFlag{Name: "absorb", Usage: "reduce by layers: how many of the newest of --states to write again, together with the new states (begin and values read all)", EnvVars: command.Environment("absorb")},
		&cli.StringFlag{Name: "edges", Usage: "reduce, solve and ties of a tier with inner moves: `DIRECTORY` of begin, with the predecessors of the tier (not needed if the game computes them)", EnvVars: command.Environment("edges")},
		&cli.StringFlag{Name: "borders", Usage: "reduce by layers: the first `KEYS` of all partitions except the first, with commas between them; without it, one reducer has all keys", EnvVars: command.Environment("borders")},
		&cli.StringFlag{Name: "output", Usage: "reduce: `DIRECTORY` for additional files: packed parts, shards of the table, states and messages of layers", EnvVars: []string{"mapreduce_task_output_dir"}},
		&cli.IntFlag{Name: "part", Usage: "reduce that writes files: number of this reducer", EnvVars: []string{"mapreduce_task_partition"}},
		&cli.IntFlag{Name: "memory", Usage: "bytes of memory for merging in a mapper, and for sorting in a reducer by layers", Value: step.DefaultMemory, EnvVars: command.Environment("memory")},
	}
}

// runStream runs one side of a step with the parameters of a command line.
func runStream(c *cli.Context, name string, kind game.Kind, work side) (n step.Counters, err error) {
	if err := command.NoArguments(c, ": records are read from stdin"); err != nil {
		return n, err
	}
	driver := os.Getenv(command.Environment(step.BuildProperty)[0]) // "" if the process was not started by a job of the driver
	if err := step.CheckBuild(driver); err != nil {
		return n, err
	}
	if err := checkParameters(c, kind); err != nil {
		return n, err
	}
	rules, err := command.GameOf(c, kind)
	if err != nil {
		return n, err
	}
	if driver != "" {
		if err := step.CheckRules(rules, driver); err != nil {
			return n, err
		}
	}
	if rules.Info().Vast > 0 {
		return n, command.Usagef("%s can be played, but not solved", kind.Name)
	}
	if known := step.NamesOf(rules); !slices.Contains(known, name) {
		return n, command.Usagef("%s has no step %s: expected one of %s", kind.Name, name, strings.Join(known, ", "))
	}
	t := &task{work: work, method: method.Of(rules), name: name, output: c.String("output"), in: c.App.Reader, out: c.App.Writer, stderr: c.App.ErrWriter}
	if t.o, err = options(c, t.method); err != nil {
		return n, err
	}
	if t.method.Sends() {
		return t.layers(rules)
	}
	return t.blocks()
}

// options converts the flags, and the properties that the driver sets for packed records, to
// the options of a step.
func options(c *cli.Context, m runner.Method) (o step.Options, err error) {
	o = step.Options{
		Source:  source(),
		Turn:    c.String("turn"),
		Combine: c.Bool("combine"),
		Memory:  c.Int("memory"),
		Part:    c.Int("part"),
		Packed:  os.Getenv(command.Environment("packed")[0]) != "",
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
	if o.Packed {
		if o.Reducers, err = strconv.Atoi(os.Getenv("mapreduce_job_reduces")); err != nil {
			return o, fmt.Errorf("mapreduce_job_reduces: %w", err)
		}
	}
	if m.Sends() {
		err = layerOptions(c, m.Game(), &o)
	} else if o.Packed {
		o.Tier, err = tier(c, m.Game())
	}
	return o, err
}

// tier returns the tier of a job, or -1 if --tier is not given.
func tier(c *cli.Context, g game.Game) (int, error) {
	if !c.IsSet("tier") {
		return -1, nil
	}
	n := c.Int("tier")
	if n < 0 || n > game.LastTier(g) {
		return 0, command.Usagef("--tier %d: expected 0 to %d", n, game.LastTier(g))
	}
	return n, nil
}

// inTask reports whether this process is a Hadoop task.
func inTask() bool { return os.Getenv("mapreduce_task_attempt_id") != "" }

// source returns the name of this process's input for errors. A mapper knows the offset of its
// split within a file, from which line numbers are counted, and with several files it only knows the first.
// The offset of a line of splits is that of the newline before it.
// A reducer knows the number of its partition and the output directory.
func source() string {
	if file := os.Getenv("mapreduce_map_input_file"); file != "" {
		if start := os.Getenv("mapreduce_map_input_start"); start != "" && start != "0" {
			return file + " from byte " + start
		}
		return file
	}
	if dir := os.Getenv("mapreduce_output_fileoutputformat_outputdir"); dir != "" && inTask() {
		return fmt.Sprintf("input of partition %s of %s", os.Getenv("mapreduce_task_partition"), dir)
	}
	return "stdin"
}

// report writes the counters: to Hadoop in a task, otherwise as text to stderr.
func report(stderr io.Writer, name, side string, n step.Counters, begun time.Time) error {
	if inTask() {
		w := bufio.NewWriter(stderr)
		count := func(name string, value int64) {
			fmt.Fprintf(w, "reporter:counter:%s,%s,%d\n", step.CounterGroup(side), name, value)
		}
		n.Each(count)
		count(step.Tasks, 1)
		count(step.Wall, time.Since(begun).Milliseconds())
		count(step.CPU, system.CPU().Milliseconds())
		fmt.Fprintf(w, "reporter:status:%s_%s done\n", name, side)
		return w.Flush()
	}
	fmt.Fprintf(stderr, "%s_%s: %d %s in, %d out\n", name, side, n.In, numfmt.Noun(n.In, "record"), n.Records) // informative only: an error here is ignored
	return nil
}
