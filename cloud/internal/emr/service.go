package emr

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
)

const (
	// attempts is the maximum number of attempts of a call that is throttled, or fails with a
	// temporary error. The pause between attempts doubles each time, up to the polling interval.
	attempts = 8
	// patience is how long consecutive polls may fail with temporary errors.
	patience = 10 * time.Minute
	// answerTime limits the time until the answer to RunJobFlow, with all attempts.
	answerTime = 2 * time.Minute
	// looks is the number of polls that look for a cluster after the answer to its request was lost.
	looks = 3
)

// A Service is Amazon EMR in a region, with credentials. It is safe for concurrent use.
type Service struct {
	client *emr.Client
	poll   time.Duration
	news   func(line string)
}

// New returns the service for the region, credentials and endpoint of a configuration. poll is the polling
// interval. news is called with lines for the user.
func New(cfg aws.Config, poll time.Duration, news func(line string)) *Service {
	return &Service{poll: poll, news: news, client: emr.NewFromConfig(cfg, func(e *emr.Options) {
		e.Retryer = retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.MaxBackoff = attempts, poll })
	})}
}

// A Cluster is the state of a cluster, as the service describes it.
type Cluster struct {
	ID      string // j-2AXXXXXXGAPLF
	Name    string
	State   string // STARTING, BOOTSTRAPPING, RUNNING, WAITING, TERMINATING, TERMINATED, TERMINATED_WITH_ERRORS
	Reason  string // why it is in this state; "" if the service gives no reason
	Created time.Time
	Ended   time.Time // zero until it has ended
	Tags    map[string]string
	Step    Step
}

// A Step is the state of the step of a cluster.
type Step struct {
	ID      string // s-XXXXXXXXXXXXX
	State   string // PENDING, CANCEL_PENDING, RUNNING, COMPLETED, CANCELLED, FAILED, INTERRUPTED
	Started time.Time
}

// Terminated reports whether a cluster has ended: nothing runs on it.
func (c *Cluster) Terminated() bool { return strings.HasPrefix(c.State, "TERMINATED") }

// ending reports whether a cluster ends, or has ended.
func (c *Cluster) ending() bool { return strings.HasPrefix(c.State, "TERMINAT") }

// Over reports whether the step has ended, successfully or not, or will never run. A step that is cancelled is only over
// when its cluster ends, too: the reason is that of the cluster, whose state is read before that of the step.
func (c *Cluster) Over() bool {
	return c.Step.State == "COMPLETED" || c.Step.State == "FAILED" || c.Terminated() ||
		c.ending() && (c.Step.State == "CANCELLED" || c.Step.State == "INTERRUPTED")
}

// String returns the state in words: "cluster j-2AX: STARTING (Provisioning Amazon EC2 capacity)".
func (c *Cluster) String() string {
	text := "cluster " + c.ID + ": " + c.State
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	if c.Step.State != "" {
		text += "; step " + c.Step.ID + ": " + c.Step.State
	}
	return text
}

// NewName returns a unique name for a cluster, which begins with name.
func NewName(name string) string {
	mark := " #" + rand.Text()
	letters := []rune(name)
	return string(letters[:min(len(letters), maxName-len(mark))]) + mark
}

// ErrRefused is the error of Create if the service refused the request, or it was not sent: there is no cluster.
var ErrRefused = errors.New("no cluster was created")

// Create creates a cluster, and returns its identifier. RunJobFlow has no token that makes it idempotent, so the
// request is sent again only if the service has throttled it. The error is ErrRefused if the service refuses
// the request in its own words. After any other answer, or none, there may be a cluster: Create looks for its name.
// If ctx ends, Create waits for the answer, and looks once, because the user must know of every cluster.
func (s *Service) Create(ctx context.Context, spec *Spec) (id string, err error) {
	in, err := spec.Request()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var sent atomic.Bool
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	within = httptrace.WithClientTrace(within, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	begun := time.Now()
	out, err := s.client.RunJobFlow(within, in, func(e *emr.Options) {
		e.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts, r.MaxBackoff = attempts, s.poll
			r.Retryables = []retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}}
		})
	})
	switch {
	case err == nil && aws.ToString(out.JobFlowId) != "":
		return *out.JobFlowId, nil
	case err == nil:
		err = errors.New("the answer of Amazon EMR has no id of a cluster")
	case !sent.Load() || refused(err):
		return "", fmt.Errorf("%w: %w", ErrRefused, cloud.Explain(err))
	}
	s.news("no valid answer of Amazon EMR: checking whether the cluster is being created")
	for range looks {
		c, look := s.Find(context.WithoutCancel(ctx), spec.Name, begun)
		switch {
		case look == nil && c != nil:
			return c.ID, nil
		case look != nil && !cloud.IsTransient(look):
			err = errors.Join(err, look)
		}
		if cloud.Sleep(ctx, s.poll) != nil {
			break
		}
	}
	return "", fmt.Errorf("a cluster named %q may have been created, and would cost money: driver-aws emr status lists clusters, driver-aws emr down CLUSTER ends one: %w",
		spec.Name, cloud.Explain(err))
}

// refused reports whether an error is a refusal in the service's own words: nothing was created. An answer that
// is not in the form of the service, such as HTML of a proxy, has no code.
func refused(err error) bool {
	var answer smithy.APIError
	var response *smithyhttp.ResponseError
	return errors.As(err, &answer) && answer.ErrorCode() != "UnknownError" &&
		errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusBadRequest && response.HTTPStatusCode() < http.StatusInternalServerError
}

