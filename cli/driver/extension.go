package driver

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// An Extension adds to the command driver. Package amazon contains the one for S3 and Amazon
// EMR.
type Extension struct {
	FileSystems []FileSystem   // that commands which read a data directory open
	Runners     []Runner       // further values of --runner
	Commands    []*cli.Command // further commands
	// OpenCopy opens the copy that --copy names; nil: there is no --copy. notify prints a line to
	// the user. The copy ends with ctx.
	OpenCopy func(ctx context.Context, name string, notify func(string)) (Copy, error)
}

// A FileSystem is a file system besides that of this machine and HDFS.
type FileSystem struct {
	Scheme string // the beginning of its names, such as s3://
	Usage  string // for the help of --data: "in S3 (s3://bucket/path)"
	// Open opens the file system that contains name, and returns the path of name in it.
	Open func(ctx context.Context, name string) (FS, string, error)
}

// A Runner is a value of --runner. It has New or Solve.
type Runner struct {
	Name  string
	Usage string     // for the help of --runner: "a cluster of Amazon EMR"
	Flags []cli.Flag // flags of driver solve that only this runner uses
	// New returns what executes the jobs of a run in its data directory, which is on this
	// machine, within memory bytes.
	New func(c *cli.Context, memory int) (JobRunner, error)
	// Solve solves the game elsewhere, and prints the result.
	Solve func(s *Solve) error
}

// The types that the functions of an Extension use.
type (
	FS        = store.FS      // a file system
	JobRunner = runner.Runner // executes jobs
	Job       = runner.Job    // a job of a JobRunner
	Stats     = runner.Stats  // the statistics of a finished job
)

// A Solve is a command line of driver solve for a Runner that solves elsewhere.
type Solve struct {
	Context *cli.Context
	Kind    game.Kind
	Game    game.Game
	Mode    store.Mode
}

// Continue sets the flags that are not given to the values stored with the run to be resumed.
func (s *Solve) Continue(fsys FS, dir string) error {
	_, err := goOnWith(s.Context, fsys, dir)
	return err
}

// OnHadoop checks the options as driver solve --runner hadoop does. It returns --memory, and the
// least memory that the game needs there, in bytes.
func (s *Solve) OnHadoop() (given, least int, err error) {
	ch, m := builtin(onHadoop), game.MethodOf(s.Game)
	o, err := ch.options(s.Context, s.Kind, m)
	if err != nil {
		return 0, 0, err
	}
	if given, err = memoryOf(s.Context); err != nil {
		return 0, 0, err
	}
	least, _ = ch.memory(m, given, &o)
	return given, least, nil
}

// A Copy is a copy of a data directory that is maintained during a run.
type Copy interface {
	Name() string
	// FS returns a file system for the data directory that reports changes to the copy.
	FS(fsys FS, data string) FS
	// Ready checks that the copy is suitable for a run, and, if the run resumes and its data
	// directory is empty, fetches the data from the copy.
	Ready(game string, mode store.Mode) error
	// Start makes the copy equal to the data directory, and then copies changes as they are
	// made.
	Start(mode store.Mode) error
	Left() int     // the number of changes that are still to be copied
	Finish() error // waits until all changes are copied
	Close() error
}

// A program is the command driver with its games and its Extension.
type program struct {
	games game.Kinds
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

// dataFlags returns --data for a command that only reads, and the options of a login.
func (p *program) dataFlags() []cli.Flag {
	var usages []string
	for _, f := range p.FileSystems {
		usages = append(usages, f.Usage)
	}
	return append([]cli.Flag{datadir.Flag(usages...)}, datadir.LoginFlags()...)
}

// runner returns the Runner with a name; nil if there is none.
func (p *program) runner(name string) *Runner {
	if i := slices.IndexFunc(p.Runners, func(r Runner) bool { return r.Name == name }); i >= 0 {
		return &p.Runners[i]
	}
	return nil
}

// needsAmazon returns an error if a command line uses S3 or Amazon EMR and the program does not
// have them.
func (p *program) needsAmazon(words []string) error {
	const scheme, emr = "s3://", "emr"
	if p.extends(scheme) || len(words) == 0 {
		return nil
	}
	for i, word := range words {
		value := word
		if _, after, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			value = after
		}
		runner := words[0] == "solve" && (word == "--runner="+emr || word == emr && words[i-1] == "--runner")
		if strings.HasPrefix(value, scheme) || runner || i == 0 && word == emr {
			return command.Usagef("this driver has no S3 and Amazon EMR: build bin/driver-aws with make aws")
		}
	}
	return nil
}
