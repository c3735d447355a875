package driver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/table"
)

// defaultMemory is the default of --memory.
const defaultMemory = "2G"

// solveFlags contains the flags of driver solve, except those of the game and of the runners of an Extension.
type solveFlags struct {
	data, runner, memory                  string
	metrics, log                          string
	resume, overwrite, replace, yes, json bool
	keep, final                           string
	compress, combine                     bool
	reducers, untilTier                   int
}

func (p *program) solveCommand() *cli.Command {
	f, all := new(solveFlags), append(ours(), p.Runners...)
	return command.OfGame(p.games, &cli.Command{Name: "solve", Usage: "solve a game into a data directory", Flags: p.solveFlags(f, all)},
		func(c *cli.Context, kind game.Kind) error { return p.solveGame(c, kind, f, all) })
}

// solveFlags returns the flags of driver solve, with those of all runners. Those without a Destination in f are read by
// solveOf.
func (p *program) solveFlags(f *solveFlags, all []Runner) []cli.Flag {
	var runners []string
	var ofRunners []cli.Flag
	for _, r := range all {
		runners = append(runners, fmt.Sprintf("%s (%s)", r.Name, r.Usage))
		ofRunners = append(ofRunners, r.flags()...)
	}
	return slices.Concat(command.Group("run", []cli.Flag{
		datadir.Flag(),
		&cli.StringFlag{Name: "runner", Destination: &f.runner, Usage: "runner of the jobs: " + strings.Join(runners, ", "), Value: plan.Inline},
		&cli.IntFlag{Name: "reducers", Destination: &f.reducers, Usage: "number of reducers", DefaultText: "inline 1, pipe one per core, hadoop by the size of the job"},
		&cli.BoolFlag{Name: "resume", Destination: &f.resume, Usage: "continue an interrupted run, with its --keep, --compress, --final and --reducers by default"},
		&cli.BoolFlag{Name: "overwrite", Destination: &f.overwrite, Usage: "start over, and delete treereduce's files in the directory"},
		&cli.BoolFlag{Name: "replace", Destination: &f.replace, Usage: "print the result if this game is solved there; otherwise replace a finished run of less than a minute"},
		&cli.StringFlag{Name: "keep", Destination: &f.keep, Usage: "directories of tiers: final deletes them when no job needs them, all keeps them", Value: "final"},
		&cli.BoolFlag{Name: "compress", Destination: &f.compress, Usage: "with --keep all, keep directories of tiers without lines"},
		&cli.StringFlag{Name: "final", Destination: &f.final, Usage: fmt.Sprintf("write all positions as text, DIR/final: yes, no, or auto (yes up to %s positions)", numfmt.Number(solve.FinalLimit)), Value: string(solve.FinalAuto)},
		&cli.IntFlag{Name: "until-tier", Destination: &f.untilTier, Usage: "find the positions of tiers 0 to `N`, and stop", Value: -1, DefaultText: "all"},
		&cli.BoolFlag{Name: "combine", Destination: &f.combine, Usage: "merge equal keys in the mappers", Value: true},
		&cli.StringFlag{Name: "memory", Destination: &f.memory, Usage: "memory limit, e.g. 256M or 4G: for this process, and with --runner pipe also its children", Value: defaultMemory},
		&cli.BoolFlag{Name: "yes", Destination: &f.yes, Usage: "don't ask about disk space"},
		&cli.BoolFlag{Name: "json", Destination: &f.json, Usage: "print progress and result as lines of JSON"},
		&cli.StringFlag{Name: "log", Destination: &f.log, Usage: "write a line to stderr for each event of the run, instead of the progress bar: json"},
		&cli.StringFlag{Name: "metrics", Destination: &f.metrics, Usage: "serve metrics for Prometheus at `[HOST:]PORT`, by default to this machine alone; port 0 takes a free one"},
	}), ofRunners, command.Group("runner hadoop, or data in HDFS: Kerberos", datadir.LoginFlags()))
}

// minMemory is the lowest --memory for any game.
const minMemory = 64 << 20

// maxReducers is the maximum number of shards whose names sort by number.
const maxReducers = 100_000

