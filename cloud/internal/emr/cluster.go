package emr

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
)

// A Cluster is a cluster that exists, or has existed.
type Cluster struct {
	// ID is the service's identifier: j-2AXXXXXXGAPLF.
	ID string

	s *Service
}

// ClusterState is the state of a cluster as the service describes it.
type ClusterState struct {
	ID      string
	Name    string
	State   string // STARTING, BOOTSTRAPPING, RUNNING, WAITING, TERMINATING, TERMINATED, TERMINATED_WITH_ERRORS
	Reason  string // why it is in this state; "" if the service gives no reason
	LogURI  string // directory of the logs in S3; "": none
	Master  string // host name of the master; "" before it has one
	Created time.Time
	Ready   time.Time // zero until it is ready for its first step
	Ended   time.Time // zero until it has ended
	Tags    map[string]string
}

// Over reports whether a cluster has terminated or is terminating, so that it will cost
// nothing within a minute.
func (c ClusterState) Over() bool {
	return slices.Contains([]string{"TERMINATING", "TERMINATED", "TERMINATED_WITH_ERRORS"}, c.State)
}

// terminated reports whether a cluster has terminated.
func (c ClusterState) terminated() bool {
	return c.Over() && c.State != string(types.ClusterStateTerminating)
}

// Takes reports whether a cluster accepts steps.
func (c ClusterState) Takes() bool {
	return slices.Contains([]string{"STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"}, c.State)
}

// String returns the state in words: "j-2AX: STARTING (Provisioning Amazon EC2 capacity)".
func (c ClusterState) String() string {
	text := c.ID + ": " + c.State
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	return text
}

// ErrEnded is the error for a cluster that has ended, or is ending, before a request to it was
// completed.
var ErrEnded = errors.New("the cluster has ended")

// token returns a unique name for a cluster or step, with which it can be found if the answer
// to its request is lost.
func token(name string) string {
	mark := " #" + rand.Text()[:8]
	letters := []rune(name)
	return string(letters[:min(len(letters), MaxName-len(mark))]) + mark
}

// Make creates a cluster. RunJobFlow has no token that makes it idempotent, so Make gives the
// cluster a unique name. If the answer is lost, Make looks for a cluster with this name, and
// does not send the request again. If ctx ends first, the error contains the name of the cluster
// that may have been created.
func (s *Service) Make(ctx context.Context, spec *Spec) (*Cluster, error) {
	named := *spec
	named.Name = token(spec.Name)
	in, err := named.Request()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err // nothing was sent
	}
	unsure := func(err error) error {
		return fmt.Errorf("a cluster named %q may have been created, and would cost money: driver-aws emr status lists clusters, driver-aws emr down --cluster-id CLUSTER terminates one: %w", named.Name, err)
	}
	begun := time.Now()
	out, err := s.client.RunJobFlow(ctx, in, s.once)
	switch {
	case err == nil:
		return s.Cluster(aws.ToString(out.JobFlowId)), nil
	case ctx.Err() != nil:
		return nil, unsure(ctx.Err())
	case !unknown(err):
		return nil, cloud.Explain(err)
	}
	s.o.News("the answer of Amazon EMR was lost: checking whether the cluster is being created")
	id, look := s.lost(ctx, func(ctx context.Context) (string, error) {
		clusters, err := s.clusters(ctx, begun.Add(-time.Hour)) // clocks differ
		for _, c := range clusters {
			if c.Name == named.Name {
				return c.ID, nil
			}
		}
		return "", err
	})
	if look != nil {
		return nil, unsure(look)
	}
	if id == "" {
		return nil, fmt.Errorf("%w; no cluster named %q was found (driver-aws emr status lists clusters)", cloud.Explain(err), named.Name)
	}
	return s.Cluster(id), nil
}

// Join returns an existing cluster. It returns an error if the cluster does not accept steps.
func (s *Service) Join(ctx context.Context, id string) (*Cluster, error) {
	c := s.Cluster(id)
	state, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	if !state.Takes() {
		return nil, fmt.Errorf("cluster %s does not accept steps", state)
	}
	return c, nil
}

// Cluster returns the cluster with an identifier. It sends no request.
func (s *Service) Cluster(id string) *Cluster { return &Cluster{ID: id, s: s} }

