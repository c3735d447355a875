package amazon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/mirror"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/table"
)

// logPatience is how long to wait for the logs of a failed step: the service delivers them
// about every five minutes.
const logPatience = 12 * time.Minute

// cancelPatience is how long a canceled step may take to stop cleanly.
const cancelPatience = 2 * time.Minute

// answerTime is how long the answer to a request that creates a cluster or a step is waited for
// after Ctrl-C, to know what was created.
const answerTime = 10 * time.Second

// An emrCommand is the common part of the commands that use Amazon EMR.
type emrCommand struct {
	flags      *emrFlags
	app        *cli.App
	place      bucketPlace
	conf       sdk.Config
	service    *emr.Service
	answerTime time.Duration
	fs         *s3.FS // the bucket
	bar        *progress.Line
}

// newEMRCommand returns the common part of a command with these flags.
func newEMRCommand(c *cli.Context, f *emrFlags, place bucketPlace) (*emrCommand, error) {
	return &emrCommand{flags: f, app: c.App, place: place, answerTime: answerTime, bar: progress.NewBar(c)}, command.Positive(c, "poll")
}

// connect loads the credentials of the account.
func (e *emrCommand) connect(ctx context.Context) (err error) {
	if e.conf, err = aws.Load(ctx, e.flags.account); err != nil {
		return err
	}
	e.service = emr.New(e.conf, emr.Options{Poll: e.flags.poll, News: e.notify})
	return nil
}

// openBucket opens the bucket, which must exist.
func (e *emrCommand) openBucket(ctx context.Context) (err error) {
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	e.fs, err = s3.New(ctx, e.conf, e.place.bucket)
	if errors.Is(err, s3.ErrNoBucket) {
		return fmt.Errorf("%w (driver-aws emr up --bucket-only --bucket %s creates it)", err, e.place)
	}
	return err
}

// untilAnswered sends requests that create something that costs money. Their context ends
// answerTime after ctx.
func (e *emrCommand) untilAnswered(ctx context.Context, create func(context.Context) error) error {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		e.notify(fmt.Sprintf("stopped: waiting up to %v for the answer of Amazon EMR, to know what was created", e.answerTime))
		select {
		case <-longer.Done():
		case <-time.After(e.answerTime):
			cancel()
		}
	})()
	err := create(longer)
	if err != nil && longer.Err() != nil {
		return fmt.Errorf("%w; %w", command.ErrInterrupted, err)
	}
	return err
}

// printRegions prints the price of transfers if the bucket and the cluster are in different
// regions.
func (e *emrCommand) printRegions() {
	if e.fs != nil && e.fs.Region() != e.conf.Region {
		e.notify(fmt.Sprintf("bucket s3://%s is in %s, the cluster in %s: about $0.02 per GB between them, and slower (--region %s starts the cluster there)",
			e.place.bucket, e.fs.Region(), e.conf.Region, e.fs.Region()))
	}
}

// notify prints a line to the user.
func (e *emrCommand) notify(line string) { e.bar.Print(line) }

// put uploads a bundle below the place, and returns its S3 address.
func (e *emrCommand) put(b *emr.Bundle) (uri string, err error) {
	dir, err := b.Put(e.fs, e.place.prefix, func(name string, bytes int) {
		e.notify(fmt.Sprintf("sending %s to s3://%s/%s", numfmt.Bytes(float64(bytes)), e.place.bucket, name))
	})
	return "s3://" + path.Join(e.place.bucket, dir), err
}

// An emrSolve is a run of solve on Amazon EMR: the driver runs as one step of a cluster.
type emrSolve struct {
	*emrCommand
	run       *driver.Solve
	g         game.Game
	data      string // the data directory within the bucket
	spec      *emr.Spec
	keep      bool // don't terminate the cluster after the run
	yes, json bool

	// What the driver on the cluster gets:
	args    []string // the flags that are passed unchanged
	above   int64    // --cluster-above
	asked   string   // --memory as given here; "": not given
	memory  string
	options driver.Options
}

// uri returns the address of the data directory in S3.
func (r *emrSolve) uri() string { return "s3://" + path.Join(r.place.bucket, r.data) }

// notOnEMR lists the flags of all runners that only apply to a run of this process.
var notOnEMR = []string{"metrics", "log"}

