package yarn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// maxAttempts is the maximum number of failed attempts of a task whose logs are read.
const maxAttempts = 4

// Failure describes why an application failed.
type Failure struct {
	Task    string // "map 3", "reduce 0", "application master"; empty if no task ran
	Attempt string // attempt_1795287426079_0002_m_000003_0; for an application master, or a task that it ran itself, appattempt_…
	Node    string // host on which the attempt ran

	// Text is what the program wrote to stderr, without the lines of Hadoop and Java. If that
	// is empty, it is the message of Hadoop. Lines are separated by \n.
	Text string
}

// String returns the failure in one line. If Text has several lines, it returns the one at
// which a program panics, or else the last line of a program, or the first line of Hadoop.
func (f Failure) String() string {
	text := f.Text
	if lines := strings.Split(f.Text, "\n"); len(lines) > 1 {
		at := panicLine(lines)
		switch {
		case at >= 0:
		case f.Task == "":
			at = 0
		default:
			at = len(lines) - 1
		}
		text = fmt.Sprintf("%s (one of %d lines)", lines[at], len(lines))
	}
	switch {
	case f.Task == "":
		return text
	case f.Node == "":
		return f.Task + ": " + text
	}
	return f.Task + " on " + f.Node + ": " + text
}

// A finished is an application that has ended, in the JSON of the resource manager.
type finished struct{ ID, State, FinalStatus, Diagnostics string }

// ErrSucceeded is the error of Cause for an application that has succeeded.
var ErrSucceeded = errors.New("the application has succeeded")

// Cause returns why an application failed or by whom it was killed. It finds the task that
// made the job fail, and returns what the program of its first failed attempt wrote to stderr.
// It waits some seconds for the end of the application. It returns an error if the application did not fail, or if no
// service describes a failure.
func (c *Client) Cause(ctx context.Context, id string) (failure Failure, err error) {
	var answer struct{ App finished }
	poll(ctx, endWait, func(ctx context.Context) (again bool) {
		err = c.getManager(ctx, "/ws/v1/cluster/apps/"+url.PathEscape(id), &answer)
		return err == nil && answer.App.FinalStatus == "UNDEFINED"
	})
	if err != nil {
		return failure, err
	}
	app := answer.App
	app.ID = id
	switch app.FinalStatus {
	case "SUCCEEDED":
		return failure, ErrSucceeded
	case "UNDEFINED":
		return failure, fmt.Errorf("%s did not fail", id)
	}
	if task := failedTask.FindStringSubmatch(app.Diagnostics); task != nil {
		failure, err = c.taskFailure(ctx, id, task[1])
		if failure.Text == "" {
			failure, _ = c.masterFailure(ctx, app, taskName(task[1]))
		}
	} else if app.State == "FAILED" {
		failure, err = c.masterFailure(ctx, app, master)
	}
	if failure.Text == "" {
		failure.Text, _ = meaning(app.Diagnostics)
	}
	if failure.Text == "" {
		return Failure{}, cmp.Or(err, fmt.Errorf("%s is %s, without a cause of the failure", id, app.State))
	}
	return failure, nil
}

// failedTask matches the task that made a job fail, in the diagnostics of its application. Other tasks were killed
// because of it.
var failedTask = regexp.MustCompile(`Task failed (task_\d+_\d+_[mr]_\d+)`)

// attempt is an attempt of a task in the JSON of the history server.
type attempt struct {
	ID, State, Diagnostics string
	StartTime              int64
	NodeHTTPAddress        string
	AssignedContainerID    string
}