// options converts the flags to options, except the runner, and to the memory in bytes.
func (f *solveFlags) options() (o solve.Options, memory int, err error) {
	o = solve.Options{
		Reducers:  f.reducers,
		Combine:   f.combine,
		Final:     solve.Final(f.final),
		UntilTier: f.untilTier,
		Remember:  make(map[string]string),
	}
	for name, value := range f.remembered() {
		if name != "reducers" || f.reducers > 0 { // the default number depends on the runner
			o.Remember[name] = textOf(value)
		}
	}
	o.KeepAll = f.keep == "all"
	o.Lines = o.KeepAll && !f.compress
	size, err := numfmt.ParseSize(f.memory)
	switch {
	case f.keep != "final" && !o.KeepAll:
		err = command.Usagef("--keep %q: expected final or all", f.keep)
	case o.Final != solve.FinalYes && o.Final != solve.FinalNo && o.Final != solve.FinalAuto:
		err = command.Usagef("--final %q: expected yes, no or auto", o.Final)
	case o.Reducers > maxReducers:
		err = command.Usagef("--reducers %d: expected %d at most", o.Reducers, maxReducers)
	case err != nil:
		err = command.Usagef("--memory: %v", err)
	case size < minMemory:
		err = command.Usagef("--memory %s: at least %dM are needed", f.memory, minMemory>>20)
	}
	return o, int(size), err
}

// mode returns how to handle a run that already exists in the data directory.
func (f *solveFlags) mode() (store.Mode, error) {
	switch {
	case f.resume && f.overwrite:
		return 0, command.Usagef("--resume and --overwrite exclude each other")
	case f.replace && (f.resume || f.overwrite):
		return 0, command.Usagef("--replace excludes --resume and --overwrite")
	case f.resume:
		return store.Resume, nil
	case f.overwrite:
		return store.Overwrite, nil
	}
	return store.Fresh, nil
}

// checkedFirst is the number of positions of a rules program that are checked before a solve.
const checkedFirst = 500

// solveGame implements driver solve.
func (p *program) solveGame(c *cli.Context, kind game.Kind, f *solveFlags, all []Runner) error {
	s, err := solveOf(c, kind, f)
	if err != nil {
		return err
	}
	r, err := runnerNamed(all, f.runner)
	if err != nil {
		return err
	}
	if err := r.check(c, all, s.Game); err != nil {
		return err
	}
	if name, err := r.directory(f.data); err == nil { // an error is that of placeOf, or of Runner.Solve
		if err := datadir.CheckLogin(c, name); err != nil {
			return err
		}
	}
	if p.asks(kind) {
		if p.rules.Sandboxed() && r.Name != plan.Inline && r.Name != plan.Pipe {
			return command.Usagef("--%s: not with --runner %s, whose tasks run the rules program on other machines", command.SandboxFlag, r.Name)
		}
		if s.Mode != store.Resume { // a run that can be resumed has been checked, and is of the same program
			if _, err := rules.Check(c.Context, s.Game, checkedFirst, 1); err != nil {
				return err
			}
		}
	}
	if r.Solve == nil {
		return p.solveHere(s, r)
	}
	if f.replace {
		return command.Usagef("--replace is not for --runner %s: use --resume or --overwrite", r.Name)
	}
	return r.Solve(s)
}

// solveOf checks the part of a command line that is the same for all runners.
func solveOf(c *cli.Context, kind game.Kind, f *solveFlags) (*Solve, error) {
	f.data = c.String("data")
	if err := command.NoArguments(c, ""); err != nil {
		return nil, err
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return nil, err
	}
	mode, err := f.mode()
	if err != nil {
		return nil, err
	}
	if err := solve.Check(g); err != nil {
		return nil, command.Usagef("%w", err)
	}
	if f.log != "" && f.log != progress.JSON {
		return nil, command.Usagef("--log %q: expected %s", f.log, progress.JSON)
	}
	if err := cmp.Or(command.AtLeast(c, 0, "until-tier"), command.AtLeast(c, 1, "reducers")); err != nil {
		return nil, err
	}
	return &Solve{c, kind, g, mode, f}, nil
}

// A run is a Solve with a runner to which this process gives the jobs.
type run struct {
	*Solve
	chosen *Runner
	rules  *rules.Program // that of the game, or nil
	place  *filesys.Place
	bar    *progress.Line
	copyTo *copyTo
}