// sent lists the flags of solve that, if they are given, are passed unchanged to the driver on the cluster.
var sent = []string{"resume", "overwrite", "until-tier", "combine", "D", "queue"}

// ofAnyCluster lists the cluster flags that are also accepted with --cluster-id. They describe
// the cluster's nodes (for the estimate and the choice of binaries), the time limit of the
// step, and the place of the logs.
var ofAnyCluster = []string{"instance", "master-instance", "nodes", "spot-nodes", "ebs-gb", "price", "max-hours", "max-dollars", "log-uri"}

// Flags implements driver.RunnerOptions: the flags of solve that only --runner emr uses.
func (f *emrFlags) Flags() []cli.Flag { return f.ofSolve() }

// Validate implements driver.RunnerOptions.
func (f *emrFlags) Validate(game.Game) error { return nil }

// runner returns the Runner that solves on Amazon EMR.
func (f *emrFlags) runner() driver.Runner {
	return driver.Runner{Name: plan.EMR, Usage: "a cluster of Amazon EMR", Model: plan.EMR, Options: f,
		Takes: []string{"cluster-above", "D", "queue"}, Solve: f.solve}
}

// solve runs solve with --runner emr: a driver like this one runs as one step on the
// master of a cluster, with --runner hadoop, and copies what it commits to S3.
func (f *emrFlags) solve(s *driver.Solve) error {
	r, err := newEMRSolve(s, f)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(s.Context.Context)
	defer stop()
	if err := r.connect(ctx); err != nil {
		return interrupted(ctx, err)
	}
	cluster, step, err := r.join(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	return r.finish(ctx, cluster, step)
}

// join returns the step of the run and its cluster: one that is active, or one that it starts.
func (r *emrSolve) join(ctx context.Context) (cluster *emr.Cluster, step string, err error) {
	if err := r.openBucket(ctx); err != nil {
		return nil, "", err
	}
	mode := r.run.Mode
	if cluster, step, err = r.atWork(ctx, mode); err != nil {
		return nil, "", err
	}
	if err := r.mayBegin(mode, step != ""); err != nil || step != "" {
		return cluster, step, err
	}
	if err := r.mayWrite(ctx); err != nil {
		return nil, "", err
	}
	if mode == store.Resume {
		if err := r.run.Continue(r.fs, r.data); err != nil {
			return nil, "", err
		}
		if err := r.checkOptions(); err != nil {
			return nil, "", err
		}
	}
	r.printRegions()
	return r.begin(ctx)
}

// newEMRSolve reads the flags of a run.
func newEMRSolve(s *driver.Solve, f *emrFlags) (_ *emrSolve, err error) {
	c := s.Context
	place, err := bucketOf(f.bucket)
	if err != nil {
		return nil, err
	}
	r := &emrSolve{run: s, g: s.Game, keep: f.keep, yes: c.Bool("yes"), json: c.Bool("json"), args: argsOf(c, s.Kind), above: c.Int64("cluster-above")}
	if r.emrCommand, err = newEMRCommand(c, f, place); err != nil {
		return nil, err
	}
	name := c.String("data")
	first, _, _ := strings.Cut(name, "/")
	if !isKey(name) || slices.Contains([]string{"bin", "logs"}, first) {
		return nil, command.Usagef("--data %q: with --runner %s, expected a name below --bucket, of letters, digits and ._=-, not in bin or logs", name, plan.EMR)
	}
	r.data = path.Join(r.place.prefix, name)
	if err := f.check(c); err != nil {
		return nil, err
	}
	if c.IsSet("copy") {
		return nil, command.Usagef("--copy: not for --runner %s, whose data are in S3, below --bucket", plan.EMR)
	}
	if r.spec, err = f.newSpec(c, r.place); err != nil {
		return nil, err
	}
	if !c.IsSet("cluster-above") && r.spec.Core+r.spec.Spot > 1 {
		r.above = driver.SeveralAbove
	}
	if c.IsSet("memory") {
		r.asked = c.String("memory")
	}
	return r, r.checkOptions()
}

// argsOf returns the parameters of the game, and the flags of sent that are given.
func argsOf(c *cli.Context, kind game.Kind) (args []string) {
	for _, p := range kind.Params {
		args = append(args, "--"+p.Name, fmt.Sprint(c.Value(p.Name)))
	}
	for _, flag := range sent {
		if !c.IsSet(flag) {
			continue
		}
		switch v := c.Value(flag).(type) {
		case cli.StringSlice:
			for _, one := range v.Value() {
				args = append(args, "--"+flag, one)
			}
		default:
			args = append(args, fmt.Sprintf("--%s=%v", flag, v))
		}
	}
	return args
}

const (
	// masterCores is the additional memory that a game may need on the cluster compared with
	// this machine, because the master may have more cores.
	masterCores = 32 << 20
	// masterDaemons is the memory of Hadoop's daemons on the master.
	masterDaemons = 8 << 30
)

// checkOptions rejects options that the driver on the cluster would reject, and sets its
// --memory: the value of the command line, or else what the game needs, but at least the
// default.
func (r *emrSolve) checkOptions() error {
	options, memory, least, err := r.run.OnHadoop()
	if err != nil {
		return err
	}
	r.options = options
	least += masterCores
	switch {
	case r.asked == "":
		r.memory = fmt.Sprintf("%dM", (max(memory, least)-1)>>20+1)
		memory = max(memory, least)
	case memory < least:
		return command.Usagef("--memory %s: %s needs at least %dM on the cluster", r.asked, r.g.Spec(), (least-1)>>20+1)
	default:
		r.memory = r.asked
	}
	if master, ok := instanceNamed(r.spec.Master); ok && r.flags.id == "" && float64(memory)+masterDaemons > master.Memory {
		return command.Usagef("--memory %s: Hadoop's daemons take %s of the %s of the master, %s: name a larger type with --master-instance",
			r.memory, numfmt.Bytes(masterDaemons), numfmt.Bytes(master.Memory), master.Name)
	}
	return nil
}

// check rejects flags that only apply to this machine, and, with --cluster-id, flags
// that describe a cluster to be created.
func (f *emrFlags) check(c *cli.Context) error {
	if err := command.AtLeast(c, 0, "cluster-above"); err != nil {
		return err
	}
	for _, flag := range notOnEMR {
		if c.IsSet(flag) {
			return command.Usagef("--%s is not for --runner %s", flag, plan.EMR)
		}
	}
	if queue := c.String("queue"); queue != "" && queue != "default" && f.id == "" {
		return command.Usagef("--queue %s: a new cluster has only the queue default; name a running cluster with --cluster-id", queue)
	}
	if f.id != "" {
		for _, flag := range f.ofCluster() {
			if name := flag.Names()[0]; c.IsSet(name) && !slices.Contains(ofAnyCluster, name) {
				return command.Usagef("--%s is for a new cluster, not for a running one (--cluster-id)", name)
			}
		}
	}
	return nil
}

// mayBegin checks that the data directory in S3 allows this run. It is called before anything
// starts that costs money, and before an active step is followed (atWork).
func (r *emrSolve) mayBegin(mode store.Mode, atWork bool) error {
	begun, err := mirror.Begun(r.fs, r.data, r.g.Spec(), mode)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", r.uri(), err)
	case !begun && mode == store.Resume && !atWork:
		return fmt.Errorf("%s: no run to resume: start it without --resume", r.uri())
	}
	return nil
}

