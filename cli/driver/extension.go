package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/plan"
)

// An Extension adds to the command driver. Package amazon contains the one for S3 and Amazon
// EMR.
type Extension struct {
	FileSystems []FileSystem   // that commands which read a data directory open
	Runners     []Runner       // further values of --runner
	Commands    []*cli.Command // further commands
}

// A FileSystem is a file system besides that of this machine and HDFS.
type FileSystem struct {
	Scheme string // the beginning of its names, such as s3://
	Usage  string // for the help of --data: "in S3 (s3://bucket/path)"
	// Open opens the file system that contains name, and returns the path of name in it.
	Open func(ctx context.Context, name string) (FS, string, error)
}

// A Runner is a value of --runner: what a run needs, and what executes its jobs. It has Prepare or Solve. The
// other fields may be nil.
type Runner struct {
	Name  string
	Usage string // for the help of --runner: "a cluster of Amazon EMR"
	// Options are the flags of driver solve that only this runner takes.
	Options RunnerOptions
	Takes   []string // names of flags of other runners that this one takes, too
	// Model is one of our runners, inline, pipe, hadoop or emr: driver plan computes its cost; "": there
	// is no plan.
	Model string

	// Directory converts the name of a data directory to the form that the runner needs; nil: any
	// name of this machine or of HDFS.
	Directory func(name string) (string, error)
	// Prepare checks what a run needs, and returns what executes its jobs. If that also is a Preflighter or an
	// Ender, those methods are called.
	Prepare func(s *Start) (JobRunner, error)
	// Solve solves the game elsewhere, and prints the result.
	Solve func(s *Solve) error
}

// RunnerOptions are the flags of a Runner, and their values.
type RunnerOptions interface {
	// Flags returns the flags, whose Destinations are in the options.
	Flags() []cli.Flag
	// Validate checks the values that a command line has set for a run of a game.
	Validate(g game.Game) error
}

// A Start is a run that is about to begin.
type Start struct {
	FS     FS     // the file system of the data directory
	Bin    string // the directory of this program, with mapper and reducer
	Memory int    // --memory in bytes, for all processes
	Own    int    // the part of it that belongs to this process: all, unless Prepare sets it
	Game   game.Game
	// Options are those of the command line. Prepare may set Reducers if it is 0: the user has not
	// given it.
	Options *Options
	hdfs    *hadoop.FS     // FS, if it is HDFS
	rules   *rules.Program // that of the game, or nil
}

// Needs returns an error of the command line if --memory is less than least bytes.
func (s *Start) Needs(least int) error {
	if s.Memory >= least {
		return nil
	}
	return command.Usagef("--memory %dM: %s needs at least %s", s.Memory>>20, s.Game.Spec(), memoryText(least))
}

// memoryText returns the least value of --memory that is not below a number of bytes.
func memoryText(bytes int) string { return fmt.Sprintf("%dM", (bytes-1)>>20+1) }

// A Preflighter checks the preconditions of a run before anything is written. data is the path of the data directory.
type Preflighter interface {
	Preflight(ctx context.Context, g game.Game, data string) error
}

// An Ender executes jobs that go on after their driver has died. End ends that of an attempt of such a driver, if there is
// one: the next driver calls it before it deletes the directory, and makes the job again. If End fails, the run does not begin.
type Ender interface {
	End(ctx context.Context, attempt string) error
}

// The types that the functions of an Extension use.
type (
	// An FS is a file system.
	FS = store.FS
	// A JobRunner executes jobs. Run(ctx, *Job) writes the shards of a job into
	// Job.Output, and returns its Stats. When ctx is done, it stops what it has started and returns the
	// error of ctx. The caller commits the directory.
	JobRunner = runner.Runner
	// A Job is one map and reduce, with open files: it cannot be given to another process. A runner that
	// starts mappers and reducers (package cli/stream) asks it for their input (OpenLines), their
	// environment (Environment), and the reducer of a line (Partition), and gives it their output (WriteShard).
	Job = runner.Job
	// Stats are the statistics of a finished job. A runner must return them: Stats.Count sets them from
	// the counters of the reducers. The run fails if Records is not the number of records in the parts.
	Stats = runner.Stats
	// Progress is how far a job has come, for Job.Report.
	Progress = runner.Progress
	// Options are the options of a run.
	Options = solve.Options
)

// Usagef returns an error of the command line: the program prints it, and ends with exit status 2.
func Usagef(format string, args ...any) error { return command.Usagef(format, args...) }

// A Solve is a command line of driver solve for a Runner that solves elsewhere.
type Solve struct {
	Context *cli.Context // has the streams, and all flags
	Kind    game.Kind
	Game    game.Game
	Mode    store.Mode
	flags   *solveFlags
}

// Continue sets the options that are not given to the values stored with the run to be resumed. It returns an error if one of
// them requests what the run has deleted, or has not written.
func (s *Solve) Continue(fsys FS, dir string) error {
	m, err := store.ReadManifest(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrClearing) {
		return nil // store.Create returns this error, or that another driver is at work
	}
	if err != nil {
		return err
	}
	for name, value := range s.flags.remembered() {
		switch stored, ok := m.Options[name]; {
		case !ok:
		case !s.Context.IsSet(name):
			if _, err := fmt.Sscan(stored, value); err != nil {
				return fmt.Errorf("data directory %s: option %s: %w", dir, name, err)
			}
		case textOf(value) != stored && (name == "keep" && s.flags.keep == "all" || name == "compress" && !s.flags.compress):
			return fmt.Errorf("data directory %s: the run began with --%s=%s: leave --%[2]s out to continue it, --overwrite starts over", dir, name, stored)
		}
	}
	return nil
}

// OnHadoop returns the options that driver solve --runner hadoop has for this command line; --memory; and the least memory that
// the game needs there, in bytes.
func (s *Solve) OnHadoop() (o Options, given, least int, err error) {
	o, given, err = s.flags.options()
	return o, given, leastMemory(plan.Hadoop, s.Game, &o), err
}

// A program is the command driver with its games, the rules program of one of them, or nil, and its Extension.
type program struct {
	games game.Kinds
	rules *rules.Program
	Extension
}

// openers returns the openers of the file systems, whose requests end with ctx.
func (p *program) openers(ctx context.Context) (openers []filesys.Opener) {
	for _, f := range p.FileSystems {
		openers = append(openers, filesys.Opener{Scheme: f.Scheme, Open: func(name string) (store.FS, string, error) { return f.Open(ctx, name) }})
	}
	return openers
}

// extends reports whether a name belongs to one of the file systems.
func (p *program) extends(name string) bool {
	return slices.ContainsFunc(p.FileSystems, func(f FileSystem) bool { return strings.HasPrefix(name, f.Scheme) })
}

// reads adds --data, and the options of a login, to a command that only reads a data directory.
func (p *program) reads(c *cli.Command) *cli.Command {
	var usages []string
	for _, f := range p.FileSystems {
		usages = append(usages, f.Usage)
	}
	c.Flags = slices.Concat([]cli.Flag{datadir.Flag(usages...)}, datadir.LoginFlags(), c.Flags)
	read := c.Action
	c.Action = func(c *cli.Context) error {
		if err := datadir.CheckReader(c, p.openers(c.Context)...); err != nil {
			return err
		}
		return read(c)
	}
	return c
}
