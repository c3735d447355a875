package amazon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

var (
	// notHere lists the flags of all runners that are for a run of this process.
	notHere = []string{"metrics", "log"}
	// sent lists the flags that, if they are given, are passed unchanged to the driver on the cluster.
	sent = []string{"resume", "overwrite", "until-tier", "combine", "D"}
	// programs lists the programs that a cluster needs.
	programs = []string{"driver", "mapper", "reducer"}
)

// A run is a run of solve on Amazon EMR: the ordinary driver runs as the step of a cluster, with its data in
// HDFS, and copies what it commits to S3.
type run struct {
	*driver.Solve
	flags   *flags
	app     *cli.App
	bar     *progress.Line
	place   place
	spec    *emr.Spec
	cost    *cost
	options driver.Options
	memory  string // --memory of the driver on the cluster
	above   int64  // --cluster-above

	conf    sdk.Config
	service *emr.Service
	fs      *s3.FS
}

// solve implements solve --runner emr.
func (f *flags) solve(s *driver.Solve) error {
	r, err := newRun(s, f)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(s.Context.Context)
	defer stop()
	id, err := r.begin(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; %w", command.ErrInterrupted, err)
	}
	if err != nil {
		return err
	}
	return r.follow(ctx, id)
}

// newRun reads the flags of a run.
func newRun(s *driver.Solve, f *flags) (r *run, err error) {
	c := s.Context
	r = &run{Solve: s, flags: f, app: c.App, bar: progress.NewBar(c), above: c.Int64("cluster-above")}
	for _, flag := range notHere {
		if c.IsSet(flag) {
			return nil, command.Usagef("--%s is not for --runner %s", flag, runnerName)
		}
	}
	if r.place, err = placeOf(f.bucket, c.String("data")); err != nil {
		return nil, err
	}
	if r.spec, err = f.spec(c, r.place); err != nil {
		return nil, err
	}
	if r.cost, err = f.costOf(r.spec); err != nil {
		return nil, err
	}
	if !c.IsSet("cluster-above") && r.spec.Nodes > 1 {
		r.above = driver.SeveralAbove
	}
	return r, r.check()
}

// masterCores is the additional memory that a game may need on the cluster compared with this machine, because
// the master may have more cores.
const masterCores = 32 << 20

// check rejects options that the driver on the cluster would reject, and sets its --memory: the value of the
// command line, or else what the game needs, but at least the default.
func (r *run) check() (err error) {
	given, least := 0, 0
	if r.options, given, least, err = r.OnHadoop(); err != nil {
		return err
	}
	least += masterCores
	asked := r.Context.String("memory")
	switch {
	case !r.Context.IsSet("memory"):
		r.memory = fmt.Sprintf("%dM", (max(given, least)-1)>>20+1)
	case given < least:
		return command.Usagef("--memory %s: %s needs at least %dM on the cluster", asked, r.Game.Spec(), (least-1)>>20+1)
	default:
		r.memory = asked
	}
	return nil
}

// notify prints a line to the user.
func (r *run) notify(line string) { r.bar.Print(line) }

// begin returns the cluster of the run: one that is at work, which --resume follows, or one that it creates.
func (r *run) begin(ctx context.Context) (id string, err error) {
	if r.conf, err = aws.Load(ctx); err != nil {
		return "", err
	}
	r.service = emr.New(r.conf, r.flags.poll, r.notify)
	if r.fs, err = s3.New(ctx, r.conf, r.place.bucket); err != nil {
		return "", err
	}
	old, err := r.readOwner(ctx)
	if err != nil {
		return "", err
	}
	c, err := r.clusterOf(ctx, old)
	switch {
	case err != nil:
		return "", err
	case c != nil && r.Mode != store.Resume:
		return "", fmt.Errorf("cluster %s is already solving %s: --resume follows it, driver-aws emr down %[1]s ends it", c.ID, r.place.data())
	case c != nil:
		r.notify(fmt.Sprintf("cluster %s is already solving %s: following it", c.ID, r.place.data()))
		return c.ID, nil
	}
	if err := r.continues(); err != nil {
		return "", err
	}
	return r.create(ctx, old)
}

