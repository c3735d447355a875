// Package emr creates a cluster of Amazon EMR that runs one step, follows it, and ends it. The package knows
// neither games nor jobs: the step is the words of a command line.
//
//	Spec.Request     the RunJobFlow that creates the cluster with its step
//	Service.Create   sends it; it is sent once
//	Service.Follow, End, Alive, Find
//	StepLog          why a step failed, from its log in S3
//
// A cluster ends after its step, and at Spec.Limit, even if this program is not running.
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
	DefaultService  = "treereduce-emr-service"
	DefaultProfile  = "treereduce-emr-nodes"
)

// Tags of a cluster.
const (
	// TagOfRun contains the S3 path of the run. The policy of the user is limited to clusters with this tag.
	TagOfRun = "treereduce"
	// TagOfEnd contains the time at which the cluster ends in any case, in RFC 3339.
	TagOfEnd = "treereduce-ends"
	// ManagedTag is the tag with which the service's own policy, AmazonEMRServicePolicy_v2, allows
	// it to create the instances of a cluster. The subnet and its VPC need this tag, too.
	ManagedTag = "for-use-with-amazon-emr-managed-policies"
)

// Limits of the service.
const (
	maxName        = 256     // characters of the name of a cluster or step
	maxStepLetters = 10_240  // characters in the strings of a step
	maxNumber      = 1 << 16 // far above what it accepts for nodes, or for GB of a gp3 volume
)

// commandRunner is the jar that runs a command on the master node.
const commandRunner = "command-runner.jar"

// A Spec describes a cluster with one step.
type Spec struct {
	Name    string // unique, see NewName: a cluster is found by it if the answer to its request is lost
	Release string // for example emr-7.12.0

	Master string // instance type of the master node
	Worker string // instance type of the other nodes, with the same processor architecture
	Nodes  int    // number of the other nodes; at least 1
	EBSGB  int    // size of an additional disk (gp3) of each node, in GB; 0: the default of the instance type

	LogURI  string // s3://bucket/prefix/ for logs
	Service string // role of the service
	Profile string // instance profile of the nodes
	Subnet  string // "": a subnet of the default VPC
	Key     string // EC2 key pair for ssh; "": none
	Tags    map[string]string

	Step []string // the words of a command on the master, which runs when the cluster has started

	// Limit is the maximum lifetime of the cluster. The service has no such limit, and this
	// program may not be running when the time is over. Therefore a bootstrap action schedules
	// a shutdown of the master node, and the service terminates a cluster that has lost its
	// only master node. LimitScript is the address of the LimitScript in S3.
	Limit       time.Duration
	LimitScript string
}

// Check returns an error for a cluster that the service would refuse.
func (s *Spec) Check() error {
	letters := utf8.RuneCountInString(commandRunner)
	for _, word := range s.Step {
		letters += utf8.RuneCountInString(word)
	}
	master, err := Architecture(s.Master)
	if err != nil {
		return err
	}
	worker, err := Architecture(s.Worker)
	switch {
	case err != nil:
		return err
	case master != worker:
		return fmt.Errorf("the master %s has architecture %s, %s has %s: all nodes run the same programs", s.Master, master, s.Worker, worker)
	case s.Nodes < 1 || s.Nodes > maxNumber:
		return fmt.Errorf("%d nodes: expected 1 to %d", s.Nodes, maxNumber)
	case s.EBSGB < 0 || s.EBSGB > maxNumber:
		return fmt.Errorf("%d GB of disk: expected 0 to %d", s.EBSGB, maxNumber)
	case letters > maxStepLetters:
		return fmt.Errorf("the command of the step has %d characters, Amazon EMR accepts at most %d", letters, maxStepLetters)
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
		LogUri:       aws.String(s.LogURI),
		ServiceRole:  aws.String(s.Service),
		JobFlowRole:  aws.String(s.Profile),
		Steps: []types.StepConfig{{
			Name:            aws.String(s.Name),
			ActionOnFailure: types.ActionOnFailureTerminateCluster,
			HadoopJarStep:   &types.HadoopJarStepConfig{Jar: aws.String(commandRunner), Args: s.Step},
		}},
		BootstrapActions: []types.BootstrapActionConfig{{
			Name:                  aws.String("end after " + s.Limit.String()),
			ScriptBootstrapAction: &types.ScriptBootstrapActionConfig{Path: aws.String(s.LimitScript), Args: []string{fmt.Sprint(max(1, int(s.Limit/time.Minute)))}},
		}},
		Instances: &types.JobFlowInstancesConfig{
			Ec2SubnetId:                 text(s.Subnet),
			Ec2KeyName:                  text(s.Key),
			KeepJobFlowAliveWhenNoSteps: aws.Bool(false), // the cluster ends after its step
			TerminationProtected:        aws.Bool(false),
			InstanceGroups: []types.InstanceGroupConfig{
				s.group("master", types.InstanceRoleTypeMaster, s.Master, 1),
				s.group("core", types.InstanceRoleTypeCore, s.Worker, s.Nodes),
			},
		},
	}
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: aws.String(key), Value: aws.String(s.Tags[key])})
	}
	return in, nil
}

// group returns an instance group.
func (s *Spec) group(name string, role types.InstanceRoleType, instance string, n int) types.InstanceGroupConfig {
	g := types.InstanceGroupConfig{
		Name: aws.String(name), InstanceRole: role, Market: types.MarketTypeOnDemand,
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

// text returns a string in the form of the service, which omits empty strings.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

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
