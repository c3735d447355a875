package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

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
	"github.com/treereduce/treereduce/internal/result/trial"
)

// A choice is a value of --runner, with everything in which the runners differ for the command
// line.
type choice struct {
	// dataDir converts the name of the data directory to the form that the runner needs.
	dataDir func(name string) (string, error)
	// reducers returns the default number of reducers.
	reducers func(m game.Method, memory int) int
	// memory returns the minimum memory of a run in bytes, and the part of the given memory
	// that belongs to this process.
	memory func(m game.Method, given int, o *solve.Options) (least, own int)
	// codec returns the form of the tiers' directories, given the one that is asked for.
	codec func(m game.Method, asked jobdir.Codec) jobdir.Codec
	// ready creates the runner; bin is the directory of mapper and reducer.
	ready func(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error)
}

// A readyRunner is a runner that can also check the preconditions of a run, and can report which
// attempts of a dead driver are still in use by a running job.
type readyRunner interface {
	runner.Runner
	Preflight(ctx context.Context, g game.Game, codec jobdir.Codec, data string) error
	Keeps(ctx context.Context, attempt string) (bool, error)
}

var _ readyRunner = (*streaming.Runner)(nil)

// local is a runner on this machine: it has no preconditions, and its processes end with the
// driver.
type local struct{ runner.Runner }

// CanHalve reports whether the runner can compute half of the positions.
func (l local) CanHalve() bool {
	h, ok := l.Runner.(runner.Halver)
	return ok && h.CanHalve()
}

func (local) Preflight(context.Context, game.Game, jobdir.Codec, string) error { return nil }
func (local) Keeps(context.Context, string) (bool, error)                      { return false, nil }

// The values of --runner.
const (
	onInline = "inline"
	onPipe   = "pipe"
	onHadoop = "hadoop"
)

// choiceOf returns the choice with a name.
func (p *program) choiceOf(name string) (*choice, error) {
	if ch := builtin(name); ch != nil {
		return ch, nil
	}
	r := p.runner(name)
	if r == nil {
		names := []string{onInline, onPipe, onHadoop}
		for _, r := range p.Runners {
			names = append(names, r.Name)
		}
		return nil, command.Usagef("--runner %q: expected %s", name, strings.Join(names, ", "))
	}
	return &choice{
		dataDir:  asNamed,
		reducers: one,
		memory:   func(_ game.Method, given int, _ *solve.Options) (least, own int) { return 0, given },
		codec:    asAsked,
		ready: func(c *cli.Context, _ *filesys.Place, _ string, memory int) (readyRunner, error) {
			jobs, err := r.New(c, memory)
			return local{jobs}, err
		},
	}, nil
}

// builtin returns the choice of a runner that every driver has; nil if there is none with the
// name.
func builtin(name string) *choice {
	inProcess := func(m game.Method, given int, o *solve.Options) (least, own int) {
		return inline.Least(m, o.UntilTier, o.Final == solve.FinalYes), given - runner.CodeMemory
	}
	switch name {
	case onInline:
		return &choice{
			dataDir:  asNamed,
			reducers: one,
			memory:   inProcess,
			codec:    asAsked,
			ready: func(_ *cli.Context, _ *filesys.Place, _ string, memory int) (readyRunner, error) {
				return local{&inline.Runner{Memory: memory}}, nil
			},
		}
	case onPipe:
		return &choice{
			dataDir:  hereAlone,
			reducers: pipe.Reducers,
			memory: func(m game.Method, given int, o *solve.Options) (least, own int) {
				return pipe.Least(m, o.Reducers), pipe.Divide(m, given, o.Reducers).Driver
			},
			codec: asAsked,
			ready: func(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error) {
				programs, err := programsOf(c)
				if err != nil {
					return nil, err
				}
				r := &pipe.Runner{Bin: bin, Memory: memory, Programs: programs}
				if c.Bool("compare") {
					return local{&trial.Runner{Theirs: r, Ours: &pipe.Runner{Bin: bin, Memory: memory}, FS: place.FS}}, nil
				}
				return local{r}, nil
			},
		}
	case onHadoop:
		return &choice{dataDir: hadoop.InDefault, reducers: one, memory: inProcess, codec: streaming.Codec, ready: clusterRunner}
	}
	return nil
}

// asNamed is the dataDir function of a runner that works on this machine.
func asNamed(name string) (string, error) { return name, nil }

// one is the reducers function of a runner that needs no more.
func one(game.Method, int) int { return 1 }

// asAsked is the codec function of a runner that supports every form of directory.
func asAsked(_ game.Method, c jobdir.Codec) jobdir.Codec { return c }

// hereAlone rejects a name in HDFS, because the reducers of pipe cannot write there.
func hereAlone(name string) (string, error) {
	there, err := hadoop.InHDFS(name)
	if err == nil && there {
		err = command.Usagef("--runner %s writes only on this machine: for --data %s use --runner %s or %s", onPipe, name, onHadoop, onInline)
	}
	return name, err
}

// options converts the flags to options, except the runner and the number of reducers.
func (ch *choice) options(c *cli.Context, kind game.Kind, m game.Method) (solve.Options, error) {
	o, err := solveOptions(c)
	if err != nil {
		return o, err
	}
	programs, err := checkPrograms(c, m)
	if err != nil {
		return o, err
	}
	if programs && !o.KeepAll {
		o.Codec = jobdir.Text // the programs print text
	}
	if codec := ch.codec(m, o.Codec); codec != o.Codec {
		if o.KeepAll {
			return o, command.Usagef("--compress: with --runner %s, the directories of %s are text", c.String("runner"), kind.Name)
		}
		o.Codec = codec
	}
	return o, nil
}

// ownMemory returns the part of --memory that belongs to this process, in bytes. It is an error
// if the run needs more than the given memory.
func (ch *choice) ownMemory(c *cli.Context, m game.Method, given int, o *solve.Options) (int, error) {
	least, own := ch.memory(m, given, o)
	if given >= least {
		return own, nil
	}
	what := m.Game.Spec()
	if c.String("runner") == onPipe {
		what += fmt.Sprintf(" with %d reducers", o.Reducers)
	}
	return 0, command.Usagef("--memory %s: %s needs at least %dM", c.String("memory"), what, (least-1)>>20+1)
}

// readyRunnerOf creates the runner of a choice, with the mapper and reducer from this program's
// directory.
func (ch *choice) readyRunnerOf(c *cli.Context, place *filesys.Place, memory int) (readyRunner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return ch.ready(c, place, filepath.Dir(self), memory)
}

// ClusterOS is the operating system of a cluster's machines.
const ClusterOS = "linux"

// clusterRunner creates the runner for a cluster. Jobs that are too small for the cluster run
// in this process.
func clusterRunner(c *cli.Context, place *filesys.Place, bin string, memory int) (readyRunner, error) {
	r := &streaming.Runner{
		Bin: bin, FS: place.HDFS,
		Files: command.ListOf(c, "files"), Queue: c.String("queue"), Define: command.ListOf(c, "D"),
		Reducers: c.Int("reducers"), Above: c.Int64("cluster-above"), Small: &inline.Runner{Memory: memory},
	}
	if dir := c.String("cluster-bin"); dir != "" {
		r.Bin = dir
	} else if runtime.GOOS != ClusterOS {
		r.Bin = filepath.Join(bin, ClusterOS)
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
	r.Yarn.WrapTransport(place.HDFS.Transport)
	return r, nil
}