// continues checks that the copy in S3 allows this run, before anything starts that costs money. A run that
// goes on has the options that are stored with it, unless others are given.
func (r *run) continues() error {
	m, err := store.ReadManifest(r.fs, r.place.key(r.place.name))
	switch mode := r.Mode; {
	case errors.Is(err, fs.ErrNotExist) && mode == store.Resume:
		err = errors.New("no run to resume: start it without --resume")
	case errors.Is(err, fs.ErrNotExist), err != nil && mode == store.Overwrite && !errors.Is(err, store.ErrNewer):
		return nil
	case err == nil && mode == store.Fresh:
		err = fmt.Errorf("%w: --resume continues it, --overwrite starts over", store.ErrBegun)
	case err == nil && mode == store.Resume && m.Game != r.Game.Spec():
		err = fmt.Errorf("of another game: expected %q, found %q", r.Game.Spec(), m.Game)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.place.data(), err)
	}
	if r.Mode != store.Resume {
		return nil
	}
	if err := r.Continue(r.fs, r.place.key(r.place.name)); err != nil {
		return err
	}
	return r.check()
}

// words returns the command line of the driver on the cluster.
func (r *run) words() []string {
	c := r.Context
	words := []string{programs[0], "solve", r.Kind.Name}
	for _, p := range r.Kind.Params {
		words = append(words, "--"+p.Name, fmt.Sprint(c.Value(p.Name)))
	}
	for _, flag := range sent {
		switch v := c.Value(flag).(type) {
		case cli.StringSlice:
			for _, one := range v.Value() {
				words = append(words, "--"+flag, one)
			}
		default:
			if c.IsSet(flag) {
				words = append(words, fmt.Sprintf("--%s=%v", flag, v))
			}
		}
	}
	words = append(words, "--runner", "hadoop", "--data", path.Join("treereduce", r.place.bucket, r.place.key(r.place.name)), "--copy-to", r.place.data(),
		"--yes", "--memory="+r.memory, fmt.Sprintf("--cluster-above=%d", r.above))
	for _, name := range slices.Sorted(maps.Keys(r.options.Remember)) {
		words = append(words, fmt.Sprintf("--%s=%s", name, r.options.Remember[name]))
	}
	return words
}

// create creates the cluster.
func (r *run) create(ctx context.Context, old owner) (id string, err error) {
	files, err := r.files()
	if err != nil {
		return "", err
	}
	if region := r.fs.Region(); region != r.conf.Region {
		r.notify(fmt.Sprintf("bucket %s is in %s, the cluster in %s: about $0.02 per GB between them, and slower (AWS_REGION=%[2]s starts the cluster there)", r.place.bucket, region, r.conf.Region))
	}
	if err := command.Confirm(ctx, r.app, r.Context.Bool("yes"), game.TitleOf(r.Game)+" on "+r.cost.text(r.flags, r.spec)); err != nil {
		return "", err
	}
	at, err := r.put(files)
	if err != nil {
		return "", err
	}
	script := []emr.File{{Name: "limit.sh", Content: []byte(emr.LimitScript)}}
	limit, err := r.put(script)
	if err != nil {
		return "", err
	}
	s := r.spec
	s.Name = emr.NewName(namePrefix + r.place.data())
	s.Limit, s.LimitScript = r.cost.limit, limit+"/"+script[0].Name
	s.Tags[emr.TagOfEnd] = time.Now().Add(s.Limit).UTC().Format(time.RFC3339)
	step := emr.Command{Files: files, At: at, Words: r.words(), Limit: s.Limit - reserve, Owner: "s3://" + path.Join(r.place.bucket, r.ownerKey()), Name: s.Name}
	s.Step = step.Step()
	if err := s.Check(); err != nil {
		return "", command.Usagef("%w", err)
	}
	own, err := r.become(ctx, s.Name, old)
	if err != nil {
		return "", err
	}
	id, err = r.service.Create(ctx, s)
	if errors.Is(err, emr.ErrRefused) {
		_, free := r.become(context.WithoutCancel(ctx), "", own)
		return "", errors.Join(err, free)
	}
	if err != nil {
		return "", err
	}
	r.notify(fmt.Sprintf("creating cluster %s; driver-aws emr down %[1]s ends it", id))
	return id, nil
}

// namePrefix is the beginning of the names of our clusters.
const namePrefix = "treereduce "

// files reads the programs for the cluster.
func (r *run) files() (files []emr.File, err error) {
	arch, err := emr.Architecture(r.spec.Worker)
	if err != nil {
		return nil, err
	}
	dir := r.flags.binaries
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(filepath.Dir(self), driver.ClusterOS+"-"+arch)
	}
	for _, name := range programs {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("the programs for the cluster (%s, %s): %w: build them with make build-emr, or name another directory with --binaries", driver.ClusterOS, arch, err)
		}
		files = append(files, emr.File{Name: name, Content: content})
	}
	return files, nil
}