// mayWrite checks that the data directory in S3 can be claimed, as the driver on the cluster
// will do: it makes a claim and releases it. If another driver has a claim, mayWrite waits once
// for it to expire, because that driver may be dead.
func (r *emrSolve) mayWrite(ctx context.Context) error {
	for waited := false; ; waited = true {
		claim, _, err := r.fs.Claim(ctx, path.Join(r.data, mirror.OwnerFile), whoami(), s3.Hold)
		if err == nil {
			return claim.Release(ctx)
		}
		var held *s3.ClaimedError
		if !errors.As(err, &held) || waited || held.Left > s3.Hold {
			return err
		}
		r.notify(fmt.Sprintf("%v: waiting until then", err))
		if err := aws.Sleep(ctx, held.Left+time.Second); err != nil {
			return err
		}
	}
}

// name returns the name of the cluster and of its step. atWork finds a run by it.
func (r *emrSolve) name() string { return "treereduce " + r.uri() }

// atWork finds an active step that works on the same data directory. With --resume that step is
// followed; without it the run is refused. step is "" if there is no such step.
func (r *emrSolve) atWork(ctx context.Context, mode store.Mode) (cluster *emr.Cluster, step string, err error) {
	alive, err := r.service.Alive(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, state := range alive {
		// A cluster created for something else in the bucket, e.g. by driver-aws emr up, may run
		// the step, too.
		own := strings.HasPrefix(state.Name, r.name()+" ")
		if state.ID != r.flags.id && !own && !madeFor(state.Name, bucketPlace{bucket: r.place.bucket}) {
			continue
		}
		cluster := r.service.Cluster(state.ID)
		steps, err := cluster.Steps(ctx)
		if err != nil {
			return nil, "", err
		}
		for _, s := range steps {
			if s.Over() || s.Name != r.name() && !strings.HasPrefix(s.Name, r.name()+" ") {
				continue
			}
			if mode == store.Resume {
				r.keep = r.keep || state.ID == r.flags.id || !own
				r.notify(fmt.Sprintf("cluster %s is already solving %s: following its step %s", state.ID, r.uri(), s.ID))
				return cluster, s.ID, nil
			}
			return nil, "", fmt.Errorf("cluster %s is already solving %s: --resume follows it, driver-aws emr down --cluster-id %s terminates it", state.ID, r.uri(), state.ID)
		}
	}
	return nil, "", nil
}

// words returns the command line of the driver on the cluster.
func (r *emrSolve) words() []string {
	words := append([]string{"solve", r.run.Kind.Name}, r.args...)
	words = append(words, "--runner", plan.Hadoop, "--data", path.Join("treereduce", r.place.bucket, r.data), "--copy", r.uri(), "--yes",
		"--memory="+r.memory, fmt.Sprintf("--cluster-above=%d", r.above))
	for _, name := range slices.Sorted(maps.Keys(r.options.Remember)) {
		words = append(words, fmt.Sprintf("--%s=%s", name, r.options.Remember[name]))
	}
	return words
}

// step returns the step that runs the driver, with the programs at an address in S3.
func (r *emrSolve) step(programs *emr.Bundle, at string, limit time.Duration, endsCluster bool) emr.Step {
	s := emr.Program(r.name(), programs, at, program, r.words(), limit)
	s.EndsCluster = endsCluster
	return s
}

// begin starts the step, on a new cluster or on the one that --cluster-id names.
func (r *emrSolve) begin(ctx context.Context) (*emr.Cluster, string, error) {
	arch, err := emr.Architecture(r.spec.Worker)
	if err != nil {
		return nil, "", err
	}
	programs, err := programsFor(r.flags.binaries, arch)
	if err != nil {
		return nil, "", err
	}
	var cluster *emr.Cluster
	if r.flags.id != "" {
		if cluster, err = r.service.Join(ctx, r.flags.id); err != nil {
			return nil, "", err
		}
	}
	estimate, err := r.estimate(ctx)
	if err != nil {
		return nil, "", err
	}
	stepLimit := estimate.stepLimit()
	if cluster != nil {
		kept, err := rememberedClusters(r.notify)
		if err == nil {
			stepLimit, err = estimate.stepLimitOn(r.flags.id, kept, time.Now())
		}
		if err != nil {
			return nil, "", err
		}
	}
	if err := command.Confirm(ctx, r.app, r.yes, estimate.text(r)); err != nil {
		return nil, "", err
	}
	at, err := r.put(programs)
	if err != nil {
		return nil, "", err
	}
	if cluster != nil {
		step := ""
		err := r.untilAnswered(ctx, func(ctx context.Context) (err error) {
			step, err = cluster.Add(ctx, r.step(programs, at, stepLimit, false))
			return err
		})
		if err != nil {
			return nil, "", err
		}
		r.notify(fmt.Sprintf("step %s of cluster %s", step, cluster.ID))
		return cluster, step, nil
	}
	if err := r.limit(r.spec, estimate.limit); err != nil {
		return nil, "", err
	}
	r.spec.Name, r.spec.Keep = r.name(), r.keep
	r.spec.Tags[emr.TagOfRun] = r.uri()
	r.spec.Steps = []emr.Step{r.step(programs, at, stepLimit, !r.keep)}
	return r.start(ctx)
}

// start creates the cluster with its step, and prints its id immediately. After Ctrl-C it waits for
// the answer for a while: the user should know of every cluster that exists.
func (r *emrSolve) start(ctx context.Context) (cluster *emr.Cluster, step string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	err = r.untilAnswered(ctx, func(ctx context.Context) error {
		if cluster, err = r.make(ctx, r.spec); err != nil {
			return err
		}
		steps, err := cluster.Steps(ctx)
		if err == nil && len(steps) == 0 {
			err = errors.New("it has no step")
		}
		if err != nil {
			return fmt.Errorf("cluster %s was created, and will terminate (driver-aws emr down --cluster-id %s terminates it now): %w", cluster.ID, cluster.ID, err)
		}
		step = steps[len(steps)-1].ID
		return nil
	})
	return cluster, step, err
}

// interrupted converts the error of a request that was canceled by Ctrl-C.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || errors.Is(err, command.ErrInterrupted) {
		return err
	}
	return fmt.Errorf("%w before anything was started", command.ErrInterrupted)
}

