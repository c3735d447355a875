package yarn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Check returns an error unless a resource manager answers, has a live node, and has the given
// queue (an empty name means default). The error is one line that names what is missing; Check
// takes at most ten seconds. It does not check the queue of a fair scheduler, which by default
// creates queues when jobs name them.
func (c *Client) Check(ctx context.Context, queue string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return c.onManager(ctx, func(base string) error {
		m, err := c.metrics(ctx, base)
		if err != nil {
			return err
		}
		if m.Nodes == 0 {
			return fmt.Errorf("%s %s: no live node (%d lost, %d unhealthy)", manager, base, m.Lost, m.Unhealthy)
		}
		var answer struct {
			Scheduler struct{ SchedulerInfo schedulerQueue }
		}
		if err := c.get(ctx, manager, base+"/ws/v1/cluster/scheduler", &answer); err != nil {
			return err
		}
		if err := checkQueue(answer.Scheduler.SchedulerInfo, queue); err != nil {
			return fmt.Errorf("%s %s: %w", manager, base, err)
		}
		return nil
	})
}

// A schedulerQueue is a queue of a scheduler, in JSON; the root queue has the type of the
// scheduler. Before Hadoop 3, there are no paths.
type schedulerQueue struct {
	Type, QueueName, QueuePath, State string
	Queues                            struct{ Queue []schedulerQueue }

	// The following fields show whether child queues are created on demand.

	AutoCreateChildQueueEnabled bool
	AutoCreationEligibility     string
}

// checkQueue returns an error unless the queue is an open leaf queue of a capacity scheduler,
// or can be created. It accepts all queues of other schedulers.
func checkQueue(root schedulerQueue, name string) error {
	name = cmp.Or(name, "default")
	if root.Type != "capacityScheduler" {
		return nil
	}
	var names []string
	parent, _ := cutLast(name)
	for _, q := range root.all("") {
		_, last := cutLast(q.QueuePath)
		leaf := len(q.Queues.Queue) == 0
		switch {
		case leaf && (q.QueuePath == name || last == name):
			if q.State == "STOPPED" {
				return fmt.Errorf("the queue %s is stopped", name)
			}
			return nil
		case q.QueuePath == parent && (q.AutoCreateChildQueueEnabled || q.AutoCreationEligibility != "" && q.AutoCreationEligibility != "off"):
			return nil
		case leaf:
			names = append(names, strings.TrimPrefix(q.QueuePath, "root."))
		}
	}
	slices.Sort(names)
	return fmt.Errorf("no queue %s (there are: %s)", name, strings.Join(names, ", "))
}

// cutLast splits a path at its last dot.
func cutLast(path string) (parent, last string) {
	i := strings.LastIndexByte(path, '.')
	return path[:max(i, 0)], path[i+1:]
}

// all returns the queue and all queues below it, with their paths.
func (q schedulerQueue) all(parent string) []schedulerQueue {
	if q.QueuePath == "" {
		q.QueuePath = strings.TrimPrefix(parent+"."+q.QueueName, ".")
	}
	found := []schedulerQueue{q}
	for _, child := range q.Queues.Queue {
		found = append(found, child.all(q.QueuePath)...)
	}
	return found
}