// Find returns the cluster with a name that was created after a time, in any state, without tags and step; or
// nil if there is none.
func (s *Service) Find(ctx context.Context, name string, after time.Time) (*Cluster, error) {
	after = after.Add(-24 * time.Hour) // clocks differ, and the name is unique
	all, err := s.list(ctx, &emr.ListClustersInput{CreatedAfter: &after})
	if i := slices.IndexFunc(all, func(c *Cluster) bool { return c.Name == name }); i >= 0 && err == nil {
		return all[i], nil
	}
	return nil, err
}

// Alive returns the clusters that cost money, have names that begin with prefix, and have the tag of a run, the
// oldest first.
func (s *Service) Alive(ctx context.Context, prefix string) (all []*Cluster, err error) {
	named, err := s.list(ctx, &emr.ListClustersInput{ClusterStates: []types.ClusterState{
		types.ClusterStateStarting, types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateWaiting, types.ClusterStateTerminating}})
	if err != nil {
		return nil, err
	}
	for _, c := range named {
		if !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		full, err := s.Cluster(ctx, c.ID)
		switch {
		case errors.Is(err, fs.ErrPermission): // the policy of a user allows only clusters of a prefix in S3
			s.news(fmt.Sprintf("cluster %s (%s) is of another user: %v", c.ID, c.Name, err))
		case err != nil:
			return nil, err
		case full.Tags[TagOfRun] != "":
			all = append(all, full)
		}
	}
	return all, nil
}

// list returns clusters without tags and step, the oldest first.
func (s *Service) list(ctx context.Context, in *emr.ListClustersInput) (all []*Cluster, err error) {
	for pages := emr.NewListClustersPaginator(s.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for _, c := range page.Clusters {
			all = append(all, clusterOf(c.Id, c.Name, c.Status))
		}
	}
	slices.SortFunc(all, func(a, b *Cluster) int { return a.Created.Compare(b.Created) })
	return all, nil
}

// Cluster returns a cluster with its tags and its step.
func (s *Service) Cluster(ctx context.Context, id string) (*Cluster, error) {
	out, err := s.client.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: &id})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	if out.Cluster == nil {
		return nil, fmt.Errorf("the answer of Amazon EMR has no description of cluster %s", id)
	}
	c := clusterOf(out.Cluster.Id, out.Cluster.Name, out.Cluster.Status)
	c.Tags = make(map[string]string)
	for _, tag := range out.Cluster.Tags {
		c.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	steps, err := s.client.ListSteps(ctx, &emr.ListStepsInput{ClusterId: &id})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	for _, step := range steps.Steps { // the newest first: a user may have added others
		c.Step.ID = aws.ToString(step.Id)
		if status := step.Status; status != nil {
			c.Step.State, c.Step.Started = string(status.State), time.Time{}
			if t := status.Timeline; t != nil {
				c.Step.Started = aws.ToTime(t.StartDateTime)
			}
		}
	}
	return c, nil
}

// clusterOf converts the service's status of a cluster.
func clusterOf(id, name *string, status *types.ClusterStatus) *Cluster {
	c := &Cluster{ID: aws.ToString(id), Name: aws.ToString(name)}
	if status == nil {
		return c
	}
	c.State = string(status.State)
	if r := status.StateChangeReason; r != nil {
		c.Reason = cmp.Or(aws.ToString(r.Message), string(r.Code))
	}
	if t := status.Timeline; t != nil {
		c.Created, c.Ended = aws.ToTime(t.CreationDateTime), aws.ToTime(t.EndDateTime)
	}
	return c
}

// Follow polls a cluster until done returns true. Temporary errors are repeated for ten minutes.
func (s *Service) Follow(ctx context.Context, id string, done func(*Cluster) bool) (*Cluster, error) {
	var failing time.Time // time since which all polls have failed
	for {
		c, err := s.Cluster(ctx, id)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil && done(c):
			return c, nil
		case err == nil:
			failing = time.Time{}
		case !cloud.IsTransient(err):
			return nil, err
		case failing.IsZero():
			failing = time.Now()
			s.news(fmt.Sprintf("%v; the cluster keeps running, and polling continues", err))
		case time.Since(failing) > patience:
			return nil, fmt.Errorf("no answer for %s: %w", patience, err)
		}
		if err := cloud.Sleep(ctx, s.poll); err != nil {
			return nil, err
		}
	}
}

// End ends a cluster, and waits until the service reports that. It does nothing if the cluster has ended. It
// refuses a cluster without the tag of a run.
func (s *Service) End(ctx context.Context, id string) error {
	c, err := s.Cluster(ctx, id)
	if err == nil && c.Tags[TagOfRun] == "" {
		return fmt.Errorf("cluster %s was not created by driver-aws: it has no tag %s", id, TagOfRun)
	}
	if err == nil {
		_, err = s.client.TerminateJobFlows(ctx, &emr.TerminateJobFlowsInput{JobFlowIds: []string{id}})
	}
	if err == nil {
		_, err = s.Follow(ctx, id, (*Cluster).ending)
	}
	if err != nil {
		return fmt.Errorf("cluster %s was not ended: %w", id, cloud.Explain(err))
	}
	return nil
}