// finish follows a step to its end, prints its result or returns its error, and terminates the
// cluster if it was created for this run.
func (r *emrSolve) finish(ctx context.Context, cluster *emr.Cluster, step string) error {
	r.bar = progress.New(r.run.Context)
	last := ""
	var seen time.Time
	err := cluster.Wait(ctx, step, func(s emr.StepState, c emr.ClusterState) {
		if text := fmt.Sprintf("%s; step %s: %s", c, s.ID, s.State); text != last {
			last = text
			r.notify(text)
		}
		// Progress comes from the journal in the copy, which driver status reads, too.
		if j, err := solve.ReadJournal(r.fs, r.data); err == nil && j.Now != nil && j.Updated.After(seen) && !s.Started.IsZero() && j.Updated.After(s.Started) {
			seen = j.Updated
			r.bar.Report(*j.Now)
		}
	})
	r.bar.End()
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return r.leaveOrCancel(context.WithoutCancel(ctx), cluster, step)
	}
	after := context.WithoutCancel(ctx)
	var failed *emr.StepError
	isStep := errors.As(err, &failed)
	if err != nil && !isStep {
		return fmt.Errorf("%w; the cluster keeps running, and will terminate: driver-aws solve … --resume follows it, driver-aws emr down --cluster-id %s terminates it", err, cluster.ID)
	}
	ended := r.seeToCluster(after, cluster)
	if !isStep {
		err := r.result()
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w; the run is complete: driver-aws status --data %s shows it", command.ErrInterrupted, r.uri())
		}
		return errors.Join(err, ended)
	}
	return errors.Join(r.why(ctx, cluster, failed, err), ended)
}

