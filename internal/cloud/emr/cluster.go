package emr

import (
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
)

// A Cluster is one that there is, or was.
type Cluster struct {
	// ID is how the service names it: j-2AXXXXXXGAPLF.
	ID string

	s *Service
}

// ClusterState is what the service tells of a cluster.
type ClusterState struct {
	ID      string
	Name    string
	State   string // STARTING, BOOTSTRAPPING, RUNNING, WAITING, TERMINATING, TERMINATED, TERMINATED_WITH_ERRORS
	Reason  string // why it is in this state; "" if nothing is said
	LogURI  string // where its logs go; "": nowhere
	Master  string // the name of the master; "" before it has one
	Created time.Time
	Ready   time.Time // zero before it took its first step
	Ended   time.Time // zero before it has
	Tags    map[string]string
}

// Over reports whether a cluster costs nothing any more, or will not in a minute.
func (c ClusterState) Over() bool {
	return slices.Contains([]string{"TERMINATING", "TERMINATED", "TERMINATED_WITH_ERRORS"}, c.State)
}

// gone reports whether a cluster has ended altogether.
func (c ClusterState) gone() bool {
	return c.Over() && c.State != string(types.ClusterStateTerminating)
}

// Takes reports whether a cluster takes steps.
func (c ClusterState) Takes() bool {
	return slices.Contains([]string{"STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"}, c.State)
}

// String is the state in words: "j-2AX: STARTING (Provisioning Amazon EC2 capacity)".
func (c ClusterState) String() string {
	text := c.ID + ": " + c.State
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	return text
}

// ErrEnded is returned when a cluster has ended, or is about to, before what was asked of
// it was done.
var ErrEnded = errors.New("the cluster has ended")

// token makes a name that no other cluster or step has, from which one is known again
// whose answer was lost.
func token(name string) string {
	mark := " #" + rand.Text()[:8]
	letters := []rune(name)
	return string(letters[:min(len(letters), MaxName-len(mark))]) + mark
}

// Make makes a cluster. The service has no mark by which it knows a request again, so
// its name is given one: if the answer is lost, it is looked for before anybody makes a
// second one.
func (s *Service) Make(ctx context.Context, spec *Spec) (*Cluster, error) {
	named := *spec
	named.Name = token(spec.Name)
	in, err := named.Request()
	if err != nil {
		return nil, err
	}
	if s.o.DryRun != nil {
		return &Cluster{ID: dryID, s: s}, s.dry(ctx, "RunJobFlow", named.CommandLine(), func(o func(*emr.Options)) error {
			_, err := s.client.RunJobFlow(ctx, in, o)
			return err
		})
	}
	begun := time.Now()
	out, err := s.client.RunJobFlow(ctx, in, s.once)
	if err == nil {
		return &Cluster{ID: aws.ToString(out.JobFlowId), s: s}, nil
	}
	if !unknown(err) {
		return nil, explain(err)
	}
	s.o.News("the answer of Amazon EMR was lost: looking whether the cluster is being made")
	var found *Cluster
	looks := 0 // a request may still be on its way when its answer is given up
	if look := s.poll(ctx, func(ctx context.Context) (bool, error) {
		clusters, err := s.clusters(ctx, begun.Add(-time.Hour)) // clocks differ
		for _, c := range clusters {
			if c.Name == named.Name {
				found = &Cluster{ID: c.ID, s: s}
			}
		}
		if err == nil {
			looks++
		}
		return found != nil || looks == lostLooks, err
	}); look != nil {
		return nil, fmt.Errorf("whether a cluster named %q was made is not known (driver emr status tells): %w", named.Name, look)
	}
	if found == nil {
		return nil, fmt.Errorf("%w; no cluster named %q was found (driver emr status lists what there is)", explain(err), named.Name)
	}
	return found, nil
}

// Join is a cluster that there is. It is an error if it takes no steps.
func (s *Service) Join(ctx context.Context, id string) (*Cluster, error) {
	c := s.Cluster(id)
	state, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	if !state.Takes() {
		return nil, fmt.Errorf("cluster %s takes no steps", state)
	}
	return c, nil
}

// Cluster is one of this id, about which nothing is asked yet.
func (s *Service) Cluster(id string) *Cluster { return &Cluster{ID: id, s: s} }

