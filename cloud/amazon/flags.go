package amazon

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/internal/command"
)

// emrGroup is the heading of the flags of Amazon EMR in the help.
const emrGroup = "Amazon EMR (--runner emr)"

// defaultNodes is the default of --nodes.
const defaultNodes = 2

// emrFlags contains the flags of the commands that use Amazon EMR. Each command has some of them.
type emrFlags struct {
	bucket     string
	account    aws.Options
	poll       time.Duration
	cluster    emr.Spec // a new one, see newSpec
	price      float64  // dollars per hour for a node; 0: the list price
	maxHours   float64  // 0: by the estimate
	maxDollars float64  // 0: no limit
	id         string   // the identifier of a running cluster
	binaries   string
	keep       bool
}

// ofSolve returns the flags of solve that only --runner emr uses.
func (f *emrFlags) ofSolve() []cli.Flag {
	return command.Group(emrGroup, append(f.ofAccount(), append(f.ofCluster(),
		&cli.StringFlag{Name: "cluster-id", Destination: &f.id, Usage: "run on this `CLUSTER` (j-…) instead of a new one"},
		&cli.StringFlag{Name: "binaries", Destination: &f.binaries, Usage: "`DIRECTORY` of driver-aws, mapper and reducer, built for the cluster's processor", DefaultText: "linux-amd64 or linux-arm64 in the directory of driver-aws, written by make build-emr"},
		&cli.BoolFlag{Name: "keep-cluster", Destination: &f.keep, Usage: "keep the cluster after the run; it terminates when idle for --idle, and at its limit"},
	)...))
}

// ofAccount returns the flags for the AWS account: bucket, region, profile.
func (f *emrFlags) ofAccount() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "bucket", Destination: &f.bucket, Usage: "S3 location of programs, logs and data: `s3://BUCKET/PREFIX`; --data is a name below it"},
		&cli.StringFlag{Name: "region", Destination: &f.account.Region, Usage: "`REGION` of Amazon", DefaultText: "AWS_REGION, or that of the profile"},
		&cli.StringFlag{Name: "profile", Destination: &f.account.Profile, Usage: "the `PROFILE` of ~/.aws", DefaultText: "AWS_PROFILE"},
		&cli.DurationFlag{Name: "poll", Destination: &f.poll, Usage: "polling interval", Value: 15 * time.Second},
	}
}

// ofCluster returns the flags that describe a cluster and limit its cost.
func (f *emrFlags) ofCluster() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "release", Destination: &f.cluster.Release, Usage: "the `RELEASE` of Amazon EMR", Value: emr.DefaultRelease},
		&cli.StringFlag{Name: "instance", Destination: &f.cluster.Worker, Usage: "instance `TYPE` of the workers", Value: emr.DefaultInstance},
		&cli.StringFlag{Name: "master-instance", Destination: &f.cluster.Master, Usage: "instance `TYPE` of the master, which runs the driver", DefaultText: "as --instance"},
		&cli.IntFlag{Name: "nodes", Destination: &f.cluster.Core, Usage: "`N` on-demand workers, which store the data", Value: defaultNodes},
		&cli.IntFlag{Name: "spot-nodes", Destination: &f.cluster.Spot, Usage: "`N` additional spot workers, which store no data and may be reclaimed", DefaultText: "none"},
		&cli.IntFlag{Name: "ebs-gb", Destination: &f.cluster.EBSGB, Usage: "`GB` of disk (gp3) for each node, in addition to its own", DefaultText: "none"},
		&cli.Float64Flag{Name: "price", Destination: &f.price, Usage: "price of a node in `DOLLARS` per hour, with Amazon EMR's fee", DefaultText: "the list price"},
		&cli.StringFlag{Name: "log-uri", Destination: &f.cluster.LogURI, Usage: "S3 location of logs: `s3://…`", DefaultText: "logs/ below --bucket"},
		&cli.StringFlag{Name: "service-role", Destination: &f.cluster.Service, Usage: "the `ROLE` of the service", Value: emr.DefaultService},
		&cli.StringFlag{Name: "instance-profile", Destination: &f.cluster.Profile, Usage: "the instance `PROFILE` of the nodes", Value: emr.DefaultProfile},
		&cli.StringFlag{Name: "subnet", Destination: &f.cluster.Subnet, Usage: "the `SUBNET` of the nodes", DefaultText: "a subnet of the default VPC"},
		&cli.StringFlag{Name: "key-pair", Destination: &f.cluster.Key, Usage: "the EC2 `KEY` pair for ssh", DefaultText: "none"},
		&cli.StringSliceFlag{Name: "tags", Usage: "a tag of the cluster, `KEY=VALUE`"},
		&cli.DurationFlag{Name: "idle", Destination: &f.cluster.Idle, Usage: "idle time after which a kept cluster terminates", Value: emr.DefaultIdle},
		&cli.Float64Flag{Name: "max-hours", Destination: &f.maxHours, Usage: "`HOURS` after which the cluster terminates in any case", DefaultText: "three times the estimate, at least 2"},
		&cli.Float64Flag{Name: "max-dollars", Destination: &f.maxDollars, Usage: "largest cost of the cluster in `DOLLARS`, which may end it earlier", DefaultText: "no limit"},
	}
}

