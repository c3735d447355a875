package calibrate

import (
	"errors"
	"time"

	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/plan"
)

// A Run is a run of driver solve on a cluster: its journal, and the CPU seconds of the driver
// and of Hadoop's clients.
type Run struct {
	*solve.Journal
	CPU float64
}

// onCluster returns the jobs that ran on the cluster.
func (r Run) onCluster() (jobs []solve.JobRecord) {
	for _, j := range r.Jobs {
		if j.Application != "" {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// ErrNoJobs is returned by Cluster when a run had no job on the cluster.
var ErrNoJobs = errors.New("no job ran on the cluster")

// Cluster fits the rates of a cluster to three runs of Connect N: two of a small board, whose
// jobs ran in their application masters (uber) or in containers of their own (contained); and
// one of 5×5 connect 4 (large), whose jobs are large enough to measure. The cost of a record
// in the shuffle is not measured, and stays as it was.
func Cluster(r *plan.Rates, uber, contained, large Run, name string, now time.Time) error {
	c := &r.Cluster
	var waiting, tasks []float64
	for _, j := range uber.onCluster() {
		waiting = append(waiting, j.Waiting)
	}
	if len(waiting) == 0 {
		return ErrNoJobs
	}
	c.Uber = median(waiting)
	c.Client = max(0, uber.CPU) / float64(len(waiting))
	waiting = nil
	for _, j := range contained.onCluster() {
		waiting = append(waiting, j.Waiting)
		tasks = append(tasks, max(0, j.CPU-j.Programs)/2)
	}
	if len(waiting) == 0 {
		return ErrNoJobs
	}
	c.Job, c.Task = median(waiting), median(tasks)
	programs, alone := 0.0, 0.0
	for _, j := range large.onCluster() {
		programs += j.Programs
		one := 1e-9 * positionTime(r) * float64(j.Records) / 2
		if j.Step == step.Solve {
			one *= plan.SolveTimes
		}
		alone += one
	}
	if alone == 0 {
		return ErrNoJobs
	}
	// The CPU time of a program includes its start, so the factor should be at least 1; limit
	// it to 10.
	c.Program = min(max(programs/alone, 1), 10)
	c.Name, c.Measured = name, now
	return r.Check()
}

// positionTime returns the CPU time of a position of a large tier of 5×5 connect 4 in one
// process, in nanoseconds: its value has about 3 bits, and there are about 2.2 slots of
// occupied words for each position.
func positionTime(r *plan.Rates) float64 { return 3*r.Blocks.Value + 2.2*r.Blocks.Slot }
