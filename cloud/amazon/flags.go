package amazon

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
)

// runnerName is the value of --runner.
const runnerName = "emr"

// flags contains the flags of the commands that use Amazon EMR.
type flags struct {
	bucket     string
	poll       time.Duration
	cluster    emr.Spec // without name, step, limit and tags
	price      float64  // dollars per hour for a node; 0: that of the table
	maxHours   float64
	maxDollars float64 // 0: no limit
	binaries   string
}

// runner returns the Runner that solves on Amazon EMR.
func (f *flags) runner() driver.Runner {
	return driver.Runner{Name: runnerName, Usage: "a cluster of Amazon EMR", Model: runnerName, Options: f,
		Takes: []string{"cluster-above", "D"}, Solve: f.solve}
}

// polling is the default of --poll.
const polling = 15 * time.Second

// ofPoll returns the flag for the polling interval.
func (f *flags) ofPoll() cli.Flag {
	return &cli.DurationFlag{Name: "poll", Destination: &f.poll, Usage: "how often to ask for the state of the cluster", Value: polling}
}

// Flags implements driver.RunnerOptions.
func (f *flags) Flags() []cli.Flag {
	return command.Group("runner emr: Amazon EMR", []cli.Flag{f.ofPoll(),
		&cli.StringFlag{Name: "bucket", Destination: &f.bucket, Usage: "S3 location of programs, logs and data: `s3://BUCKET/PREFIX`; --data is a name below it"},
		&cli.StringFlag{Name: "release", Destination: &f.cluster.Release, Usage: "the `RELEASE` of Amazon EMR", Value: emr.DefaultRelease},
		&cli.StringFlag{Name: "instance", Destination: &f.cluster.Worker, Usage: "instance `TYPE` of the workers", Value: emr.DefaultInstance},
		&cli.StringFlag{Name: "master-instance", Destination: &f.cluster.Master, Usage: "instance `TYPE` of the master, which runs the driver", DefaultText: "as --instance"},
		&cli.IntFlag{Name: "nodes", Destination: &f.cluster.Nodes, Usage: "`N` workers, which store the data", Value: 2},
		&cli.IntFlag{Name: "ebs-gb", Destination: &f.cluster.EBSGB, Usage: "`GB` of disk (gp3) for each node, in addition to its own", DefaultText: "none"},
		&cli.StringFlag{Name: "service-role", Destination: &f.cluster.Service, Usage: "the `ROLE` of the service", Value: emr.DefaultService},
		&cli.StringFlag{Name: "instance-profile", Destination: &f.cluster.Profile, Usage: "the instance `PROFILE` of the nodes", Value: emr.DefaultProfile},
		&cli.StringFlag{Name: "subnet", Destination: &f.cluster.Subnet, Usage: "the `SUBNET` of the nodes", DefaultText: "a subnet of the default VPC"},
		&cli.StringFlag{Name: "key-pair", Destination: &f.cluster.Key, Usage: "the EC2 `KEY` pair for ssh", DefaultText: "none"},
		&cli.StringSliceFlag{Name: "tags", Usage: "a tag of the cluster, `KEY=VALUE`"},
		&cli.Float64Flag{Name: "price", Destination: &f.price, Usage: "price of a node in `DOLLARS` per hour, with Amazon EMR's fee", DefaultText: "the list price"},
		&cli.Float64Flag{Name: "max-hours", Destination: &f.maxHours, Usage: "`HOURS` after which the cluster ends in any case", Value: 4},
		&cli.Float64Flag{Name: "max-dollars", Destination: &f.maxDollars, Usage: "largest cost of the cluster in `DOLLARS`, which may end it earlier", DefaultText: "no limit"},
		&cli.StringFlag{Name: "binaries", Destination: &f.binaries, Usage: "`DIRECTORY` of driver, mapper and reducer, built for the cluster's processor", DefaultText: "linux-amd64 or linux-arm64 in the directory of driver-aws, written by make build-emr"},
	})
}

// Validate implements driver.RunnerOptions. The flags are checked by spec and costOf.
func (f *flags) Validate(game.Game) error { return nil }

var (
	// bucketName matches the name of a bucket.
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// keyName matches a prefix or a name below it that needs no quotes anywhere.
	keyName = regexp.MustCompile(`^[A-Za-z0-9_.=-]+(/[A-Za-z0-9_.=-]+)*$`)
)

// isKey reports whether a name needs no quotes and has no "." or ".." elements, so that it is below its prefix.
func isKey(name string) bool {
	return keyName.MatchString(name) && path.Clean("/"+name) == "/"+name
}

// The directories below --bucket that contain no data.
const (
	programsDir = "bin"
	logsDir     = "logs"
	ownersDir   = "owners"
)

// A place is where a run has its data in S3.
type place struct {
	bucket string
	prefix string // without leading and trailing slashes; "": the complete bucket
	name   string // of the data directory, below the prefix
}

// placeOf parses the values of --bucket and --data.
func placeOf(uri, name string) (p place, err error) {
	if uri == "" {
		return p, command.Usagef("--bucket is missing: name a place for programs, logs and data, s3://BUCKET or s3://BUCKET/PREFIX")
	}
	rest, ok := strings.CutPrefix(uri, "s3://")
	p.bucket, p.prefix, _ = strings.Cut(rest, "/")
	p.prefix = strings.Trim(p.prefix, "/")
	if !ok || !bucketName.MatchString(p.bucket) || p.prefix != "" && !isKey(p.prefix) {
		return p, command.Usagef("--bucket %q: expected s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits and ._=-", uri)
	}
	first, _, _ := strings.Cut(name, "/")
	if !isKey(name) || slices.Contains([]string{programsDir, logsDir, ownersDir}, first) {
		return p, command.Usagef("--data %q: with --runner %s, expected a name below --bucket, of letters, digits and ._=-, not in %s, %s or %s", name, runnerName, programsDir, logsDir, ownersDir)
	}
	p.name = name
	return p, nil
}

// key returns the key of what is below the prefix.
func (p place) key(elements ...string) string {
	return path.Join(append([]string{p.prefix}, elements...)...)
}

// uri returns the address of what is below the prefix.
func (p place) uri(elements ...string) string {
	return "s3://" + path.Join(p.bucket, p.key(elements...))
}

// data returns the address of the data directory.
func (p place) data() string { return p.uri(p.name) }

// spec returns the cluster that the flags describe, for a run.
func (f *flags) spec(c *cli.Context, p place) (*emr.Spec, error) {
	s := f.cluster
	s.Master = cmp.Or(s.Master, s.Worker)
	s.LogURI = p.uri(logsDir) + "/"
	s.Tags = map[string]string{emr.ManagedTag: "true", emr.TagOfRun: p.data()}
	for _, tag := range c.StringSlice("tags") {
		key, value, ok := strings.Cut(tag, "=")
		if !ok || key == "" || strings.HasPrefix(key, emr.TagOfRun) {
			return nil, command.Usagef("--tags %q: expected KEY=VALUE, of a key that does not begin with %s", tag, emr.TagOfRun)
		}
		s.Tags[key] = value
	}
	if err := cmp.Or(command.AtLeast(c, 0, "cluster-above"), command.Positive(c, "poll", "max-hours", "max-dollars", "price"), command.Between(c, 0, 1e9, "max-hours", "max-dollars", "price")); err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, command.Usagef("%w", err)
	}
	return &s, nil
}