// A bucketPlace is a place in S3, s3://BUCKET/PREFIX.
type bucketPlace struct {
	bucket string
	prefix string // without leading and trailing slashes
}

// bucketName matches the name of a bucket.
var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// keyName matches a prefix or a name below it that needs no quoting anywhere.
var keyName = regexp.MustCompile(`^[A-Za-z0-9_.=-]+(/[A-Za-z0-9_.=-]+)*$`)

// isKey reports whether a name has that form and no "." or ".." elements, so that it is below
// its prefix.
func isKey(name string) bool {
	return keyName.MatchString(name) && path.Clean("/"+name) == "/"+name
}

// bucketOf parses the value of --bucket.
func bucketOf(uri string) (b bucketPlace, err error) {
	if uri == "" {
		return b, command.Usagef("--bucket is missing: name a place for programs, logs and data, s3://BUCKET or s3://BUCKET/PREFIX")
	}
	rest, ok := strings.CutPrefix(uri, "s3://")
	b.bucket, b.prefix, _ = strings.Cut(rest, "/")
	b.prefix = strings.Trim(b.prefix, "/")
	if !ok || !bucketName.MatchString(b.bucket) || b.prefix != "" && !isKey(b.prefix) {
		return b, command.Usagef("--bucket %q: expected s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits and ._=-", uri)
	}
	return b, nil
}

// String returns the place without a trailing slash.
func (b bucketPlace) String() string {
	return "s3://" + b.path()
}

// path returns the place without s3://.
func (b bucketPlace) path() string { return strings.TrimSuffix(b.bucket+"/"+b.prefix, "/") }

// newSpec returns the cluster that the flags describe, without steps or limit.
func (f *emrFlags) newSpec(c *cli.Context, b bucketPlace) (*emr.Spec, error) {
	s := f.cluster
	s.Tags = map[string]string{emr.ManagedTag: "true"}
	s.Master = cmp.Or(s.Master, s.Worker)
	if s.LogURI == "" {
		s.LogURI = b.String() + "/logs/"
	} else if !strings.HasPrefix(s.LogURI, "s3://") {
		return nil, command.Usagef("--log-uri %q: expected s3://…", s.LogURI)
	}
	for _, tag := range c.StringSlice("tags") {
		key, value, ok := strings.Cut(tag, "=")
		if !ok || key == "" || key == emr.TagOfRun {
			return nil, command.Usagef("--tags %q: expected KEY=VALUE, of a key other than %s", tag, emr.TagOfRun)
		}
		s.Tags[key] = value
	}
	if err := cmp.Or(command.Positive(c, "max-hours", "max-dollars", "price"), command.Between(c, 0, 1e9, "max-hours", "max-dollars", "price")); err != nil {
		return nil, err
	}
	named := s
	named.Name, named.Keep = "treereduce", true
	if err := named.Check(); err != nil {
		return nil, command.Usagef("%w", err)
	}
	return &s, nil
}

// program is the name of the command driver with this Extension, on the cluster too.
const program = "driver-aws"

// clusterPrograms lists the programs that a cluster needs to run a driver.
var clusterPrograms = []string{program, "mapper", "reducer"}

// programsFor reads the programs for a processor architecture from a directory; "": the default of
// --binaries.
func programsFor(dir, arch string) (*emr.Bundle, error) {
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(filepath.Dir(self), driver.ClusterOS+"-"+arch)
	}
	b, err := emr.ReadBundle(dir, clusterPrograms...)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the programs for the cluster (%s, %s): %w: build them with make build-emr, or name another directory with --binaries", driver.ClusterOS, arch, err)
	}
	return b, err
}
