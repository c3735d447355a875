package emr

import (
	"cmp"
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

// What a Spec has where nothing is said.
const (
	DefaultRelease  = "emr-7.12.0" // Hadoop 3.4.1
	DefaultInstance = "m6g.xlarge"
	DefaultService  = "treereduce-emr-service" // as make.sh of Grant.Policies makes them
	DefaultProfile  = "treereduce-emr-nodes"
	DefaultIdle     = 15 * time.Minute
)

// Bounds of the service for Spec.Idle.
const (
	minIdle = time.Minute
	maxIdle = 7 * 24 * time.Hour
)

// commandRunner is the jar that runs any command on the master.
const commandRunner = "command-runner.jar"

// A Spec is a cluster that is to be made.
type Spec struct {
	Name    string // at most MaxName letters
	Release string // emr-7.12.0

	Master string // the instance type of the master
	Worker string // that of the others, with a processor of the same kind
	Core   int    // nodes on demand, which hold HDFS; 1 or more
	Spot   int    // further nodes on spot, which hold nothing and may be taken away
	EBSGB  int    // gigabytes of disk (gp3) of each node beside the root's; 0: what the type has

	LogURI  string // s3://bucket/prefix/ where the logs go; "": nowhere
	Service string // the role of the service
	Profile string // the instance profile of the nodes
	Subnet  string // "": the default VPC's
	Key     string // the EC2 key pair for ssh; "": none
	Tags    map[string]string

	// Steps are sent with the cluster, which ends itself after them, whoever is there
	// then, unless Keep.
	Steps []Step
	// Keep has the cluster wait for further steps. It ends when it has been idle (no YARN
	// application, no step that is pending, HDFS nearly empty) for Idle.
	Keep bool
	Idle time.Duration

	// Limit is how long the cluster may live in any case. The service has no such limit,
	// and a call that ends the cluster needs somebody awake who may send it; so a
	// bootstrap action tells the master to shut down then, and a cluster whose only
	// master has gone is ended by the service. LimitScript is where in S3 that action
	// lies: its content is LimitScript().
	Limit       time.Duration
	LimitScript string
}

// A Step is a command on the master of a cluster.
type Step struct {
	Name string   // at most MaxName letters
	Jar  string   // "": command-runner.jar, which runs Args
	Args []string // the words; at most MaxStepLetters letters with Jar
	// EndsCluster has the service end the cluster if the step fails.
	EndsCluster bool
}

// Check reports what the service would refuse.
func (s *Step) Check() error {
	letters := utf8.RuneCountInString(s.jar())
	for _, arg := range s.Args {
		letters += utf8.RuneCountInString(arg)
	}
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > MaxName:
		return fmt.Errorf("step %.40q: a name has 1 to %d letters", s.Name, MaxName)
	case letters > MaxStepLetters:
		return fmt.Errorf("step %s: its words have %d letters, Amazon EMR takes %d", s.Name, letters, MaxStepLetters)
	}
	return nil
}

func (s *Step) jar() string { return cmp.Or(s.Jar, commandRunner) }

// config is the step in the service's own form.
func (s *Step) config() types.StepConfig {
	action := types.ActionOnFailureContinue
	if s.EndsCluster {
		action = types.ActionOnFailureTerminateCluster
	}
	return types.StepConfig{
		Name:            aws.String(s.Name),
		ActionOnFailure: action,
		HadoopJarStep:   &types.HadoopJarStepConfig{Jar: aws.String(s.jar()), Args: s.Args},
	}
}

func configs(steps []Step) (all []types.StepConfig) {
	for i := range steps {
		all = append(all, steps[i].config())
	}
	return all
}

// releaseName is the form of a release.
var releaseName = regexp.MustCompile(`^emr-(\d+)\.(\d+)\.(\d+)$`)

// Check reports what is wrong with a Spec before anything is sent.
func (s *Spec) Check() error {
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > MaxName:
		return fmt.Errorf("cluster %.40q: a name has 1 to %d letters", s.Name, MaxName)
	case !releaseName.MatchString(s.Release):
		return fmt.Errorf("release %q: expected such as %s", s.Release, DefaultRelease)
	case s.Core < 1:
		return fmt.Errorf("%d core nodes: one at least holds the data", s.Core)
	case s.Spot < 0:
		return fmt.Errorf("%d spot nodes: expected 0 or more", s.Spot)
	case s.EBSGB < 0:
		return fmt.Errorf("%d GB of disk: expected 0 or more", s.EBSGB)
	case s.Keep && (s.Idle < minIdle || s.Idle > maxIdle):
		return fmt.Errorf("idle for %s: Amazon EMR takes from %s to %s", s.Idle, minIdle, maxIdle)
	case s.Limit < 0:
		return fmt.Errorf("a limit of %s: expected a time from now on", s.Limit)
	case s.Limit > 0 && s.LimitScript == "":
		return fmt.Errorf("a limit of %s without the script that keeps it", s.Limit)
	case len(s.Steps) > MaxPending:
		return fmt.Errorf("%d steps: at most %d at once", len(s.Steps), MaxPending)
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
		return fmt.Errorf("the master %s has a processor of %s, %s one of %s: all nodes run the same programs", s.Master, master, s.Worker, worker)
	}
	for i := range s.Steps {
		if err := s.Steps[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Request is the Spec in the service's own form.
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
		// A node that goes away gives its tasks time to end.
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
		// Application masters must not be where a node may be taken away.
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

// groups are the nodes: the master and those that hold data on demand.
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
		spot.BidPrice = aws.String("OnDemandPrice") // the service's word for the price on demand
		groups = append(groups, spot)
	}
	return groups
}

// text is a string in the service's form, where none is said by leaving it out.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// minutes is a time in whole minutes, at least one.
func minutes(d time.Duration) int { return max(1, int(d/time.Minute)) }

// instanceType is the form of an instance type: family, generation, what is special,
// size.
var instanceType = regexp.MustCompile(`^[a-z]+\d+([a-z]*)(-[a-z0-9]+)?\.[a-z0-9-]+$`)

// Architecture is the processor of an instance type as Go names it: arm64 of AWS's own
// (Graviton: a g after the generation, as in m6g or c7gd), amd64 of all others.
func Architecture(instance string) (string, error) {
	found := instanceType.FindStringSubmatch(instance)
	if found == nil {
		return "", fmt.Errorf("instance type %q: expected such as %s", instance, DefaultInstance)
	}
	if strings.Contains(found[1], "g") {
		return "arm64", nil
	}
	return "amd64", nil
}
