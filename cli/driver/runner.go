package driver

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
	"github.com/treereduce/treereduce/internal/engine/runner/trial"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/plan"
)

var (
	_ Preflighter = (*streaming.Runner)(nil)
	_ Keeper      = (*streaming.Runner)(nil)
)

// ours returns the runners that every driver has, with their flags in f.
func ours(f *solveFlags) []Runner {
	inProcess := func(m game.Method, given int, o *Options) (least, own int) {
		return inline.Least(m, o.UntilTier, o.Final == solve.FinalYes), given - runner.CodeMemory
	}
	return []Runner{
		{
			Name: plan.Inline, Usage: "this process", Model: plan.Inline,
			Memory: inProcess,
			New:    func(s *Start) (JobRunner, error) { return Inline(s.Memory), nil },
		}, {
			Name: plan.Pipe, Usage: "mapper, sort and reducer processes", Model: plan.Pipe,
			Flags:     f.ofPipe(),
			Directory: hereAlone,
			Reducers:  pipe.Reducers,
			Memory: func(m game.Method, given int, o *Options) (least, own int) {
				return pipe.Least(m, o.Reducers), pipe.Divide(m, given, o.Reducers).Driver
			},
			New: pipeRunner,
		}, {
			Name: plan.Hadoop, Usage: "a cluster", Model: plan.Hadoop,
			Flags:     f.ofHadoop(),
			Directory: hadoop.InDefault,
			Memory:    inProcess,
			Codec:     streaming.Codec,
			New:       clusterRunner,
		},
	}
}

// Inline returns the runner inline, which executes jobs in this process within memory bytes.
func Inline(memory int) JobRunner { return &inline.Runner{Memory: memory} }

// runners returns all values of --runner. Our flags are in f.
func (p *program) runners(f *solveFlags) []Runner { return append(ours(f), p.Runners...) }

// planned returns the runners that driver plan knows: emr is among them in every driver.
func (p *program) planned() []Runner {
	all := p.runners(new(solveFlags))
	if _, err := runnerNamed(all, plan.EMR); err != nil {
		all = append(all, Runner{Name: plan.EMR, Model: plan.EMR})
	}
	return all
}

// runnerNamed returns the Runner with a name.
func runnerNamed(all []Runner, name string) (*Runner, error) {
	var names []string
	for i, r := range all {
		if r.Name == name {
			return &all[i], nil
		}
		names = append(names, r.Name)
	}
	return nil, command.Usagef("--runner %q: expected %s", name, strings.Join(names, ", "))
}

// checkFlags refuses the flags that only others of all runners take.
func (r *Runner) checkFlags(c *cli.Context, all []Runner) error {
	owners := make(map[string][]string)
	var names []string
	for _, one := range all {
		for _, flag := range one.Flags {
			names = append(names, flag.Names()[0])
			owners[flag.Names()[0]] = append(owners[flag.Names()[0]], one.Name)
		}
		for _, name := range one.Takes {
			owners[name] = append(owners[name], one.Name)
		}
	}
	for _, name := range names {
		if c.IsSet(name) && !slices.Contains(owners[name], r.Name) {
			return command.Usagef("--%s is an option of --runner %s", name, strings.Join(owners[name], " and "))
		}
	}
	return nil
}

// pipeRunner creates the runner pipe.
func pipeRunner(s *Start) (JobRunner, error) {
	programs, err := programsOf(s.flags.programs)
	if err != nil {
		return nil, err
	}
	r := &pipe.Runner{Bin: s.Bin, Memory: s.Memory, Programs: programs}
	if s.flags.compare {
		return &trial.Runner{Theirs: r, Ours: &pipe.Runner{Bin: s.Bin, Memory: s.Memory}, FS: s.FS}, nil
	}
	return r, nil
}

// hereAlone rejects a name in HDFS, because the reducers of pipe cannot write there, and Windows.
func hereAlone(name string) (string, error) {
	if runtime.GOOS == "windows" {
		return name, command.Usagef("--runner %s: Windows has neither the sort nor the shell that it calls: use --runner %s", plan.Pipe, plan.Inline)
	}
	there, err := hadoop.InHDFS(name)
	if err == nil && there {
		err = command.Usagef("--runner %s writes only on this machine: for --data %s use --runner %s or %s", plan.Pipe, name, plan.Hadoop, plan.Inline)
	}
	return name, err
}

// options converts the flags to options, except the runner and the number of reducers.
func (r *Runner) options(f *solveFlags, kind game.Kind, m game.Method) (Options, error) {
	o, err := f.options()
	if err != nil {
		return o, err
	}
	programs, err := f.checkPrograms(m)
	if err != nil {
		return o, err
	}
	if programs && !o.KeepAll {
		o.Codec = jobdir.Text // the programs print text
	}
	if r.Codec == nil {
		return o, nil
	}
	if codec := r.Codec(m, o.Codec); codec != o.Codec {
		if o.KeepAll {
			return o, command.Usagef("--compress: with --runner %s, the directories of %s are text", f.runner, kind.Name)
		}
		o.Codec = codec
	}
	return o, nil
}

// directory returns the name of a data directory in the form that the runner needs.
func (r *Runner) directory(name string) (string, error) {
	if r.Directory == nil {
		return name, nil
	}
	return r.Directory(name)
}

// memory returns the minimum memory of a run in bytes, and the part of the given memory that belongs
// to this process.
func (r *Runner) memory(m game.Method, given int, o *Options) (least, own int) {
	if r.Memory == nil {
		return 0, given
	}
	return r.Memory(m, given, o)
}

// ownMemory returns the part of --memory that belongs to this process, in bytes. It is an error
// if the run needs more than the given memory.
func (r *run) ownMemory(m game.Method, given int, o *Options) (int, error) {
	least, own := r.chosen.memory(m, given, o)
	if given >= least {
		return own, nil
	}
	what := m.Game.Spec()
	if r.chosen.Reducers != nil {
		what += fmt.Sprintf(" with %d reducers", o.Reducers)
	}
	return 0, command.Usagef("--memory %s: %s needs at least %dM", r.flags.memory, what, (least-1)>>20+1)
}

// ClusterOS is the operating system of a cluster's machines.
const ClusterOS = "linux"

// clusterRunner creates the runner for a cluster. Jobs that are too small for the cluster run
// in this process.
func clusterRunner(s *Start) (JobRunner, error) {
	f, fsys := s.flags, s.hdfs
	r := &streaming.Runner{
		Bin: s.Bin, FS: fsys,
		Files: f.files, Queue: f.queue, Define: f.define,
		Reducers: f.reducers, Above: f.above, Small: Inline(s.Memory),
	}
	if f.bin != "" {
		r.Bin = f.bin
	} else if runtime.GOOS != ClusterOS {
		r.Bin = filepath.Join(s.Bin, ClusterOS)
	}
	var err error
	if r.Command, err = hadoop.FindCommand(f.hadoop); err != nil {
		return nil, err
	}
	if r.Jar, err = hadoop.FindStreamingJar(f.jar); err != nil {
		return nil, err
	}
	properties, err := conf.Load(hadoop.ConfDir())
	if err != nil {
		return nil, err
	}
	r.Yarn = yarn.New(properties, fsys.User())
	r.Yarn.Command = r.Command
	r.Yarn.WrapTransport(fsys.Transport)
	return r, nil
}
