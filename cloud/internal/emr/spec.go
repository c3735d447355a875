package emr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// Defaults for a Spec.
const (
	DefaultRelease  = "emr-7.12.0" // Hadoop 3.4.1
	DefaultInstance = "m6g.xlarge"
	DefaultService  = "treereduce-emr-service" // created by make.sh of Grant.Policies
	DefaultProfile  = "treereduce-emr-nodes"
	DefaultIdle     = 15 * time.Minute
)

// The service's limits for Spec.Idle.
const (
	minIdle = time.Minute
	maxIdle = 7 * 24 * time.Hour
)

// The largest values of a Spec: Amazon's limit for a gp3 volume in GB, and a number of nodes far above
// what Amazon EMR accepts.
const (
	maxEBSGB = 1 << 16
	maxNodes = 1 << 15
)

// commandRunner is the jar that runs a command on the master node.
const commandRunner = "command-runner.jar"

// A Spec describes a new cluster.
type Spec struct {
	Name    string // at most MaxName characters
	Release string // for example emr-7.12.0

	Master string // instance type of the master node
	Worker string // instance type of the other nodes, with the same processor architecture
	Core   int    // number of on-demand nodes with HDFS; at least 1
	Spot   int    // number of additional spot nodes, which may be interrupted and have no HDFS
	EBSGB  int    // size of an additional disk (gp3) of each node, in GB; 0: the default of the instance type

	LogURI  string // s3://bucket/prefix/ for logs; "": no logs
	Service string // role of the service
	Profile string // instance profile of the nodes
	Subnet  string // "": a subnet of the default VPC
	Key     string // EC2 key pair for ssh; "": none
	Tags    map[string]string

	// Steps are sent with the cluster. Unless Keep is set, the cluster terminates after them,
	// even if this program is not running any more.
	Steps []Step
	// Keep makes the cluster wait for more steps. It terminates after being idle for Idle: no
	// YARN application, no pending step, HDFS nearly empty.
	Keep bool
	Idle time.Duration

	// Limit is the maximum lifetime of the cluster. The service has no such limit, and this
	// program may not be running when the time is over. Therefore a bootstrap action schedules
	// a shutdown of the master node, and the service terminates a cluster that has lost its
	// only master node. LimitScript is the path in S3 of that action, a file of the bundle
	// LimitScript().
	Limit       time.Duration
	LimitScript string
}

// A Step is a command on the master node of a cluster.
type Step struct {
	Name string   // at most MaxName characters
	Args []string // words of the command; at most MaxStepLetters characters, including the name of command-runner.jar, which runs it
	// EndsCluster makes the service terminate the cluster if the step fails.
	EndsCluster bool
}

// Check returns an error for a step that the service would refuse.
func (s *Step) Check() error {
	letters := utf8.RuneCountInString(commandRunner)
	for _, arg := range s.Args {
		letters += utf8.RuneCountInString(arg)
	}
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > MaxName:
		return fmt.Errorf("step %.40q: expected a name of 1 to %d characters", s.Name, MaxName)
	case letters > MaxStepLetters:
		return fmt.Errorf("step %s: its arguments have %d characters, Amazon EMR accepts at most %d", s.Name, letters, MaxStepLetters)
	}
	return nil
}

// config returns the step in the form of the service.
func (s *Step) config() types.StepConfig {
	action := types.ActionOnFailureContinue
	if s.EndsCluster {
		action = types.ActionOnFailureTerminateCluster
	}
	return types.StepConfig{
		Name:            aws.String(s.Name),
		ActionOnFailure: action,
		HadoopJarStep:   &types.HadoopJarStepConfig{Jar: aws.String(commandRunner), Args: s.Args},
	}
}

func configs(steps []Step) (all []types.StepConfig) {
	for i := range steps {
		all = append(all, steps[i].config())
	}
	return all
}

// releaseName matches the name of a release.
var releaseName = regexp.MustCompile(`^emr-(\d+)\.(\d+)\.(\d+)$`)

