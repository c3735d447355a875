package amazon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/command"
)

// logsDir is the directory of logs below --bucket.
const logsDir = "logs"

// upLimit is the default limit of a cluster made by driver-aws emr up.
const upLimit = 8 * time.Hour

// forgetAfter is how long after its limit a cluster is still listed if the service does not
// answer for it.
const forgetAfter = 24 * time.Hour

// emrManage returns driver-aws emr: commands for clusters and buckets without a run.
func emrManage() *cli.Command {
	f := new(emrFlags)
	id := &cli.StringFlag{Name: "cluster-id", Destination: &f.id, Usage: "this `CLUSTER` (j-…)"}
	yes := &cli.BoolFlag{Name: "yes", Usage: "don't ask"}
	asJSON := &cli.BoolFlag{Name: "json", Usage: "print each as a line of JSON"}
	account := f.ofAccount()
	commands := []*cli.Command{
		{
			Name:   "up",
			Usage:  "create the bucket if missing, and a cluster that waits for runs (solve --cluster-id)",
			Flags:  slices.Concat(account, f.ofCluster(), []cli.Flag{&cli.BoolFlag{Name: "bucket-only", Usage: "create the bucket only"}, yes}),
			Action: f.up,
		},
		{
			Name:   "status",
			Usage:  "list running clusters, or one with its steps",
			Flags:  slices.Concat(account, []cli.Flag{id, asJSON}),
			Action: f.status,
		},
		{
			Name:   "down",
			Usage:  "terminate a cluster, or all that this machine created; data in S3 stay",
			Flags:  slices.Concat(account, []cli.Flag{id, &cli.BoolFlag{Name: "all", Usage: "terminate every cluster that driver-aws solve or driver-aws emr up created from this machine"}}),
			Action: f.down,
		},
		{
			Name:   "rm",
			Usage:  "delete treereduce's data directories, programs and logs below --bucket, after listing them and asking",
			Flags:  slices.Concat(account, []cli.Flag{yes}),
			Action: f.remove,
		},
		{
			Name:  "policies",
			Usage: "write the minimal policies and roles for a run, and a script that creates them",
			Flags: []cli.Flag{
				account[0], account[1],
				&cli.StringFlag{Name: "dir", Usage: "the `DIRECTORY`", Value: "emr-policies"},
				&cli.StringFlag{Name: "service-role", Destination: &f.cluster.Service, Usage: "the `ROLE` of the service", Value: emr.DefaultService},
				&cli.StringFlag{Name: "instance-profile", Destination: &f.cluster.Profile, Usage: "the instance `PROFILE` of the nodes", Value: emr.DefaultProfile},
			},
			Action: f.policies,
		},
	}
	return &cli.Command{
		Name:        "emr",
		Usage:       "manage clusters of Amazon EMR and the bucket",
		ArgsUsage:   "COMMAND [flags]",
		Subcommands: commands,
		Action:      command.Unknown("command", command.Names(commands)),
	}
}

// begin does what these commands have in common: it checks the arguments and creates the
// emrCommand.
func (f *emrFlags) begin(c *cli.Context, place bucketPlace) (*emrCommand, context.Context, func(), error) {
	if err := command.NoArguments(c, ""); err != nil {
		return nil, nil, nil, err
	}
	if f.id != "" && !clusterID.MatchString(f.id) {
		return nil, nil, nil, command.Usagef("--cluster-id %q: expected j-…, as driver-aws emr status lists them", f.id)
	}
	e, err := newEMRCommand(c, f, place)
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, stop := command.Interruptible(c.Context)
	if err := e.connect(ctx); err != nil {
		stop()
		return nil, nil, nil, err
	}
	return e, ctx, stop, nil
}

// up implements driver-aws emr up.
func (f *emrFlags) up(c *cli.Context) error {
	place, err := bucketOf(f.bucket)
	if err != nil {
		return err
	}
	spec, err := f.newSpec(c, place)
	if err != nil {
		return err
	}
	e, ctx, stop, err := f.begin(c, place)
	if err != nil {
		return err
	}
	defer stop()
	if err := e.makeBucket(ctx); err != nil || c.Bool("bucket-only") {
		return err
	}
	e.printRegions()
	estimate := e.prices(spec)
	if estimate.limit, err = e.limitOf(upLimit, estimate); err != nil {
		return err
	}
	text := fmt.Sprintf("a cluster in %s that terminates when idle for %s; it %s", e.conf.Region, spec.Idle, estimate.latest("terminates"))
	if estimate.perHour > 0 {
		text = fmt.Sprintf("$%.2f per hour for %s", estimate.perHour, text)
	}
	if err := command.Confirm(ctx, c.App, c.Bool("yes"), text); err != nil {
		return err
	}
	if err := e.limit(spec, estimate.limit); err != nil {
		return err
	}
	spec.Name, spec.Keep = "treereduce "+place.String(), true
	spec.Tags[emr.TagOfRun] = place.String()
	if ctx.Err() != nil {
		return command.ErrInterrupted
	}
	var cluster *emr.Cluster
	if err := e.untilAnswered(ctx, func(ctx context.Context) (err error) {
		cluster, err = e.make(ctx, spec)
		return err
	}); err != nil {
		return err
	}
	err = cluster.Ready(ctx, func(s emr.ClusterState) { e.notify(s.String()) })
	if ctx.Err() != nil {
		err = command.ErrInterrupted
	}
	if errors.Is(err, emr.ErrEnded) {
		forget(cluster.ID)
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; the cluster keeps running: driver-aws emr down --cluster-id %s terminates it", err, cluster.ID)
	}
	_, err = fmt.Fprintln(c.App.Writer, cluster.ID)
	return err
}

