package emr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
)

// StepState is what the service tells of a step.
type StepState struct {
	ID      string // s-XXXXXXXXXXXXX
	Name    string
	State   string // PENDING, CANCEL_PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, INTERRUPTED
	Reason  string // why it failed, as far as the service knows; mostly nothing
	Created time.Time
	Started time.Time // zero before
	Ended   time.Time // zero before
}

// Over reports whether a step is done with, well or not.
func (s StepState) Over() bool {
	return slices.Contains([]string{"COMPLETED", "CANCELLED", "FAILED", "INTERRUPTED"}, s.State)
}

// A StepError is a step that ended otherwise than COMPLETED.
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

// Add gives a cluster further steps, at most MaxPending, and returns their ids in the
// same order. A request whose answer was lost is looked for and never repeated, since it may
// still be on its way: if the steps are not found, that is the error.
func (c *Cluster) Add(ctx context.Context, steps ...Step) (ids []string, err error) {
	if len(steps) == 0 || len(steps) > MaxPending {
		return nil, fmt.Errorf("%d steps: expected 1 to %d at once", len(steps), MaxPending)
	}
	named := slices.Clone(steps)
	for i := range named {
		named[i].Name = token(named[i].Name)
		if err := named[i].Check(); err != nil {
			return nil, err
		}
	}
	in := &emr.AddJobFlowStepsInput{JobFlowId: aws.String(c.ID), Steps: configs(named)}
	if c.s.o.DryRun != nil {
		for i := range named {
			ids = append(ids, fmt.Sprintf("%s%d", dryStep, i))
		}
		return ids, c.s.dry(ctx, "AddJobFlowSteps", addCommandLine(c.ID, named), func(o func(*emr.Options)) error {
			_, err := c.s.client.AddJobFlowSteps(ctx, in, o)
			return err
		})
	}
	var lost error
	err = c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		out, err := c.s.client.AddJobFlowSteps(ctx, in, c.s.once)
		if unknown(err) {
			lost = err
			return true, nil
		}
		if err == nil {
			ids = out.StepIds
		}
		return true, err
	})
	if err != nil || lost == nil {
		return ids, err
	}
	c.s.o.News("the answer of Amazon EMR was lost: looking whether the step was added")
	looks := 0
	if look := c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		found, err := c.steps(ctx)
		if err != nil {
			return false, err
		}
		looks++
		ids = idsOf(named, found)
		return ids != nil || looks == lostLooks, nil
	}); look != nil {
		return nil, fmt.Errorf("whether step %q of cluster %s was added is not known (driver emr status --cluster-id %s lists its steps): %w", named[0].Name, c.ID, c.ID, look)
	}
	if ids == nil {
		return nil, fmt.Errorf("%w; no step named %q was found (driver emr status --cluster-id %s lists its steps)", explain(lost), named[0].Name, c.ID)
	}
	return ids, nil
}

// idsOf are the ids of steps by their names; nil if one is not there. They are added
// together or not at all.
func idsOf(named []Step, found []StepState) (ids []string) {
	for _, step := range named {
		i := slices.IndexFunc(found, func(s StepState) bool { return s.Name == step.Name })
		if i < 0 {
			return nil
		}
		ids = append(ids, found[i].ID)
	}
	return ids
}

// Steps are all steps of a cluster, the newest first.
func (c *Cluster) Steps(ctx context.Context) ([]StepState, error) {
	steps, err := c.steps(ctx)
	return steps, explain(err)
}

func (c *Cluster) steps(ctx context.Context) (all []StepState, err error) {
	pages := emr.NewListStepsPaginator(c.s.client, &emr.ListStepsInput{ClusterId: aws.String(c.ID)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range page.Steps {
			all = append(all, stepOf(s.Id, s.Name, s.Status))
		}
	}
	return all, nil
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
		return StepState{}, fmt.Errorf("nothing is told of step %s", id)
	}
	return stepOf(out.Step.Id, out.Step.Name, out.Step.Status), nil
}

// Wait waits until a step has ended; each is called with what every look found, and may
// be nil. A step that does not complete is a *StepError; if its cluster ended first, it is
// ErrEnded too.
func (c *Cluster) Wait(ctx context.Context, id string, each func(StepState, ClusterState)) error {
	return c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		// The cluster first: a step may end between the two looks.
		cluster, err := c.state(ctx)
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
		// A step of a cluster that is gone may be told as running for ever.
		if !step.Over() && !cluster.gone() {
			return false, nil
		}
		failed := &StepError{Cluster: c.ID, Step: step}
		if cluster.Over() && step.State != string(types.StepStateFailed) {
			return false, fmt.Errorf("%w: %s; %w", ErrEnded, cluster, failed)
		}
		return false, failed
	})
}

// Cancel ends steps that are pending or run: what they run is told by a signal, so that
// it can stop in order. Steps that have ended are left as they are.
func (c *Cluster) Cancel(ctx context.Context, ids ...string) error {
	in := &emr.CancelStepsInput{ClusterId: aws.String(c.ID), StepIds: ids, StepCancellationOption: types.StepCancellationOptionSendInterrupt}
	err := c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := c.s.client.CancelSteps(ctx, in)
		return true, err
	})
	if err != nil {
		return fmt.Errorf("steps %s of cluster %s were not cancelled: %w", strings.Join(ids, ", "), c.ID, err)
	}
	return nil
}

// IsStep reports whether an error is of a step that failed, and of which.
func IsStep(err error) (*StepError, bool) {
	var e *StepError
	ok := errors.As(err, &e)
	return e, ok
}
