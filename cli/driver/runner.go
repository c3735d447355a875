package driver

import (
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	rules "github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/runner/pipe"
	"github.com/treereduce/treereduce/internal/engine/runner/streaming"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/trial"
)

var (
	_ Preflighter = (*streaming.Runner)(nil)
	_ Ender       = (*streaming.Runner)(nil)
)

// ours returns the runners that every driver has.
func ours() []Runner {
	ofPipe, ofHadoop := new(pipeOptions), new(hadoopOptions)
	return []Runner{
		{Name: plan.Inline, Usage: "this process", Model: plan.Inline, Prepare: func(s *Start) (JobRunner, error) {
			return Inline(s.Memory), s.inProcess()
		}},
		{Name: plan.Pipe, Usage: "mapper, sort and reducer processes", Model: plan.Pipe, Options: ofPipe, Directory: hereAlone, Prepare: ofPipe.prepare},
		{Name: plan.Hadoop, Usage: "a cluster", Model: plan.Hadoop, Options: ofHadoop, Directory: hadoop.InDefault, Prepare: ofHadoop.prepare},
	}
}

// Inline returns the runner inline, which executes jobs in this process within memory bytes.
func Inline(memory int) JobRunner { return &inline.Runner{Memory: memory} }

// leastMemory returns the least --memory, in bytes, with which the runner of a model can solve a game: for --runner pipe, with
// one reducer unless the options have another number.
func leastMemory(model string, g game.Game, o *Options) int {
	m := method.Of(g)
	if model == plan.Pipe {
		return max(minMemory, pipe.Least(m, max(1, o.Reducers)))
	}
	return max(minMemory, m.LeastInline(o.UntilTier, o.Final == solve.FinalYes))
}

// inProcess prepares a run of which this process executes jobs.
func (s *Start) inProcess() error {
	s.Own = s.Memory - runner.CodeMemory
	return s.Needs(leastMemory(plan.Inline, s.Game, s.Options))
}

// planned returns the runners that driver plan knows: emr is among them in every driver.
func (p *program) planned() []Runner {
	all := append(ours(), p.Runners...)
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
	if name == plan.EMR {
		return nil, command.Usagef("--runner %s: build bin/driver-aws with make aws", name)
	}
	return nil, command.Usagef("--runner %q: expected %s", name, strings.Join(names, ", "))
}