// solveHere solves a game by jobs that this process starts, and prints the result.
func (p *program) solveHere(s *Solve, chosen *Runner) error {
	place, err := p.placeOf(s.flags.data, chosen)
	if err != nil {
		return err
	}
	defer place.Close()
	note := ""
	if s.flags.replace {
		if s.Mode, note, err = replaceMode(place, s.Game); err != nil {
			return err
		}
	}
	r := &run{Solve: s, chosen: chosen, place: place, bar: progress.New(s.Context)}
	if p.asks(s.Kind) {
		r.rules = p.rules
	}
	return r.bar.Failed(p.solveIn(r, note))
}

// solveIn opens the copy of a run and its metrics, and solves the game.
func (p *program) solveIn(r *run, note string) (err error) {
	if r.copyTo, err = r.openCopyTo(); err != nil {
		return err
	}
	defer r.copyTo.end()
	o, err := r.options()
	if err != nil {
		return err
	}
	stopMetrics, err := r.serveMetrics()
	if err != nil {
		return err
	}
	defer stopMetrics()
	// From here on an interrupt cancels ctx, so that the lock is released when the run stops
	// early: in HDFS it would otherwise stay for a minute after this process ends.
	ctx, stop := command.Interruptible(r.Context.Context)
	defer stop()
	r.place.EndWith(ctx)
	return r.solve(ctx, o, note)
}

// placeOf opens the file system of the data directory of a run, which --data names.
func (p *program) placeOf(name string, chosen *Runner) (*filesys.Place, error) {
	if p.extends(name) {
		return nil, command.Usagef("--data %s: not possible as the data directory of a run: --copy-to %s keeps a copy there", name, name)
	}
	name, err := chosen.directory(name)
	if err != nil {
		return nil, datadir.Misnamed("data", err)
	}
	return datadir.OpenFile("data", name)
}

// options returns the options of the run, with what executes its jobs, if memory, files and disk are
// enough for it.
func (r *run) options() (o solve.Options, err error) {
	if r.Mode == store.Resume {
		if err := r.Continue(r.place.FS, r.place.Path); err != nil {
			return o, err
		}
	}
	o, memory, err := r.flags.options()
	if err != nil {
		return o, err
	}
	self, err := os.Executable()
	if err != nil {
		return o, err
	}
	s := &Start{FS: r.place.FS, Bin: filepath.Dir(self), Memory: memory, Own: memory, Game: r.Game, Options: &o, hdfs: r.place.HDFS, rules: r.rules}
	if o.Runner, err = r.chosen.Prepare(s); err != nil {
		return o, err
	}
	o.Reducers = max(1, o.Reducers)
	if err := enoughFiles(&o); err != nil {
		return o, err
	}
	if err := r.enoughDisk(&o); err != nil {
		return o, err
	}
	debug.SetMemoryLimit(int64(s.Own)) // the limit of the garbage collector
	o.Report = r.bar.Report
	return o, nil
}

// solve solves the game in the data directory, and prints note before and the result after it.
func (r *run) solve(ctx context.Context, o solve.Options, note string) error {
	data, err := r.begin(ctx, &o)
	if err != nil {
		return err
	}
	defer data.Close()
	defer r.copyTo.end() // while the lock is held
	if note != "" {
		r.bar.Print(note)
	}
	if err := r.copyTo.start(r.Game.Spec(), r.Mode); err != nil {
		return command.Stopped(ctx, err)
	}
	result, err := solve.Run(ctx, data, r.Game, o)
	r.bar.End()
	if ctx.Err() != nil && err != nil { // err may be that of a call which the interrupt has ended
		return fmt.Errorf("%w; --resume continues", command.ErrInterrupted)
	}
	if err != nil {
		return r.printWrong(err)
	}
	copyName := ""
	if r.copyTo != nil {
		if copyName, err = r.copyTo.finish(); err != nil {
			return err
		}
	}
	// Print the result in one write, after everything else is done: if the reader closes the
	// pipe after the first line, no lock must be left behind.
	if err := data.Close(); err != nil {
		return err
	}
	fields := resultFields(r.Game, data, result, copyName)
	r.bar.Result(fields)
	var text bytes.Buffer
	if r.flags.json {
		err = json.NewEncoder(&text).Encode(fields)
	} else {
		printResult(&text, r.Game, data, result, copyName)
	}
	if err != nil {
		return err
	}
	_, err = r.Context.App.Writer.Write(text.Bytes())
	return err
}