// seeToCluster terminates a cluster that was created for the run.
func (r *emrSolve) seeToCluster(ctx context.Context, cluster *emr.Cluster) error {
	if r.keep || r.flags.id != "" {
		r.notify(fmt.Sprintf("cluster %s keeps running: driver-aws emr down --cluster-id %s terminates it", cluster.ID, cluster.ID))
		return nil
	}
	if err := cluster.End(ctx); err != nil {
		return err
	}
	r.notify(fmt.Sprintf("cluster %s terminates", cluster.ID))
	forget(cluster.ID)
	return nil
}

// why returns the error of a failed step with its probable cause: the error in the journal of
// the driver on the cluster, or else what the logs contain.
func (r *emrSolve) why(ctx context.Context, cluster *emr.Cluster, failed *emr.StepError, err error) error {
	goOn := "driver-aws solve … --resume continues"
	if _, err := store.ReadManifest(r.fs, r.data); errors.Is(err, fs.ErrNotExist) {
		goOn = "nothing was copied to " + r.uri() + " yet"
	}
	j, readErr := solve.ReadJournal(r.fs, r.data)
	current := readErr == nil && !failed.Step.Started.IsZero() && j.Begun.After(failed.Step.Started.Add(-time.Minute)) // clocks differ
	switch {
	case current && j.State == solve.Failed && j.Error != "":
		return fmt.Errorf("%s; %w; %s", j.Error, err, goOn)
	case current && j.State == solve.Stopped:
		return fmt.Errorf("the driver on the cluster was stopped by its limit or cancelled: %w; %s", err, goOn)
	case errors.Is(err, emr.ErrEnded):
		return fmt.Errorf("%w; %s", err, goOn)
	}
	logFS, dir, logErr := r.logsOf(ctx, cluster)
	if logErr != nil {
		return fmt.Errorf("%w; the logs of the step cannot be read: %w; %s", err, logErr, goOn)
	}
	logs := emr.Logs{FS: logFS, Dir: dir, Cluster: cluster.ID, Every: r.flags.poll, Patience: logPatience, News: r.notify}
	stderr, syslog, logErr := logs.Step(ctx, failed.Step.ID)
	cause := yarn.FailureOf("the step", stderr, syslog)
	switch {
	case ctx.Err() != nil:
		return errors.Join(err, command.ErrInterrupted)
	case logErr != nil:
		return fmt.Errorf("%w; %w; %s", err, logErr, goOn)
	case cause.Text == "":
		return fmt.Errorf("%w; the logs of the step contain no message; %s", err, goOn)
	}
	return fmt.Errorf("%s; %w; %s", cause, err, goOn)
}