// Check returns an error for a Spec that is not valid. It sends nothing.
func (s *Spec) Check() error {
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > MaxName:
		return fmt.Errorf("cluster %.40q: expected a name of 1 to %d characters", s.Name, MaxName)
	case !releaseName.MatchString(s.Release):
		return fmt.Errorf("release %q: expected one such as %s", s.Release, DefaultRelease)
	case s.Core < 1:
		return fmt.Errorf("%d core nodes: at least one must store the data", s.Core)
	case s.Core > maxNodes:
		return fmt.Errorf("%d core nodes: expected %d at most", s.Core, maxNodes)
	case s.Spot < 0 || s.Spot > maxNodes:
		return fmt.Errorf("%d spot nodes: expected 0 to %d", s.Spot, maxNodes)
	case s.EBSGB < 0 || s.EBSGB > maxEBSGB:
		return fmt.Errorf("%d GB of disk: expected 0 to %d", s.EBSGB, maxEBSGB)
	case s.Keep && (s.Idle < minIdle || s.Idle > maxIdle):
		return fmt.Errorf("idle for %s: Amazon EMR accepts %s to %s", s.Idle, minIdle, maxIdle)
	case s.Limit < 0:
		return fmt.Errorf("a limit of %s: expected 0 or more", s.Limit)
	case s.Limit > 0 && s.LimitScript == "":
		return fmt.Errorf("a limit of %s: the script that enforces it is missing", s.Limit)
	}
	master, err := Architecture(s.Master)
	if err != nil {
		return err
	}
	worker, err := Architecture(s.Worker)
	if err != nil {
		return err
	}
	if master != worker {
		return fmt.Errorf("the master %s has architecture %s, %s has %s: all nodes run the same programs", s.Master, master, s.Worker, worker)
	}
	for i := range s.Steps {
		if err := s.Steps[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Request returns the request that creates the cluster.
func (s *Spec) Request() (*emr.RunJobFlowInput, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	in := &emr.RunJobFlowInput{
		Name:         aws.String(s.Name),
		ReleaseLabel: aws.String(s.Release),
		Applications: []types.Application{{Name: aws.String("Hadoop")}},
		LogUri:       text(s.LogURI),
		ServiceRole:  aws.String(s.Service),
		JobFlowRole:  aws.String(s.Profile),
		// A node that is removed gets time to finish its tasks.
		ScaleDownBehavior: types.ScaleDownBehaviorTerminateAtTaskCompletion,
		Steps:             configs(s.Steps),
		Instances: &types.JobFlowInstancesConfig{
			Ec2SubnetId:                 text(s.Subnet),
			Ec2KeyName:                  text(s.Key),
			KeepJobFlowAliveWhenNoSteps: aws.Bool(s.Keep),
			TerminationProtected:        aws.Bool(false),
			InstanceGroups:              s.groups(),
		},
	}
	if s.Keep {
		in.AutoTerminationPolicy = &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(int64(s.Idle / time.Second))}
	}
	if s.Limit > 0 {
		in.BootstrapActions = []types.BootstrapActionConfig{{
			Name:                  aws.String("end after " + s.Limit.String()),
			ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: aws.String(s.LimitScript), Args: []string{fmt.Sprint(minutes(s.Limit))}},
		}}
	}
	if s.Spot > 0 {
		// Application masters must not run on nodes that may be interrupted.
		in.Configurations = []types.Configuration{{
			Classification: aws.String("yarn-site"),
			Properties: map[string]string{
				"yarn.node-labels.enabled":                          "true",
				"yarn.node-labels.am.default-node-label-expression": "CORE",
			},
		}}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(s.Tags[key])})
	}
	return in, nil
}

// groups returns the instance groups: the master, the core nodes and, if there are any, the
// spot nodes.
func (s *Spec) groups() []types.InstanceGroupConfig {
	group := func(name string, role types.InstanceRoleType, market types.MarketType, instance string, n int) types.InstanceGroupConfig {
		g := types.InstanceGroupConfig{
			Name: aws.String(name), InstanceRole: role, Market: market,
			InstanceType: aws.String(instance), InstanceCount: aws.Int32(int32(n)),
		}
		if s.EBSGB > 0 {
			g.EbsConfiguration = &types.EbsConfiguration{EbsBlockDeviceConfigs: []types.EbsBlockDeviceConfig{{
				VolumeSpecification: &types.VolumeSpecification{VolumeType: aws.String("gp3"), SizeInGB: aws.Int32(int32(s.EBSGB))},
				VolumesPerInstance:  aws.Int32(1),
			}}}
		}
		return g
	}
	groups := []types.InstanceGroupConfig{
		group("master", types.InstanceRoleTypeMaster, types.MarketTypeOnDemand, s.Master, 1),
		group("core", types.InstanceRoleTypeCore, types.MarketTypeOnDemand, s.Worker, s.Core),
	}
	if s.Spot > 0 {
		spot := group("spot", types.InstanceRoleTypeTask, types.MarketTypeSpot, s.Worker, s.Spot)
		spot.BidPrice = aws.String("OnDemandPrice") // the service's constant for the on-demand price
		groups = append(groups, spot)
	}
	return groups
}

// text returns a string in the form of the service, which omits empty strings.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// minutes returns a duration in minutes, rounded down, but at least one.
func minutes(d time.Duration) int { return max(1, int(d/time.Minute)) }

// instanceType matches an instance type: family, generation, attributes, size.
var instanceType = regexp.MustCompile(`^[a-z]+\d+([a-z]*)(-[a-z0-9]+)?\.[a-z0-9-]+$`)

// Architecture returns the processor architecture of an instance type, as Go's GOARCH: arm64
// for AWS's own processors (Graviton: a g after the generation, as in m6g or c7gd), amd64 for
// all others.
func Architecture(instance string) (string, error) {
	found := instanceType.FindStringSubmatch(instance)
	if found == nil {
		return "", fmt.Errorf("instance type %q: expected one such as %s", instance, DefaultInstance)
	}
	if strings.Contains(found[1], "g") {
		return "arm64", nil
	}
	return "amd64", nil
}
