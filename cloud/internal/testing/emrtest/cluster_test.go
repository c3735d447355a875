package emrtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/s3"
)

// A cluster is a cluster of a Server. Except for ctx, the server's lock protects its
// fields.
type cluster struct {
	s    *Server
	in   *runJobFlowIn
	id   string
	ctx  context.Context    // done when the cluster must end
	done context.CancelFunc //
	wake chan struct{}      // receives when something has changed

	state    string
	reason   reason
	timeline timeline
	steps    []*step
	last     string    // the final state; "": the cluster is not ending
	idle     time.Time // since when the cluster has been waiting
}

// look is the interval at which a cluster checks whether it must end.
const look = 20 * time.Millisecond

func newCluster(s *Server, in *runJobFlowIn) *cluster {
	c := &cluster{s: s, in: in, id: s.newID("j"), state: "STARTING", timeline: make(timeline), wake: make(chan struct{}, 1)}
	c.ctx, c.done = context.WithCancel(context.Background())
	c.timeline.set("CreationDateTime")
	return c
}

func (c *cluster) arn() string {
	return "arn:aws:elasticmapreduce:us-east-1:123456789012:cluster/" + c.id
}

// active reports whether the cluster accepts steps.
func (c *cluster) active() bool {
	return slices.Contains([]string{"STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"}, c.state)
}

func (c *cluster) out() clusterOut {
	out := clusterOut{
		Id: c.id, Name: c.in.Name, ClusterArn: c.arn(), ReleaseLabel: c.in.ReleaseLabel,
		Status:              status{State: c.state, StateChangeReason: c.reason, Timeline: c.timeline},
		AutoTerminate:       !c.in.Instances.KeepJobFlowAliveWhenNoSteps,
		MasterPublicDnsName: "localhost", StepConcurrencyLevel: 1, Tags: orNone(c.in.Tags), Applications: orNone(c.in.Applications),
	}
	if rest, ok := strings.CutPrefix(c.in.LogUri, s3.Scheme); ok {
		out.LogUri = "s3n://" + rest // as the service reports it
	}
	return out
}

func orNone(list []json.RawMessage) []json.RawMessage {
	return append([]json.RawMessage{}, list...)
}

// add appends steps to the queue, and returns their identifiers.
func (c *cluster) add(configs []stepConfig) (ids []string) {
	for _, config := range configs {
		step := newStep(c, config)
		c.steps = append(c.steps, step)
		ids = append(ids, step.id)
	}
	c.stir()
	return ids
}

// stir wakes the cluster.
func (c *cluster) stir() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end ends the cluster with a final state. Only the first call has an effect.
func (c *cluster) end(last, code, message string) {
	if c.last != "" {
		return
	}
	c.last, c.reason = last, reason{code, message}
	c.state = "TERMINATING"
	c.done()
}

// live runs the cluster to its end.
func (c *cluster) live() {
	s := c.s
	defer func() {
		s.config.Ended()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, step := range c.steps {
			if !step.ended() {
				step.end("CANCELLED", "")
			}
		}
		c.state = c.last
		c.timeline.set("EndDateTime")
	}()
	if !c.sleep(s.seconds(s.config.Start)) {
		return
	}
	c.become("BOOTSTRAPPING")
	if !c.sleep(s.seconds(s.config.Bootstrap)) {
		return
	}
	for i, action := range c.in.BootstrapActions {
		if err := c.bootstrap(action); err != nil {
			c.fail("BOOTSTRAP_FAILURE", fmt.Sprintf("On the master instance, bootstrap action %d returned a non-zero return code: %v", i+1, err))
			return
		}
	}
	s.mu.Lock()
	c.timeline.set("ReadyDateTime")
	s.mu.Unlock()
	for c.ctx.Err() == nil {
		if step := c.next(); step != nil {
			step.run()
			continue
		}
		c.wait()
	}
}

// next returns the next step to run, or nil if there is none.
func (c *cluster) next() *step {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.ctx.Err() != nil {
		return nil
	}
	for _, step := range c.steps {
		if step.state == "PENDING" {
			step.begin()
			c.state, c.reason = "RUNNING", reason{Message: "Running step"}
			return step
		}
	}
	if !c.in.Instances.KeepJobFlowAliveWhenNoSteps {
		c.end("TERMINATED", "ALL_STEPS_COMPLETED", "Steps completed")
		return nil
	}
	if c.state != "WAITING" {
		c.state, c.reason, c.idle = "WAITING", reason{Message: "Cluster ready to run steps."}, time.Now()
	}
	return nil
}

// wait waits until something changes, and ends a cluster that has been idle for as long as
// its policy allows.
func (c *cluster) wait() {
	select {
	case <-c.ctx.Done():
	case <-c.wake:
	case <-time.After(look):
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	p := c.in.AutoTerminationPolicy
	if p == nil || slices.ContainsFunc(c.steps, func(step *step) bool { return !step.ended() }) {
		return
	}
	if c.state == "WAITING" && time.Since(c.idle) > c.s.seconds(p.IdleTimeout) {
		c.end("TERMINATED", "USER_REQUEST", fmt.Sprintf("Terminated by its auto-termination policy: idle for %d seconds", p.IdleTimeout))
	}
}

// bootstrap begins the limit that a bootstrap action sets.
func (c *cluster) bootstrap(action bootstrapAction) error {
	script := action.ScriptBootstrapAction
	if c.s.config.S3 == "" {
		return nil
	}
	bucket, key, err := c.s.bucket(c.ctx, script.Path)
	if err == nil {
		_, err = bucket.Stat(key)
	}
	minutes := 0
	if err == nil {
		_, err = fmt.Sscan(strings.Join(script.Args, " "), &minutes)
	}
	if err != nil {
		return err
	}
	timer := time.AfterFunc(c.s.seconds(60*minutes), func() { c.fail("INSTANCE_FAILURE", "The master node was terminated") })
	context.AfterFunc(c.ctx, func() { timer.Stop() })
	return nil
}

// become changes the state of the cluster unless it is ending.
func (c *cluster) become(state string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.ctx.Err() == nil {
		c.state = state
	}
}

// fail ends the cluster with an error.
func (c *cluster) fail(code, message string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.end("TERMINATED_WITH_ERRORS", code, message)
}

// sleep waits; it returns false if the cluster must end.
func (c *cluster) sleep(d time.Duration) bool {
	select {
	case <-c.ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// EndCluster ends a cluster as if it had lost its machines; "": every cluster.
func (s *Server) EndCluster(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clusters {
		if id == "" || c.id == id {
			c.end("TERMINATED_WITH_ERRORS", "INSTANCE_FAILURE", "Instance failure: all nodes of the core group were terminated")
		}
	}
}

// A State is the state of a cluster.
type State struct {
	ID, Name, State string
	Steps           []StepState // the oldest first
}

// A StepState is the state of a step.
type StepState struct {
	ID, Name, State string
	Args            []string
}

// Clusters returns the states of all clusters, the oldest first.
func (s *Server) Clusters() (all []State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clusters {
		state := State{ID: c.id, Name: c.in.Name, State: c.state}
		for _, step := range c.steps {
			state.Steps = append(state.Steps, StepState{step.id, step.config.Name, step.state, step.config.HadoopJarStep.Args})
		}
		all = append(all, state)
	}
	return all
}

// Ended reports whether a state of a cluster is final.
func (s State) Ended() bool { return strings.HasPrefix(s.State, "TERMINATED") }