// makeBucket opens the bucket, or creates it.
func (e *emrCommand) makeBucket(ctx context.Context) error {
	err := e.openBucket(ctx)
	if !errors.Is(err, s3.ErrNoBucket) {
		return err
	}
	if err := s3.MakeBucket(ctx, e.conf, e.place.bucket, path.Join(e.place.prefix, logsDir)); err != nil {
		return err
	}
	e.notify(fmt.Sprintf("created bucket s3://%s: abandoned uploads expire after %d days, logs after %d", e.place.bucket, s3.AbortDays, s3.LogDays))
	return e.openBucket(ctx)
}

// status implements driver-aws emr status.
func (f *emrFlags) status(c *cli.Context) error {
	e, ctx, stop, err := f.begin(c, bucketPlace{})
	if err != nil {
		return err
	}
	defer stop()
	if f.id != "" {
		return e.oneCluster(ctx, f.id, c.Bool("json"))
	}
	alive, err := e.service.Alive(ctx)
	if err != nil {
		return err
	}
	kept, err := rememberedClusters(e.notify)
	if err != nil {
		return err
	}
	ends := make(map[string]time.Time)
	for _, m := range kept {
		if m.Region != e.conf.Region {
			e.notify(fmt.Sprintf("cluster %s was created in %s (--region %s)", m.ID, m.Region, m.Region))
			continue
		}
		ends[m.ID] = m.Ends
		if slices.ContainsFunc(alive, func(s emr.ClusterState) bool { return s.ID == m.ID }) {
			continue
		}
		// The cluster may belong to another account.
		state, err := e.service.Cluster(m.ID).State(ctx)
		switch {
		case ctx.Err() != nil:
			return command.ErrInterrupted
		case err == nil && state.Over(), err != nil && time.Since(m.Ends) > forgetAfter:
			forget(m.ID)
		case err != nil:
			e.notify(fmt.Sprintf("cluster %s was created from this machine, and may run until %s: %v", m.ID, clock(m.Ends), err))
		}
	}
	if c.Bool("json") {
		out := json.NewEncoder(c.App.Writer)
		for _, s := range alive {
			if err := out.Encode(s); err != nil {
				return err
			}
		}
		return nil
	}
	if len(alive) == 0 {
		_, err := fmt.Fprintf(c.App.Writer, "no cluster in %s\n", e.conf.Region)
		return err
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "cluster\tstate\tsince\tends by\tname")
	for _, s := range alive {
		by := ""
		if at, ok := ends[s.ID]; ok {
			by = clock(at)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.State, clock(s.Created), by, s.Name)
	}
	return w.Flush()
}

// clock formats a time in the local time zone; "" for the zero time.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// oneCluster prints a cluster with its steps.
func (e *emrCommand) oneCluster(ctx context.Context, id string, asJSON bool) error {
	cluster := e.service.Cluster(id)
	state, err := cluster.State(ctx)
	if err != nil {
		return err
	}
	steps, err := cluster.Steps(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(e.app.Writer).Encode(struct {
			emr.ClusterState
			Steps []emr.StepState
		}{state, steps})
	}
	w := tabwriter.NewWriter(e.app.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, state)
	if place := state.Tags[emr.TagOfRun]; place != "" {
		fmt.Fprintf(w, "for %s\n", place)
	}
	for _, s := range steps {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, s.State, clock(s.Started), clock(s.Ended), strings.TrimSpace(s.Name+" "+s.Reason))
	}
	return w.Flush()
}

// down implements driver-aws emr down.
func (f *emrFlags) down(c *cli.Context) error {
	if (f.id != "") == c.Bool("all") {
		return command.Usagef("expected --cluster-id or --all")
	}
	e, ctx, stop, err := f.begin(c, bucketPlace{})
	if err != nil {
		return err
	}
	defer stop()
	ids := []string{f.id}
	if c.Bool("all") {
		kept, err := rememberedClusters(e.notify)
		if err != nil {
			return err
		}
		ids = nil
		for _, m := range kept {
			if m.Region == e.conf.Region {
				ids = append(ids, m.ID)
			} else {
				e.notify(fmt.Sprintf("cluster %s was created in %s: --region %s terminates it", m.ID, m.Region, m.Region))
			}
		}
		if len(ids) == 0 {
			e.notify("no cluster created from this machine is still running")
		}
	}
	var failed []error
	for _, id := range ids {
		if err := e.service.Cluster(id).End(ctx); err != nil {
			failed = append(failed, err)
			continue
		}
		forget(id)
		fmt.Fprintf(c.App.Writer, "%s ends\n", id)
	}
	return errors.Join(failed...)
}

// policies implements driver-aws emr policies.
func (f *emrFlags) policies(c *cli.Context) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	place, err := bucketOf(f.bucket)
	if err != nil {
		return err
	}
	g := emr.Grant{
		Bucket: place.bucket, Prefix: place.prefix, Region: cmp.Or(f.account.Region, os.Getenv("AWS_REGION")),
		Service: f.cluster.Service, Profile: f.cluster.Profile,
	}
	files, err := g.Policies()
	if err != nil {
		return err
	}
	dir := c.String("dir")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		mode := os.FileMode(0o666)
		if path.Ext(f.Name) == ".sh" {
			mode = 0o777
		}
		name := filepath.Join(dir, f.Name)
		if err := os.WriteFile(name, f.Content, mode); err != nil {
			return err
		}
		fmt.Fprintln(c.App.Writer, name)
	}
	return nil
}
