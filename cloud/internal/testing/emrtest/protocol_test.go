package emrtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// serve starts an EMR with short seconds whose steps run runs, and returns it with a client
// that does not retry.
func serve(t *testing.T, run func(ctx context.Context, args []string) error) (*Server, *emr.Client) {
	t.Helper()
	s, err := Start(Config{Run: run, Second: 2 * time.Millisecond, Start: 1, Bootstrap: 1})
	must.OK(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, emr.New(emr.Options{
		BaseEndpoint: aws.String(s.URL), Region: "us-east-1", RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "testing", SecretAccessKey: "testing"}, nil
		}),
	})
}

// made makes a cluster with these steps; change may modify the request.
func made(t *testing.T, client *emr.Client, change func(*emr.RunJobFlowInput), steps ...types.StepConfig) string {
	t.Helper()
	in := &emr.RunJobFlowInput{
		Name: aws.String("test"), ServiceRole: aws.String("service"), JobFlowRole: aws.String("profile"), Steps: steps,
		Instances: &types.JobFlowInstancesConfig{MasterInstanceType: aws.String("m6g.xlarge")},
	}
	if change != nil {
		change(in)
	}
	out, err := client.RunJobFlow(t.Context(), in)
	must.OK(t, err)
	return aws.ToString(out.JobFlowId)
}

// keep makes a cluster wait for steps.
func keep(in *emr.RunJobFlowInput) { in.Instances.KeepJobFlowAliveWhenNoSteps = aws.Bool(true) }

func stepOf(action types.ActionOnFailure, args ...string) types.StepConfig {
	return types.StepConfig{Name: aws.String("a step"), ActionOnFailure: action,
		HadoopJarStep: &types.HadoopJarStepConfig{Jar: aws.String("command-runner.jar"), Args: args}}
}

// until polls a cluster until it is in one of the wanted states.
func until(t *testing.T, client *emr.Client, id string, wanted ...types.ClusterState) *types.Cluster {
	t.Helper()
	for {
		out, err := client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: &id})
		must.OK(t, err)
		if slices.Contains(wanted, out.Cluster.Status.State) {
			return out.Cluster
		}
		time.Sleep(time.Millisecond)
	}
}

// states returns the states of the steps of a cluster, the oldest first.
func states(t *testing.T, client *emr.Client, id string) (all []types.StepState) {
	t.Helper()
	out, err := client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &id})
	must.OK(t, err)
	for _, step := range slices.Backward(out.Steps) {
		all = append(all, step.Status.State)
	}
	return all
}

