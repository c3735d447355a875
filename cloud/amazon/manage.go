package amazon

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
)

// clusterID matches the id of a cluster.
var clusterID = regexp.MustCompile(`^j-[A-Z0-9]+$`)

// emrCommand returns driver-aws emr: what still runs, and its end. Clusters are found by their tag.
func emrCommand() *cli.Command {
	f := &flags{poll: polling}
	commands := []*cli.Command{
		{
			Name:   "status",
			Usage:  "list the clusters of driver-aws that cost money",
			Action: f.status,
		},
		{
			Name:      "down",
			Usage:     "end clusters of driver-aws; data in S3 stay",
			ArgsUsage: "[CLUSTER…]",
			Flags: []cli.Flag{f.ofPoll(), &cli.BoolFlag{Name: "all", Usage: "end all that emr status lists, after asking"},
				&cli.BoolFlag{Name: "yes", Usage: "don't ask"}},
			Action: f.down,
		},
	}
	return &cli.Command{
		Name:        "emr",
		Usage:       "list and end clusters of Amazon EMR",
		ArgsUsage:   "COMMAND [flags]",
		Subcommands: commands,
		Action:      command.Unknown("command", command.Names(commands)),
	}
}

// clusters returns the clusters that the arguments name, or else all that cost money.
func (f *flags) clusters(c *cli.Context) (service *emr.Service, all []*emr.Cluster, err error) {
	for _, id := range c.Args().Slice() {
		if !clusterID.MatchString(id) {
			return nil, nil, command.Usagef("%q: expected a cluster, j-…, as driver-aws emr status lists them", id)
		}
	}
	conf, err := aws.Load(c.Context)
	if err != nil {
		return nil, nil, err
	}
	service = emr.New(conf, f.poll, progress.NewBar(c).Print)
	for _, id := range c.Args().Slice() {
		cluster, err := service.Cluster(c.Context, id)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, cluster)
	}
	if c.NArg() == 0 {
		all, err = service.Alive(c.Context, namePrefix)
	}
	return service, all, err
}

// status implements driver-aws emr status.
func (f *flags) status(c *cli.Context) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	_, all, err := f.clusters(c)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "no cluster of driver-aws costs money in this region")
		return err
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "since\tends by\tdata\tstate")
	for _, cluster := range all {
		ends, _ := time.Parse(time.RFC3339, cluster.Tags[emr.TagOfEnd]) // a tag that a user has changed is not shown
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", clock(cluster.Created), clock(ends), command.Printable(cluster.Tags[emr.TagOfRun]), command.Printable(cluster.String()))
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

// down implements driver-aws emr down.
func (f *flags) down(c *cli.Context) error {
	if err := command.Positive(c, "poll"); err != nil {
		return err
	}
	if (c.NArg() > 0) == c.Bool("all") {
		return command.Usagef("expected the clusters to end, j-…, or --all")
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	service, all, err := f.clusters(c)
	if err != nil || len(all) == 0 {
		return err
	}
	if c.Bool("all") {
		if err := command.Confirm(ctx, c.App, c.Bool("yes"), "ending "+listOf(all)); err != nil {
			return err
		}
	}
	var failed []error
	for _, cluster := range all {
		if err := service.End(ctx, cluster.ID); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(c.App.Writer, "%s ends\n", cluster.ID)
	}
	if ctx.Err() != nil && errors.Is(errors.Join(failed...), context.Canceled) {
		failed = append(failed, command.ErrInterrupted)
	}
	return errors.Join(failed...)
}

// listOf names clusters and their data.
func listOf(all []*emr.Cluster) string {
	var names []string
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s (%s)", c.ID, command.Printable(c.Tags[emr.TagOfRun])))
	}
	return strings.Join(names, ", ")
}
