package emr

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/treereduce/treereduce/internal/cloud/aws"
)

// DryRun returns a configuration for a Service that calls show instead of sending requests. A
// cluster of it is ready at once, and ends when it is terminated.
func DryRun(conf sdk.Config, show func(aws.Call) error) sdk.Config {
	state := types.ClusterStateWaiting
	return aws.DryRun(conf, show, map[string]any{
		"AddJobFlowSteps": &emr.AddJobFlowStepsOutput{StepIds: []string{"s-DRYRUN"}},
		"CancelSteps":     &emr.CancelStepsOutput{},
		"DescribeCluster": func(any) any {
			return &emr.DescribeClusterOutput{Cluster: &types.Cluster{Status: &types.ClusterStatus{State: state}}}
		},
		"ListClusters": &emr.ListClustersOutput{},
		"ListSteps":    &emr.ListStepsOutput{},
		"RunJobFlow":   &emr.RunJobFlowOutput{JobFlowId: sdk.String("j-DRYRUN")},
		"TerminateJobFlows": func(any) any {
			state = types.ClusterStateTerminating
			return &emr.TerminateJobFlowsOutput{}
		},
	})
}