// Alive are the clusters that cost something, the oldest first. Tags and times but that
// of their making are not told.
func (s *Service) Alive(ctx context.Context) ([]ClusterState, error) {
	if s.o.DryRun != nil {
		return nil, nil
	}
	clusters, err := s.clusters(ctx, time.Time{}, types.ClusterStateStarting, types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateWaiting)
	return clusters, explain(err)
}

// clusters are those in some states, or in any, that were made after a time.
func (s *Service) clusters(ctx context.Context, after time.Time, states ...types.ClusterState) (all []ClusterState, err error) {
	in := &emr.ListClustersInput{ClusterStates: states}
	if !after.IsZero() {
		in.CreatedAfter = &after
	}
	pages := emr.NewListClustersPaginator(s.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range page.Clusters {
			all = append(all, stateOf(c.Id, c.Name, c.Status))
		}
	}
	slices.SortFunc(all, func(a, b ClusterState) int { return a.Created.Compare(b.Created) })
	return all, nil
}

// stateOf is a state in our form.
func stateOf(id, name *string, status *types.ClusterStatus) ClusterState {
	c := ClusterState{ID: aws.ToString(id), Name: aws.ToString(name)}
	if status == nil {
		return c
	}
	c.State = string(status.State)
	if r := status.StateChangeReason; r != nil {
		c.Reason = aws.ToString(r.Message)
		if c.Reason == "" {
			c.Reason = string(r.Code)
		}
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

// State asks how a cluster is.
func (c *Cluster) State(ctx context.Context) (ClusterState, error) {
	state, err := c.state(ctx)
	return state, explain(err)
}

func (c *Cluster) state(ctx context.Context) (ClusterState, error) {
	if c.s.o.DryRun != nil {
		return ClusterState{ID: c.ID, State: string(types.ClusterStateWaiting)}, nil
	}
	out, err := c.s.client.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(c.ID)})
	if err != nil {
		return ClusterState{}, err
	}
	if out.Cluster == nil {
		return ClusterState{}, fmt.Errorf("nothing is told of cluster %s", c.ID)
	}
	state := stateOf(out.Cluster.Id, out.Cluster.Name, out.Cluster.Status)
	state.LogURI, state.Master = logURI(aws.ToString(out.Cluster.LogUri)), aws.ToString(out.Cluster.MasterPublicDnsName)
	state.Tags = make(map[string]string)
	for _, tag := range out.Cluster.Tags {
		state.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return state, nil
}

// logURI is the place of logs as it was asked for: the service tells it as s3n://.
func logURI(uri string) string {
	if rest, ok := strings.CutPrefix(uri, "s3n://"); ok {
		return "s3://" + rest
	}
	return uri
}

// Ready waits until a cluster works on steps. news is called with each state that is
// new. It is ErrEnded if the cluster ends instead.
func (c *Cluster) Ready(ctx context.Context, news func(ClusterState)) error {
	return c.until(ctx, news, func(state ClusterState) (bool, error) {
		if state.Over() {
			return false, fmt.Errorf("%w: %s", ErrEnded, state)
		}
		return state.State == string(types.ClusterStateRunning) || state.State == string(types.ClusterStateWaiting), nil
	})
}

// End ends a cluster, and waits until the service says that it ends. One that has ended
// is left as it is.
func (c *Cluster) End(ctx context.Context) error {
	if c.s.o.DryRun != nil {
		return c.s.dry(ctx, "TerminateJobFlows", "aws emr terminate-clusters --cluster-ids "+word(c.ID), func(o func(*emr.Options)) error {
			_, err := c.s.client.TerminateJobFlows(ctx, &emr.TerminateJobFlowsInput{JobFlowIds: []string{c.ID}}, o)
			return err
		})
	}
	err := c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := c.s.client.TerminateJobFlows(ctx, &emr.TerminateJobFlowsInput{JobFlowIds: []string{c.ID}})
		return true, err
	})
	if err != nil {
		return fmt.Errorf("cluster %s was not ended: %w", c.ID, err)
	}
	return c.until(ctx, nil, func(state ClusterState) (bool, error) { return state.Over(), nil })
}

// until asks for the state of a cluster until it is the one that is waited for.
func (c *Cluster) until(ctx context.Context, news func(ClusterState), is func(ClusterState) (bool, error)) error {
	last := ""
	return c.s.poll(ctx, func(ctx context.Context) (bool, error) {
		state, err := c.state(ctx)
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