// check refuses the flags that only others of all runners take, and wrong values of its own.
func (r *Runner) check(c *cli.Context, all []Runner, g game.Game) error {
	owners := make(map[string][]string)
	for _, one := range all {
		names := one.Takes
		for _, flag := range one.flags() {
			names = append(names, flag.Names()[0])
		}
		for _, name := range names {
			owners[name] = append(owners[name], one.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		if c.IsSet(name) && !slices.Contains(owners[name], r.Name) {
			return command.Usagef("--%s is an option of --runner %s", name, strings.Join(owners[name], " and "))
		}
	}
	if r.Options == nil {
		return nil
	}
	return r.Options.Validate(g)
}

// directory returns the name of a data directory in the form that the runner needs.
func (r *Runner) directory(name string) (string, error) {
	if r.Directory == nil {
		return name, nil
	}
	return r.Directory(name)
}

// flags returns the flags of the runner.
func (r *Runner) flags() []cli.Flag {
	if r.Options == nil {
		return nil
	}
	return r.Options.Flags()
}

// pipeOptions are the flags of --runner pipe.
type pipeOptions struct {
	words    cli.StringSlice   // STEP=COMMAND
	programs map[string]string // the commands by their steps, such as possible_map; see Validate
	compare  bool
}

// Flags implements RunnerOptions.
func (p *pipeOptions) Flags() []cli.Flag {
	return command.Group("runner pipe: your own steps", []cli.Flag{
		&cli.StringSliceFlag{Name: "program", Destination: &p.words, Usage: "a line of the shell that is run instead of a step's program, `STEP=COMMAND`: possible_map='python3 my_map.py'"},
		&cli.BoolFlag{Name: "compare", Destination: &p.compare, Usage: "compare the output of each --program with ours, and stop at the first difference"},
	})
}

// prepare implements Runner.Prepare.
func (p *pipeOptions) prepare(s *Start) (JobRunner, error) {
	o, m := s.Options, method.Of(s.Game)
	if o.Reducers == 0 {
		o.Reducers = pipe.Reducers(m, s.Memory)
	}
	if err := s.Needs(leastMemory(plan.Pipe, s.Game, o)); err != nil {
		return nil, fmt.Errorf("%w with %s", err, numfmt.Count(o.Reducers, "reducer"))
	}
	s.Own = pipe.Divide(m, s.Memory, o.Reducers).Driver
	jobs := pipe.Runner{Bin: s.Bin, Memory: s.Memory, Programs: p.programs}
	if p.compare {
		return &trial.Runner{Runner: jobs}, nil
	}
	return &jobs, nil
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

// ClusterOS is the operating system of a cluster's machines.
const ClusterOS = "linux"

// clusterAbove is the default of --cluster-above: the number of records that this process
// handles, at 20 ns each, in the 10 s that a job needs to start (docs/hadoop.md).
const clusterAbove = 500_000_000

// hadoopOptions are the flags of --runner hadoop.
type hadoopOptions struct {
	above                   int64
	define, files           cli.StringSlice
	queue, hadoop, jar, bin string
	copyTo                  string
}

// Flags implements RunnerOptions.
func (h *hadoopOptions) Flags() []cli.Flag {
	return command.Group("runner hadoop", []cli.Flag{
		&cli.StringFlag{Name: "copy-to", Destination: &h.copyTo, Usage: "keep a copy of the data directory at `URI` during the run, e.g. s3a://bucket/path; --resume fetches it if there is no data directory"},
		&cli.Int64Flag{Name: "cluster-above", Destination: &h.above, Usage: "run a job on the cluster if it reads more than `N` records, otherwise in this process", Value: clusterAbove},
		&cli.StringSliceFlag{Name: "D", Destination: &h.define, Usage: "a property of the jobs, `KEY=VALUE`"},
		&cli.StringFlag{Name: "queue", Destination: &h.queue, Usage: "YARN `QUEUE` of the jobs"},
		&cli.StringSliceFlag{Name: "files", Destination: &h.files, Usage: "a further `FILE` for the tasks"},
		&cli.StringFlag{Name: "hadoop", Destination: &h.hadoop, Usage: "the `COMMAND` hadoop", DefaultText: "from PATH, HADOOP_HOME or the directory of driver"},
		&cli.StringFlag{Name: "streaming-jar", Destination: &h.jar, Usage: "streaming `JAR`", DefaultText: "from HADOOP_STREAMING_JAR or the usual places"},
		&cli.StringFlag{Name: "cluster-bin", Destination: &h.bin, Usage: "`DIRECTORY` of mapper and reducer, built for the cluster (Linux)", DefaultText: "the directory of driver; its folder linux if driver does not run on Linux"},
	})
}

// Validate implements RunnerOptions.
func (h *hadoopOptions) Validate(game.Game) error {
	if h.above < 0 {
		return command.Usagef("--cluster-above %d: expected 0 or more", h.above)
	}
	if h.copyTo == "" {
		return nil
	}
	if err := streaming.CheckCopy(h.copyTo); err != nil {
		return command.Usagef("--copy-to %w", err)
	}
	return nil
}

// prepare implements Runner.Prepare. Jobs that are too small for the cluster run in this process.
func (h *hadoopOptions) prepare(s *Start) (JobRunner, error) {
	if err := s.inProcess(); err != nil {
		return nil, err
	}
	r, err := h.cluster(s.hdfs)
	if err != nil {
		return nil, err
	}
	r.Reducers, r.Small, r.Bin = s.Options.Reducers, Inline(s.Memory), s.Bin
	if h.bin != "" {
		r.Bin = h.bin
	} else if runtime.GOOS != ClusterOS {
		r.Bin = filepath.Join(s.Bin, ClusterOS)
	}
	if s.rules != nil {
		if err := ship(s.rules, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// cluster returns what runs commands of the Hadoop installation for a run whose data directory is in fsys.
func (h *hadoopOptions) cluster(fsys *hadoop.FS) (*streaming.Runner, error) {
	r := &streaming.Runner{FS: fsys, Files: h.files.Value(), Queue: h.queue, Define: h.define.Value(), Above: h.above}
	name, err := hadoop.FindCommand(h.hadoop)
	if err != nil {
		return nil, err
	}
	if r.Jar, err = hadoop.FindStreamingJar(h.jar); err != nil {
		return nil, err
	}
	properties, err := conf.Load(hadoop.ConfDir())
	if err != nil {
		return nil, err
	}
	r.Yarn = yarn.New(name, properties, fsys.User())
	r.Yarn.WrapTransport(fsys.Transport)
	return r, nil
}

// ship adds a rules program to what the tasks of a cluster get.
func ship(p *rules.Program, to *streaming.Runner) error {
	words, files, err := p.There()
	for _, name := range p.Files() {
		if !slices.ContainsFunc(to.Files, func(given string) bool { return filepath.Clean(given) == filepath.Clean(name) }) {
			to.Files = append(to.Files, name)
		}
	}
	to.Define = append(to.Define, "treereduce."+command.RulesProperty+"="+words, "treereduce."+command.FilesProperty+"="+strings.Join(files, ":"))
	return err
}