// begin checks whether the run is possible, and creates or opens its data directory.
func (r *run) begin(ctx context.Context, o *solve.Options) (*store.Data, error) {
	place := r.place
	if jobs, ok := o.Runner.(Preflighter); ok {
		err := jobs.Preflight(ctx, r.Game, place.Path)
		if err := command.Stopped(ctx, err); err != nil {
			return nil, err
		}
	}
	if place.HDFS != nil {
		if err := place.HDFS.CheckClosed(place.Path); err != nil {
			return nil, err
		}
	}
	var end func(attempt string) error
	if jobs, ok := o.Runner.(Ender); ok {
		end = func(attempt string) error { return jobs.End(ctx, attempt) }
	}
	create := func() (*store.Data, error) {
		return store.Create(place.FS, place.Path, r.Game.Spec(), r.Mode, solve.IsRunArtifact, end)
	}
	var data *store.Data
	var err error
	if place.HDFS == nil {
		data, err = create()
	} else {
		data, err = whenFree(ctx, r.bar.Print, r.updated, create)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, command.ErrInterrupted
	case errors.Is(err, store.ErrBegun):
		return nil, fmt.Errorf("%w: --resume continues it, --overwrite starts over", err)
	case place.HDFS != nil && errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w to %s (HADOOP_USER_NAME, or with Kerberos --principal, names another user)", err, place.HDFS.User())
	}
	return data, err
}

// updated returns when the journal of the data directory was last written, if it can be read.
func (r *run) updated() (at time.Time) {
	if j, err := solve.ReadJournal(r.place.FS, r.place.Path); err == nil {
		at = j.Updated
	}
	return at
}

// remembered returns the flags that are stored with a run and apply to it when it is resumed, as
// pointers to their values.
func (f *solveFlags) remembered() map[string]any {
	return map[string]any{"keep": &f.keep, "compress": &f.compress, "final": &f.final, "reducers": &f.reducers}
}

// textOf returns the value of a remembered flag as text.
func textOf(value any) string { return fmt.Sprint(reflect.ValueOf(value).Elem()) }

// resultFields returns the result of a run, and the place of its copy, as fields of JSON.
func resultFields(g game.Game, data *store.Data, r solve.Result, copied string) map[string]any {
	m := map[string]any{"game": g.Spec(), "solved": r.Solved, "seconds": r.Wall.Seconds()}
	if r.Before {
		m["solved_before"] = true
	}
	if copied != "" {
		m["copy"] = copied
	}
	if r.Solved {
		m["value"], m["positions"], m["table"] = r.Value, r.Positions, data.Dir(table.Dir)
		if n := withImages(g, data, r); n > 0 {
			m["with_images"] = n
		}
		if r.Final {
			m["final"] = data.Dir(solve.FinalDir)
		}
	} else {
		m["tiers"] = r.Tiers
	}
	return m
}

// printResult prints the result of a run as text, and the place of its copy.
func printResult(out io.Writer, g game.Game, data *store.Data, r solve.Result, copied string) {
	if !r.Solved {
		for tier, n := range r.Tiers {
			fmt.Fprintf(out, "tier %d: %s\n", tier, numfmt.Count(n, "position"))
		}
		return
	}
	fmt.Fprintf(out, "%s: %s\n", game.TitleOf(g), notation.Summary(g.Values(), r.Start))
	positions := numfmt.Count(r.Positions, "position")
	if n := withImages(g, data, r); n > 0 {
		positions += fmt.Sprintf(" (%s with images)", numfmt.Number(n))
	}
	if r.Before {
		fmt.Fprintf(out, "%s, solved by an earlier run\n", positions)
	} else {
		fmt.Fprintf(out, "%s in %s\n", positions, numfmt.Duration(r.Wall))
	}
	fmt.Fprintf(out, "table: %s\n", data.Dir(table.Dir))
	if r.Final {
		fmt.Fprintf(out, "final: %s\n", data.Dir(solve.FinalDir))
	} else {
		fmt.Fprintf(out, "final: not written (--final yes writes it)\n")
	}
	if copied != "" {
		fmt.Fprintf(out, "copy: %s\n", copied)
	}
}

// withImages returns the number of positions of a game.Symmetric with their images, if it is known: that of the lines of
// final. Otherwise it returns 0.
func withImages(g game.Game, data *store.Data, r solve.Result) uint64 {
	_, symmetric := g.(game.Symmetric)
	if !symmetric || !r.Final {
		return 0
	}
	seal, err := store.ReadSeal(data.FS, data.Dir(solve.FinalDir))
	if err != nil || seal == nil {
		return 0
	}
	return seal.Records()
}