// Alive returns the states of the clusters that cost money, the oldest first. Tags, and times
// other than Created, are not set.
func (s *Service) Alive(ctx context.Context) ([]ClusterState, error) {
	return s.clusters(ctx, time.Time{},
		types.ClusterStateStarting, types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateWaiting)
}

// clusters returns the states of the clusters that were created after a time and are in one of
// the given states, or in any if there are none.
func (s *Service) clusters(ctx context.Context, after time.Time, states ...types.ClusterState) (all []ClusterState, err error) {
	in := &emr.ListClustersInput{ClusterStates: states}
	if !after.IsZero() {
		in.CreatedAfter = &after
	}
	err = cloud.Pages(ctx, emr.NewListClustersPaginator(s.client, in), func(page *emr.ListClustersOutput) error {
		for _, c := range page.Clusters {
			all = append(all, stateOf(c.Id, c.Name, c.Status))
		}
		return nil
	})
	slices.SortFunc(all, func(a, b ClusterState) int { return a.Created.Compare(b.Created) })
	return all, cloud.Explain(err)
}

// stateOf converts the service's status of a cluster.
func stateOf(id, name *string, status *types.ClusterStatus) ClusterState {
	c := ClusterState{ID: aws.ToString(id), Name: aws.ToString(name)}
	if status == nil {
		return c
	}
	c.State = string(status.State)
	if r := status.StateChangeReason; r != nil {
		c.Reason = cmp.Or(aws.ToString(r.Message), string(r.Code))
	}
	for _, d := range status.ErrorDetails {
		if text := aws.ToString(d.ErrorMessage); text != "" && !strings.Contains(c.Reason, text) {
			c.Reason = strings.TrimPrefix(c.Reason+"; "+text, "; ")
		}
	}
	if t := status.Timeline; t != nil {
		c.Created, c.Ready, c.Ended = aws.ToTime(t.CreationDateTime), aws.ToTime(t.ReadyDateTime), aws.ToTime(t.EndDateTime)
	}
	return c
}

// State returns the state of a cluster.
func (c *Cluster) State(ctx context.Context) (ClusterState, error) {
	out, err := c.s.client.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(c.ID)})
	if err != nil {
		return ClusterState{}, cloud.Explain(err)
	}
	if out.Cluster == nil {
		return ClusterState{}, fmt.Errorf("EMR returned no description of cluster %s", c.ID)
	}
	state := stateOf(out.Cluster.Id, out.Cluster.Name, out.Cluster.Status)
	// The service changes s3:// to s3n://.
	state.LogURI = strings.Replace(aws.ToString(out.Cluster.LogUri), "s3n://", "s3://", 1)
	state.Master = aws.ToString(out.Cluster.MasterPublicDnsName)
	state.Tags = make(map[string]string)
	for _, tag := range out.Cluster.Tags {
		state.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return state, nil
}

// Ready waits until a cluster executes or accepts steps. It calls news with each new state. It
// returns ErrEnded if the cluster ends instead.
func (c *Cluster) Ready(ctx context.Context, news func(ClusterState)) error {
	return c.until(ctx, news, func(state ClusterState) (bool, error) {
		if state.Over() {
			return false, fmt.Errorf("%w: %s", ErrEnded, state)
		}
		return state.State == string(types.ClusterStateRunning) || state.State == string(types.ClusterStateWaiting), nil
	})
}

// End terminates a cluster, and waits until the service reports that it is terminating. It
// does nothing if the cluster has ended.
func (c *Cluster) End(ctx context.Context) error {
	err := c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := c.s.client.TerminateJobFlows(ctx, &emr.TerminateJobFlowsInput{JobFlowIds: []string{c.ID}})
		return true, err
	})
	if err != nil {
		return fmt.Errorf("cluster %s was not terminated: %w", c.ID, err)
	}
	return c.until(ctx, nil, func(state ClusterState) (bool, error) { return state.Over(), nil })
}

// until polls the state of a cluster until is returns true or an error.
func (c *Cluster) until(ctx context.Context, news func(ClusterState), is func(ClusterState) (bool, error)) error {
	last := ""
	return c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		state, err := c.State(ctx)
		if err != nil {
			return false, err
		}
		if text := state.String(); news != nil && text != last {
			last = text
			news(state)
		}
		return is(state)
	})
}
