package emrtest

import (
	"encoding/json"
	"slices"
	"time"
)

// operations are the supported calls. They are called with the lock held.
var operations = map[string]func(s *Server, body []byte) (any, error){
	"RunJobFlow":        decoded((*Server).runJobFlow),
	"AddJobFlowSteps":   decoded((*Server).addJobFlowSteps),
	"DescribeStep":      decoded((*Server).describeStep),
	"ListSteps":         decoded((*Server).listSteps),
	"CancelSteps":       decoded((*Server).cancelSteps),
	"DescribeCluster":   decoded((*Server).describeCluster),
	"ListClusters":      decoded((*Server).listClusters),
	"TerminateJobFlows": decoded((*Server).terminateJobFlows),
}

// decoded makes an operation from a function of the decoded request.
func decoded[In any](do func(s *Server, in *In) (any, error)) func(*Server, []byte) (any, error) {
	return func(s *Server, body []byte) (any, error) {
		in := new(In)
		if err := json.Unmarshal(body, in); err != nil {
			return nil, &apiError{code: "SerializationException", message: err.Error()}
		}
		return do(s, in)
	}
}

// The following types are in the service's format, as far as it is needed here.

type runJobFlowIn struct {
	Name, LogUri, ReleaseLabel, JobFlowRole, ServiceRole string
	Instances                                            struct {
		KeepJobFlowAliveWhenNoSteps bool
		InstanceGroups              []json.RawMessage
		MasterInstanceType          string
	}
	Steps                 []stepConfig
	BootstrapActions      []bootstrapAction
	AutoTerminationPolicy *idlePolicy
	StepConcurrencyLevel  int
	Tags                  []json.RawMessage
	Applications          []json.RawMessage
}

type bootstrapAction struct {
	Name                  string
	ScriptBootstrapAction struct {
		Path string
		Args []string
	}
}

type idlePolicy struct{ IdleTimeout int }

type stepConfig struct {
	Name, ActionOnFailure string
	HadoopJarStep         struct {
		Jar, MainClass string
		Args           []string
		Properties     []json.RawMessage
	}
}

type reason struct {
	Code    string `json:",omitempty"`
	Message string `json:",omitempty"`
}

type timeline map[string]float64

// set records the current time under name, in seconds since 1970.
func (t timeline) set(name string) { t[name] = float64(time.Now().UnixMilli()) / 1000 }

type status struct {
	State             string
	StateChangeReason reason
	Timeline          timeline
}

type stepOut struct {
	Id, Name, ActionOnFailure string
	Config                    any
	Status                    status
}

type clusterOut struct {
	Id, Name, ClusterArn string
	Status               status
	LogUri               string `json:",omitempty"`
	ReleaseLabel         string
	AutoTerminate        bool
	MasterPublicDnsName  string
	StepConcurrencyLevel int
	Tags, Applications   []json.RawMessage
}

func (s *Server) runJobFlow(in *runJobFlowIn) (any, error) {
	if in.StepConcurrencyLevel > 1 {
		return nil, invalid("emrtest: steps run one at a time")
	}
	c := newCluster(s, in)
	c.add(in.Steps)
	s.clusters = append(s.clusters, c)
	s.alive.Go(c.live)
	return map[string]string{"JobFlowId": c.id, "ClusterArn": c.arn()}, nil
}

// cluster returns the cluster with an identifier.
func (s *Server) cluster(id string) (*cluster, error) {
	for _, c := range s.clusters {
		if c.id == id {
			return c, nil
		}
	}
	return nil, invalid("Cluster id '%s' is not valid.", id)
}

// changeable returns the cluster with an identifier, which must not be ending.
func (s *Server) changeable(id string) (*cluster, error) {
	c, err := s.cluster(id)
	if err == nil && !c.active() {
		err = invalid("A job flow that is shutting down, terminated, or finished may not be modified.")
	}
	return c, err
}

func (s *Server) addJobFlowSteps(in *struct {
	JobFlowId string
	Steps     []stepConfig
}) (any, error) {
	c, err := s.changeable(in.JobFlowId)
	if err != nil {
		return nil, err
	}
	return map[string][]string{"StepIds": c.add(in.Steps)}, nil
}

func (s *Server) describeStep(in *struct{ ClusterId, StepId string }) (any, error) {
	c, err := s.cluster(in.ClusterId)
	if err != nil {
		return nil, err
	}
	for _, step := range c.steps {
		if step.id == in.StepId {
			return map[string]any{"Step": step.out()}, nil
		}
	}
	return nil, invalid("Step id '%s' is not valid.", in.StepId)
}

func (s *Server) listSteps(in *struct{ ClusterId string }) (any, error) {
	c, err := s.cluster(in.ClusterId)
	if err != nil {
		return nil, err
	}
	all := []stepOut{}
	for _, step := range slices.Backward(c.steps) {
		all = append(all, step.out())
	}
	return map[string]any{"Steps": all}, nil
}

func (s *Server) cancelSteps(in *struct {
	ClusterId, StepCancellationOption string
	StepIds                           []string
}) (any, error) {
	c, err := s.cluster(in.ClusterId)
	if err != nil {
		return nil, err
	}
	type info struct{ StepId, Status, Reason string }
	infos := []info{}
	for _, id := range in.StepIds {
		i := slices.IndexFunc(c.steps, func(step *step) bool { return step.id == id })
		switch {
		case i < 0:
			infos = append(infos, info{id, "FAILED", "Step id is not valid."})
		case c.steps[i].ended():
			infos = append(infos, info{id, "FAILED", "Step is not in a state that can be cancelled."})
		default:
			c.steps[i].cancelled()
			infos = append(infos, info{StepId: id, Status: "SUBMITTED"})
		}
	}
	return map[string]any{"CancelStepsInfoList": infos}, nil
}

func (s *Server) describeCluster(in *struct{ ClusterId string }) (any, error) {
	c, err := s.cluster(in.ClusterId)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Cluster": c.out()}, nil
}

func (s *Server) listClusters(in *struct {
	ClusterStates []string
	CreatedAfter  float64
}) (any, error) {
	all := []clusterOut{}
	for _, c := range slices.Backward(s.clusters) {
		if (in.ClusterStates == nil || slices.Contains(in.ClusterStates, c.state)) && c.timeline["CreationDateTime"] >= in.CreatedAfter {
			all = append(all, c.out())
		}
	}
	return map[string]any{"Clusters": all}, nil
}

func (s *Server) terminateJobFlows(in *struct{ JobFlowIds []string }) (any, error) {
	var all []*cluster
	for _, id := range in.JobFlowIds {
		c, err := s.cluster(id)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, c := range all {
		c.end("TERMINATED", "USER_REQUEST", "Terminated by user request")
	}
	return struct{}{}, nil
}
