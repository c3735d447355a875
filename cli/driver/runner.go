package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
	"github.com/treereduce/treereduce/internal/engine/solve"
)

// A choice is one of --runner, with all in which the runners differ for a command
// line.
type choice struct {
	// dataDir is the name of the data directory as the runner understands it.
	dataDir func(name string) (string, error)
	// reducers is how many there are if nothing is said.
	reducers func(g game.Game, memory int) int
	// memory is the least bytes that a run takes, and how many of those that it is
	// given are this process's own.
	memory func(g game.Game, given int, o *solve.Options) (least, own int)
	// codec is the form of the tiers' directories where one is asked for.
	codec func(g game.Game, asked jobdir.Codec) jobdir.Codec
	// ready makes the runner; bin is where mapper and reducer are.
	ready func(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error)
}

// A readyRunner is a runner that knows what must be so before a run begins, and which
// attempts of a driver that died are still worked for.
type readyRunner interface {
	runner.Runner
	Preflight(ctx context.Context, g game.Game, codec jobdir.Codec, data string) error
	Keeps(ctx context.Context, attempt string) (bool, error)
}

var _ readyRunner = (*streaming.Runner)(nil)

// local is a runner of this machine: its programs are here, and end with the driver.
type local struct{ runner.Runner }

func (local) Preflight(context.Context, game.Game, jobdir.Codec, string) error { return nil }
func (local) Keeps(context.Context, string) (bool, error)                      { return false, nil }

// The names of the choices.
const (
	onInline = "inline"
	onPipe   = "pipe"
	onHadoop = "hadoop"
	onEMR    = "emr"
)

// choiceOf is the choice of a name.
func choiceOf(name string) (*choice, error) {
	one := func(game.Game, int) int { return 1 }
	inProcess := func(g game.Game, given int, o *solve.Options) (least, own int) {
		return inline.Least(g, o.UntilTier, o.Final == solve.FinalYes), given - runner.CodeMemory
	}
	switch name {
	case onInline:
		return &choice{
			dataDir:  func(name string) (string, error) { return name, nil },
			reducers: one,
			memory:   inProcess,
			codec:    asAsked,
			ready: func(_ *cli.Context, _ *filesys.Place, _ string, memory int) (readyRunner, error) {
				return local{&inline.Runner{Memory: memory}}, nil
			},
		}, nil
	case onPipe:
		return &choice{
			dataDir:  hereAlone,
			reducers: pipe.Reducers,
			memory: func(g game.Game, given int, o *solve.Options) (least, own int) {
				return pipe.Least(g, o.Reducers), pipe.Divide(g, given, o.Reducers).Driver
			},
			codec: asAsked,
			ready: func(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error) {
				programs, err := programsOf(c)
				if err != nil {
					return nil, err
				}
				r := &pipe.Runner{Bin: bin, Memory: memory, Programs: programs}
				if c.Bool("compare") {
					return local{&checked{theirs: r, ours: &pipe.Runner{Bin: bin, Memory: memory}, fs: place.FS}}, nil
				}
				return local{r}, nil
			},
		}, nil
	case onHadoop:
		return &choice{dataDir: hadoop.InDefault, reducers: one, memory: inProcess, codec: streaming.Codec, ready: clusterRunner}, nil
	}
	return nil, command.Usagef("--runner %q: expected %s, %s, %s or %s", name, onInline, onPipe, onHadoop, onEMR)
}

// asAsked is for a runner to which the form of directories is all the same.
func asAsked(_ game.Game, c jobdir.Codec) jobdir.Codec { return c }

// hereAlone refuses a name in HDFS, where the reducers of pipe cannot write.
func hereAlone(name string) (string, error) {
	there, err := hadoop.InHDFS(name)
	if err == nil && there {
		err = command.Usagef("--runner %s writes on this machine alone: of --data %s take --runner %s or %s", onPipe, name, onHadoop, onInline)
	}
	return name, err
}

// options turns the flags into options, all but the runner and the number of reducers.
func (ch *choice) options(c *cli.Context, kind game.Kind, g game.Game) (solve.Options, error) {
	o, err := solveOptions(c)
	if err != nil {
		return o, err
	}
	programs, err := checkPrograms(c, g)
	if err != nil {
		return o, err
	}
	if programs && !o.KeepAll {
		o.Codec = jobdir.Text // which is what they print
	}
	if codec := ch.codec(g, o.Codec); codec != o.Codec {
		if o.KeepAll {
			return o, command.Usagef("--compress: with --runner %s the directories of %s are text", c.String("runner"), kind.Name)
		}
		o.Codec = codec
	}
	return o, nil
}

// ownMemory is how many bytes of --memory are this process's own; it is an error if
// the run needs more than is given.
func (ch *choice) ownMemory(c *cli.Context, g game.Game, given int, o *solve.Options) (int, error) {
	least, own := ch.memory(g, given, o)
	if given >= least {
		return own, nil
	}
	what := g.Spec()
	if c.String("runner") == onPipe {
		what += fmt.Sprintf(" with %d reducers", o.Reducers)
	}
	return 0, command.Usagef("--memory %s: %s needs at least %dM", c.String("memory"), what, (least-1)>>20+1)
}

// readyRunnerOf makes the runner of a choice, with the programs beside this one.
func (ch *choice) readyRunnerOf(c *cli.Context, place *filesys.Place, memory int) (readyRunner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return ch.ready(c, place, filepath.Dir(self), memory)
}

// clusterOS is the system of a cluster's machines.
const clusterOS = "linux"

// clusterRunner makes the runner of a cluster. What is not worth a job there runs in
// this process.
func clusterRunner(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error) {
	r := &streaming.Runner{
		Bin: bin, FS: place.HDFS,
		Files: c.StringSlice("files"), Queue: c.String("queue"), Define: c.StringSlice("D"),
		Reducers: c.Int("reducers"), Above: c.Int64("cluster-above"), Small: &inline.Runner{Memory: memory},
	}
	if dir := c.String("cluster-bin"); dir != "" {
		r.Bin = dir
	} else if runtime.GOOS != clusterOS {
		r.Bin = filepath.Join(bin, clusterOS)
	}
	var err error
	if r.Command, err = hadoop.FindCommand(c.String("hadoop")); err != nil {
		return nil, err
	}
	if r.Jar, err = hadoop.FindStreamingJar(c.String("streaming-jar")); err != nil {
		return nil, err
	}
	properties, err := conf.Load(hadoop.ConfDir())
	if err != nil {
		return nil, err
	}
	r.Yarn = yarn.New(properties, place.HDFS.User())
	r.Yarn.Command = r.Command
	return r, nil
}
