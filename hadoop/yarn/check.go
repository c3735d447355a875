package yarn

import (
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
			Scheduler struct{ SchedulerInfo map[string]any }
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

// A schedulerQueue is a queue as the scheduler describes it.
type schedulerQueue struct {
	path     string // root.a.b
	leaf     bool
	children bool // creates child queues on demand
	stopped  bool
}

// checkQueue returns an error unless the queue is an open leaf queue of a capacity scheduler,
// or can be created. It accepts all queues of other schedulers.
func checkQueue(info map[string]any, name string) error {
	if name == "" {
		name = "default"
	}
	if kind, _ := info["type"].(string); kind != "capacityScheduler" {
		return nil
	}
	var names []string
	parent, _, _ := cutLast(name)
	for _, q := range queues(info, "") {
		_, last, _ := cutLast(q.path)
		switch {
		case q.leaf && (q.path == name || last == name):
			if q.stopped {
				return fmt.Errorf("the queue %s is stopped", name)
			}
			return nil
		case q.children && q.path == parent:
			return nil
		case q.leaf:
			names = append(names, strings.TrimPrefix(q.path, "root."))
		}
	}
	slices.Sort(names)
	return fmt.Errorf("no queue %s (there are: %s)", name, strings.Join(names, ", "))
}

// cutLast splits a path at its last dot.
func cutLast(path string) (parent, last string, found bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// queues returns a queue of a capacity scheduler, and all queues below it. Before Hadoop 3,
// the answers do not contain the paths of queues.
func queues(info map[string]any, parent string) []schedulerQueue {
	path, _ := info["queuePath"].(string)
	if path == "" {
		path, _ = info["queueName"].(string)
		if parent != "" {
			path = parent + "." + path
		}
	}
	under, _ := info["queues"].(map[string]any)
	list, _ := under["queue"].([]any)
	eligible, _ := info["autoCreationEligibility"].(string)
	creates, _ := info["autoCreateChildQueueEnabled"].(bool)
	found := []schedulerQueue{{
		path:     path,
		leaf:     len(list) == 0,
		children: creates || eligible != "" && eligible != "off",
		stopped:  info["state"] == "STOPPED",
	}}
	for _, child := range list {
		if child, ok := child.(map[string]any); ok {
			found = append(found, queues(child, path)...)
		}
	}
	return found
}
