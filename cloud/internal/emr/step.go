package emr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
)

// StepState is the state of a step as the service describes it.
type StepState struct {
	ID      string // s-XXXXXXXXXXXXX
	Name    string
	State   string // PENDING, CANCEL_PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, INTERRUPTED
	Reason  string // why it failed, if the service knows; usually ""
	Created time.Time
	Started time.Time // zero until it starts
	Ended   time.Time // zero until it ends
}

// Over reports whether a step has ended, successfully or not.
func (s StepState) Over() bool {
	return slices.Contains([]string{"COMPLETED", "CANCELLED", "FAILED", "INTERRUPTED"}, s.State)
}

// A StepError is the error for a step that ended in a state other than COMPLETED.
type StepError struct {
	Cluster string
	Step    StepState
}

func (e *StepError) Error() string {
	text := fmt.Sprintf("step %s (%s) of cluster %s: %s", e.Step.ID, e.Step.Name, e.Cluster, e.Step.State)
	if e.Step.Reason != "" {
		text += ": " + e.Step.Reason
	}
	return text
}

// Add adds a step to a cluster, and returns its identifier. If the answer to the request is
// lost, Add looks for the step. It never repeats the request, because the first one may still be
// executed. If it does not find the step, it returns an error. If ctx ends first, the error contains
// the name of the step that may have been added.
func (c *Cluster) Add(ctx context.Context, step Step) (id string, err error) {
	step.Name = token(step.Name)
	if err := step.Check(); err != nil {
		return "", err
	}
	in := &emr.AddJobFlowStepsInput{JobFlowId: aws.String(c.ID), Steps: configs([]Step{step})}
	if err := ctx.Err(); err != nil {
		return "", err // nothing was sent
	}
	unsure := func(err error) error {
		return fmt.Errorf("step %q of cluster %s may have been added: driver-aws emr status --cluster-id %s lists its steps, driver-aws emr down --cluster-id %s terminates it: %w", step.Name, c.ID, c.ID, c.ID, err)
	}
	var lost error
	err = c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		out, err := c.s.client.AddJobFlowSteps(ctx, in, c.s.once)
		if unknown(err) {
			lost = err
			return true, nil
		}
		if err == nil && len(out.StepIds) > 0 {
			id = out.StepIds[0]
		}
		return true, err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return "", unsure(ctx.Err())
	case err != nil || lost == nil:
		return id, err
	}
	c.s.o.News("the answer of Amazon EMR was lost: checking whether the step was added")
	id, look := c.s.lost(ctx, func(ctx context.Context) (string, error) {
		found, err := c.Steps(ctx)
		for _, s := range found {
			if s.Name == step.Name {
				return s.ID, nil
			}
		}
		return "", err
	})
	if look != nil {
		return "", unsure(look)
	}
	if id == "" {
		return "", fmt.Errorf("%w; no step named %q was found (driver-aws emr status --cluster-id %s lists its steps)", cloud.Explain(lost), step.Name, c.ID)
	}
	return id, nil
}

// Steps returns all steps of a cluster, the newest first.
func (c *Cluster) Steps(ctx context.Context) (all []StepState, err error) {
	pages := emr.NewListStepsPaginator(c.s.client, &emr.ListStepsInput{ClusterId: aws.String(c.ID)})
	err = cloud.Pages(ctx, pages, func(page *emr.ListStepsOutput) error {
		for _, s := range page.Steps {
			all = append(all, stepOf(s.Id, s.Name, s.Status))
		}
		return nil
	})
	return all, cloud.Explain(err)
}

func stepOf(id, name *string, status *types.StepStatus) StepState {
	s := StepState{ID: aws.ToString(id), Name: aws.ToString(name)}
	if status == nil {
		return s
	}
	s.State = string(status.State)
	var reasons []string
	if f := status.FailureDetails; f != nil {
		reasons = append(reasons, aws.ToString(f.Reason), aws.ToString(f.Message))
	}
	if r := status.StateChangeReason; r != nil {
		reasons = append(reasons, aws.ToString(r.Message))
	}
	s.Reason = strings.Join(slices.DeleteFunc(reasons, func(r string) bool { return r == "" }), ": ")
	if t := status.Timeline; t != nil {
		s.Created, s.Started, s.Ended = aws.ToTime(t.CreationDateTime), aws.ToTime(t.StartDateTime), aws.ToTime(t.EndDateTime)
	}
	return s
}

func (c *Cluster) stepState(ctx context.Context, id string) (StepState, error) {
	out, err := c.s.client.DescribeStep(ctx, &emr.DescribeStepInput{ClusterId: aws.String(c.ID), StepId: aws.String(id)})
	if err != nil {
		return StepState{}, err
	}
	if out.Step == nil {
		return StepState{}, fmt.Errorf("EMR returned no description of step %s", id)
	}
	return stepOf(out.Step.Id, out.Step.Name, out.Step.Status), nil
}

// Wait waits until a step has ended. It calls each with every polled state, unless each is
// nil. If the step does not complete, the error is a *StepError; if the cluster ended first,
// it is ErrEnded too.
func (c *Cluster) Wait(ctx context.Context, id string, each func(StepState, ClusterState)) error {
	return c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		// Poll the cluster first, because the step may end between the two requests.
		cluster, err := c.State(ctx)
		if err != nil {
			return false, err
		}
		step, err := c.stepState(ctx, id)
		if err != nil {
			return false, err
		}
		if each != nil {
			each(step, cluster)
		}
		if step.State == string(types.StepStateCompleted) {
			return true, nil
		}
		// The service may list a step as running forever after its cluster has terminated.
		if !step.Over() && !cluster.terminated() {
			return false, nil
		}
		failed := &StepError{Cluster: c.ID, Step: step}
		if cluster.Over() && step.State != string(types.StepStateFailed) {
			return false, fmt.Errorf("%w: %s; %w", ErrEnded, cluster, failed)
		}
		return false, failed
	})
}

// Cancel cancels a pending or running step. A running step receives a signal, so that it can
// stop cleanly. A step that has ended does not change.
func (c *Cluster) Cancel(ctx context.Context, id string) error {
	in := &emr.CancelStepsInput{ClusterId: aws.String(c.ID), StepIds: []string{id}, StepCancellationOption: types.StepCancellationOptionSendInterrupt}
	err := c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := c.s.client.CancelSteps(ctx, in)
		return true, err
	})
	if err != nil {
		return fmt.Errorf("step %s of cluster %s was not cancelled: %w", id, c.ID, err)
	}
	return nil
}