// put uploads files, and returns the address of their directory. The directory is named by their contents: a
// file that is there with the same size is not sent again.
func (r *run) put(files []emr.File) (at string, err error) {
	dir := r.place.key(programsDir, emr.DirOf(files))
	for _, f := range files {
		name := path.Join(dir, f.Name)
		if i, err := r.fs.Stat(name); err == nil && i.Size() == int64(len(f.Content)) {
			continue
		}
		r.notify(fmt.Sprintf("sending %s to %s", numfmt.Bytes(float64(len(f.Content))), r.fs.Name(name)))
		if err := r.fs.Put(name, f.Content); err != nil {
			return "", err
		}
	}
	return r.fs.Name(dir), nil
}

// follow follows a cluster until its step has ended, and prints the result or returns the cause.
func (r *run) follow(ctx context.Context, id string) error {
	r.bar = progress.New(r.Context)
	last := ""
	var seen time.Time
	c, err := r.service.Follow(ctx, id, func(c *emr.Cluster) bool {
		if text := c.String(); text != last {
			last = text
			r.notify(text)
		}
		// Progress comes from the journal in the copy, which driver status reads, too.
		if j, err := solve.ReadJournal(r.fs, r.place.key(r.place.name)); err == nil && j.Now != nil && j.Updated.After(seen) && !c.Step.Started.IsZero() && j.Updated.After(c.Step.Started) {
			seen = j.Updated
			r.bar.Report(*j.Now)
		}
		return c.Over()
	})
	r.bar.End()
	goOn := fmt.Sprintf("the run goes on, and its cluster will end: --resume follows it, driver-aws emr status shows it, driver-aws emr down %s ends it", id)
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w following; %s", command.ErrInterrupted, goOn)
	case err != nil:
		return fmt.Errorf("%w; %s", err, goOn)
	}
	now := c.Ended
	if now.IsZero() {
		now = time.Now()
	}
	text := fmt.Sprintf("cluster %s ends after %s", id, numfmt.Duration(now.Sub(c.Created).Round(time.Second)))
	if cost := r.cost.dollars(now.Sub(c.Created)); cost != "" {
		text += ", about " + cost
	}
	r.notify(text)
	if c.Step.State == "COMPLETED" {
		return r.result()
	}
	return r.failed(ctx, c)
}

// failed returns the error of a step that has not completed, with the cause from its log.
func (r *run) failed(ctx context.Context, c *emr.Cluster) error {
	goOn := "--resume continues"
	if _, err := store.ReadManifest(r.fs, r.place.key(r.place.name)); errors.Is(err, fs.ErrNotExist) {
		goOn = "nothing was copied to " + r.place.data() + " yet"
	}
	if c.Step.State != "FAILED" {
		return fmt.Errorf("%s; %s", c, goOn)
	}
	cause, err := r.service.StepLog(ctx, r.fs, r.place.key(logsDir), c)
	switch {
	case ctx.Err() != nil:
		err = command.ErrInterrupted
	case err == nil:
		return fmt.Errorf("%s; %s; %s", cmp.Or(command.Printable(cause), "the step wrote no error"), c, goOn)
	}
	return fmt.Errorf("%s; %s; its log: %w", c, goOn, err)
}

// result prints the result of a run, from its table in S3.
func (r *run) result() error {
	out, data := r.app.Writer, r.place.data()
	if r.options.UntilTier >= 0 {
		_, err := fmt.Fprintf(out, "%s: reached tier %d; driver-aws status --data %s\n", game.TitleOf(r.Game), r.options.UntilTier, data)
		return err
	}
	t, err := table.OpenOf(r.fs, r.place.key(r.place.name), r.Game)
	if err != nil {
		return err
	}
	defer t.Close()
	start, ok, err := t.Lookup(r.Game.Start())
	if err == nil && !ok {
		err = fmt.Errorf("%s: the table has no initial position", data)
	}
	if err != nil {
		return err
	}
	n, err := t.Positions()
	if err != nil {
		return err
	}
	if r.Context.Bool("json") {
		return json.NewEncoder(out).Encode(map[string]any{"game": r.Game.Spec(), "solved": true,
			"value": r.Game.Values().Word(start.Outcome()), "positions": n, "table": data + "/" + table.Dir})
	}
	fmt.Fprintf(out, "%s: %s\n%s\ntable: %s/%s\n", game.TitleOf(r.Game), notation.Summary(r.Game.Values(), start), numfmt.Count(n, "position"), data, table.Dir)
	if _, err := r.fs.Stat(r.place.key(r.place.name, solve.FinalDir)); err == nil {
		fmt.Fprintf(out, "final: %s/%s\n", data, solve.FinalDir)
	}
	return nil
}