// logsOf returns the directory into which a cluster writes its logs. It may be in another bucket than
// the data.
func (r *emrSolve) logsOf(ctx context.Context, cluster *emr.Cluster) (*s3.FS, string, error) {
	state, err := cluster.State(ctx)
	if err != nil {
		return nil, "", err
	}
	if state.LogURI == "" {
		return nil, "", fmt.Errorf("cluster %s writes none", cluster.ID)
	}
	bucket, dir, _ := strings.Cut(strings.TrimPrefix(state.LogURI, s3.Scheme), "/") // dir may be ""
	if bucket == r.place.bucket {
		return r.fs, dir, nil
	}
	fsys, err := s3.New(ctx, r.conf, bucket)
	return fsys, dir, err
}

// leaveOrCancel handles an interrupt while a step is followed: at a terminal it asks whether to
// cancel the step; otherwise the step continues.
func (r *emrSolve) leaveOrCancel(ctx context.Context, cluster *emr.Cluster, step string) error {
	left := fmt.Errorf("%w following; the step keeps running: driver-aws solve … --resume follows it, driver-aws status --data %s shows it, driver-aws emr down --cluster-id %s terminates it",
		command.ErrInterrupted, r.uri(), cluster.ID)
	if answer, asked := command.Ask(ctx, r.app, "Leave the run, or cancel it? [leave]"); !asked || !strings.HasPrefix(answer, "c") {
		return left
	}
	within, cancel := context.WithTimeout(ctx, cancelPatience)
	defer cancel()
	err := cluster.Cancel(within, step)
	if err == nil {
		// Give the driver time to write its journal before the cluster is terminated.
		if err = cluster.Wait(within, step, nil); err != nil {
			if errors.As(err, new(*emr.StepError)) || within.Err() != nil {
				err = nil
			}
		}
	}
	if err := errors.Join(err, r.seeToCluster(ctx, cluster)); err != nil {
		return err
	}
	return fmt.Errorf("%w; --resume continues", command.ErrInterrupted)
}

// result prints the result of a run, from its table in S3.
func (r *emrSolve) result() error {
	out := r.app.Writer
	if r.options.UntilTier >= 0 {
		_, err := fmt.Fprintf(out, "%s: reached tier %d; driver-aws status --data %s\n", game.TitleOf(r.g), r.options.UntilTier, r.uri())
		return err
	}
	t, err := table.OpenOf(r.fs, r.data, r.g)
	if err != nil {
		return err
	}
	defer t.Close()
	start, ok, err := t.Lookup(r.g.Start())
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s: the table has no initial position", r.uri())
	}
	n, err := t.Positions()
	if err != nil {
		return err
	}
	if r.json {
		return json.NewEncoder(out).Encode(map[string]any{"game": r.g.Spec(), "solved": true,
			"value": r.g.Values().Word(start.Outcome()), "positions": n, "table": r.uri() + "/" + table.Dir})
	}
	fmt.Fprintf(out, "%s: %s\n%s\ntable: %s/%s\n", game.TitleOf(r.g), notation.Summary(r.g.Values(), start), numfmt.Count(n, "position"), r.uri(), table.Dir)
	if _, err := r.fs.Stat(path.Join(r.data, solve.FinalDir)); err == nil {
		fmt.Fprintf(out, "final: %s/%s\n", r.uri(), solve.FinalDir)
	}
	return nil
}