// fails is a Run in which the command false fails and the command wait waits.
func fails(ctx context.Context, args []string) error {
	switch args[0] {
	case "false":
		return errors.New("it is the test")
	case "wait":
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// TestSteps checks that a cluster runs its steps in order and ends, or waits for more, and
// that a step that fails has the effect of its ActionOnFailure.
func TestSteps(t *testing.T) {
	ok := stepOf(types.ActionOnFailureTerminateCluster, "true")
	for _, test := range []struct {
		name  string
		keep  bool
		steps []types.StepConfig
		state types.ClusterState
		want  []types.StepState
	}{
		{"all done", false, []types.StepConfig{ok, ok}, "TERMINATED", []types.StepState{"COMPLETED", "COMPLETED"}},
		{"waits", true, []types.StepConfig{ok}, "WAITING", []types.StepState{"COMPLETED"}},
		{"goes on", true, []types.StepConfig{stepOf("CONTINUE", "false"), ok}, "WAITING", []types.StepState{"FAILED", "COMPLETED"}},
		{"ends", true, []types.StepConfig{stepOf("TERMINATE_CLUSTER", "false"), ok}, "TERMINATED_WITH_ERRORS", []types.StepState{"FAILED", "CANCELLED"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, client := serve(t, fails)
			id := made(t, client, func(in *emr.RunJobFlowInput) {
				in.Instances.KeepJobFlowAliveWhenNoSteps = aws.Bool(test.keep)
			}, test.steps...)
			until(t, client, id, test.state)
			if got := states(t, client, id); !slices.Equal(got, test.want) {
				t.Errorf("the steps are %v, want %v", got, test.want)
			}
		})
	}
}

// TestEnds checks that a step that is cancelled ends alone, and that steps end with their
// cluster: by request, when its machines are lost, or when it has been idle.
func TestEnds(t *testing.T) {
	s, client := serve(t, fails)
	id := made(t, client, keep, stepOf("CONTINUE", "wait"), stepOf("CONTINUE", "true"), stepOf("CONTINUE", "wait"))
	until(t, client, id, "RUNNING")
	steps, err := client.ListSteps(t.Context(), &emr.ListStepsInput{ClusterId: &id})
	must.OK(t, err)
	out, err := client.CancelSteps(t.Context(), &emr.CancelStepsInput{ClusterId: &id, StepIds: []string{*steps.Steps[2].Id, "s-NONE"}})
	if err != nil || out.CancelStepsInfoList[0].Status != "SUBMITTED" || out.CancelStepsInfoList[1].Status != "FAILED" {
		t.Errorf("%+v, %v", out, err)
	}
	for want := []types.StepState{"CANCELLED", "COMPLETED", "RUNNING"}; !slices.Equal(states(t, client, id), want); {
		time.Sleep(time.Millisecond)
	}
	s.EndCluster(id)
	c := until(t, client, id, "TERMINATED_WITH_ERRORS")
	if got := states(t, client, id); got[2] != "INTERRUPTED" || c.Status.StateChangeReason.Code != "INSTANCE_FAILURE" || c.Status.Timeline.EndDateTime == nil {
		t.Errorf("%v, %+v", got, c.Status)
	}
	if _, err := client.AddJobFlowSteps(t.Context(), &emr.AddJobFlowStepsInput{JobFlowId: &id, Steps: []types.StepConfig{stepOf("CONTINUE", "true")}}); code(err) != "InvalidRequestException" {
		t.Errorf("a step for a cluster that has ended: %v", err)
	}

	idle := made(t, client, func(in *emr.RunJobFlowInput) {
		keep(in)
		in.AutoTerminationPolicy = &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(60)}
	}, stepOf("CONTINUE", "true"))
	until(t, client, idle, "TERMINATED")
	if got := states(t, client, idle); got[0] != "COMPLETED" {
		t.Errorf("idle before its step: %v", got)
	}
	busy := made(t, client, func(in *emr.RunJobFlowInput) {
		keep(in)
		in.AutoTerminationPolicy = &types.AutoTerminationPolicy{IdleTimeout: aws.Int64(60)}
	}, stepOf("CONTINUE", "wait"))
	until(t, client, busy, "RUNNING")
	time.Sleep(s.seconds(3 * 60))
	if state := until(t, client, busy, "RUNNING", "TERMINATING", "TERMINATED").Status.State; state != "RUNNING" {
		t.Errorf("one that runs a step counts as idle: %s", state)
	}
}

// code returns the code of an error of the service.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

// TestUnknown checks that unknown clusters and calls are refused.
func TestUnknown(t *testing.T) {
	_, client := serve(t, fails)
	_, err := client.DescribeCluster(t.Context(), &emr.DescribeClusterInput{ClusterId: aws.String("j-NONE")})
	if code(err) != "InvalidRequestException" {
		t.Errorf("unknown cluster: %v", err)
	}
	if _, err := client.ListInstances(t.Context(), &emr.ListInstancesInput{ClusterId: aws.String("j-NONE")}); code(err) != "UnknownOperationException" {
		t.Errorf("unknown call: %v", err)
	}
}

// TestCalls checks that calls are recorded, and that a request without a signature is refused.
func TestCalls(t *testing.T) {
	s, client := serve(t, nil)
	made(t, client, keep)
	if calls := s.Calls(); len(calls) != 1 || calls[0].Op != "RunJobFlow" || !strings.Contains(string(calls[0].Body), `"Name":"test"`) {
		t.Errorf("%+v", calls)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader("{}"))
	must.OK(t, err)
	request.Header.Set("X-Amz-Target", "ElasticMapReduce.ListClusters")
	request.Header.Set("Content-Type", faults.JSON)
	response, err := http.DefaultClient.Do(request)
	must.OK(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("without a signature: %s", response.Status)
	}
}