// taskFailure returns the failure of a task: that of its first failed attempt, or of a later one whose program wrote
// something. A speculative attempt follows the original.
func (c *Client) taskFailure(ctx context.Context, app, task string) (failure Failure, err error) {
	var answer struct {
		TaskAttempts struct{ TaskAttempt []attempt }
	}
	if err := c.getHistory(ctx, "/mapreduce/jobs/"+url.PathEscape(jobID(app))+"/tasks/"+url.PathEscape(task)+"/attempts", &answer); err != nil {
		return failure, err
	}
	failed := slices.DeleteFunc(answer.TaskAttempts.TaskAttempt, func(a attempt) bool { return a.State != "FAILED" })
	sort.Slice(failed, func(i, j int) bool { // slices.SortFunc would add ten times the code for a large struct
		a, b := failed[i], failed[j]
		return cmp.Or(cmp.Compare(a.StartTime, b.StartTime), cmp.Compare(a.ID, b.ID)) < 0
	})
	for i, a := range failed[:min(len(failed), maxAttempts)] {
		stderr, missing := c.log(ctx, a.NodeHTTPAddress, a.AssignedContainerID, "stderr")
		printed := programLines(stderr)
		if i == 0 || len(printed) > 0 {
			failure = Failure{taskName(a.ID), a.ID, hostOf(a.NodeHTTPAddress), explain(a.Diagnostics, printed, missing)}
		}
		if len(printed) > 0 {
			break
		}
	}
	return failure, nil
}

// masterFailure returns why an application master ended before its job, or why a task failed that it ran itself (uber
// mode). After a failed map, Hadoop 3.4 starts the reduce, which finds that its job has ended, and exits the process that
// it runs in. This is the master, usually before it has written the job's history. The failure is empty if no master
// was started. If a log is missing, the caller uses the diagnostics, clear or not.
func (c *Client) masterFailure(ctx context.Context, app finished, task string) (failure Failure, err error) {
	var answer struct {
		AppAttempts struct {
			AppAttempt []struct{ AppAttemptID, ContainerID, NodeHTTPAddress string }
		}
	}
	err = c.getManager(ctx, "/ws/v1/cluster/apps/"+url.PathEscape(app.ID)+"/appattempts", &answer)
	attempts := answer.AppAttempts.AppAttempt
	if err != nil || len(attempts) == 0 {
		return failure, err
	}
	last := attempts[len(attempts)-1]
	failure = Failure{Task: task, Attempt: last.AppAttemptID, Node: hostOf(last.NodeHTTPAddress)}
	if text, clear := meaning(app.Diagnostics); clear && task == master {
		failure.Text = text
		return failure, nil
	}
	stderr, _ := c.log(ctx, last.NodeHTTPAddress, last.ContainerID, "stderr")
	failure.Text = strings.Join(programLines(stderr), "\n")
	if failure.Text == "" && task == master {
		syslog, _ := c.log(ctx, last.NodeHTTPAddress, last.ContainerID, "syslog")
		failure.Text = lastError(syslog)
	}
	return failure, nil
}

// log returns the end of a container's log, from the node manager, or from the history server, which
// has aggregated logs.
func (c *Client) log(ctx context.Context, nodeAddress, container, name string) (string, error) {
	if container == "" {
		return "", errors.New("it had no container")
	}
	file := "/containerlogs/" + url.PathEscape(container) + "/" + name + "?size=-" + strconv.Itoa(maxLog)
	read := func(service, base string) (string, error) {
		answer, err := c.do(ctx, service, base+file, "text/plain")
		return unwrap(string(answer)), err
	}
	text, err := read(node, c.node+nodeAddress+"/ws/v1/node")
	if err == nil {
		return text, nil
	}
	text, other := read(history, c.history+"/ws/v1/history")
	if other != nil {
		return "", join(err, other)
	}
	return text, nil
}

// hostOf returns the host of host:port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// taskID matches the identifier of a task, or of an attempt.
var taskID = regexp.MustCompile(`^(?:task|attempt)_\d+_\d+_([mr])_0*(\d+)`)

// taskName describes a task, by its identifier or that of an attempt: attempt_…_m_000003_0 is "map 3".
func taskName(id string) string {
	m := taskID.FindStringSubmatch(id)
	switch {
	case m == nil:
		return "task " + id
	case m[1] == "m":
		return "map " + m[2]
	}
	return "reduce " + m[2]
}
