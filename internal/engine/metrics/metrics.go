// Package metrics describes runs in the text format of Prometheus, and serves the description.
package metrics

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
)

// A Run is the run in a data directory. Its status.Run is nil if none has begun there.
type Run struct {
	Data string // the name of the directory
	*status.Run
}

// ContentType is the media type of the description.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// A family is a metric, with a function that adds the samples of a run.
type family struct {
	name, kind, help string
	samples          func(r *status.Run, add adder)
}

// An adder adds a sample. Labels are names and values in turn; the data directory is added to them.
type adder func(value float64, labels ...string)

// families returns all metrics of a run.
func families() []family {
	return []family{
		{"run_info", "gauge", "The game of the run; always 1.", func(r *status.Run, add adder) { add(1, "game", r.Game) }},
		{"run_state", "gauge", "Whether the run is in the state.", func(r *status.Run, add adder) {
			for _, state := range []string{solve.Running, solve.Stopped, solve.Failed, status.Died, solve.Solved} {
				value := 0.0
				if state == r.Status {
					value = 1
				}
				add(value, "state", state)
			}
		}},
		{"run_begun_timestamp_seconds", "gauge", "When the run was begun or resumed.", func(r *status.Run, add adder) { add(float64(r.Begun.UnixMilli()) / 1000) }},
		{"run_updated_timestamp_seconds", "gauge", "When the run last wrote its journal.", func(r *status.Run, add adder) { add(float64(r.Updated.UnixMilli()) / 1000) }},
		{"share_done", "gauge", "Completed fraction of the run.", func(r *status.Run, add adder) { add(r.Share()) }},
		{"seconds_left", "gauge", "Estimated time to the end of the run; missing while it is not known.", func(r *status.Run, add adder) {
			if r.Left() != "" {
				add(r.Now.Left)
			} else if r.Status == solve.Solved {
				add(0)
			}
		}},
		{"positions_found", "gauge", "Positions that the forward jobs have found.", func(r *status.Run, add adder) { add(float64(r.Positions())) }},
		{"job_positions", "gauge", "Positions in the output of finished jobs.", ofJobs(func(j *solve.JobRecord) float64 { return float64(cmp.Or(j.Positions, j.Records)) })},
		{"job_bytes", "gauge", "Size of the output of finished jobs.", ofJobs(func(j *solve.JobRecord) float64 { return float64(j.Size) })},
		{"job_seconds", "gauge", "Duration of finished jobs.", ofJobs(func(j *solve.JobRecord) float64 { return j.Seconds })},
		{"retries_total", "counter", "How often tasks on a cluster failed and were run again.", func(r *status.Run, add adder) {
			var n int64
			for i := range r.Journal.Jobs {
				n += r.Journal.Jobs[i].Retries
			}
			add(float64(n))
		}},
		{"damaged_total", "counter", "How often output of an earlier run was damaged or missing.", func(r *status.Run, add adder) { add(float64(r.Damaged)) }},
		{"cluster_jobs", "gauge", "Jobs on a cluster.", clusterJobs},
	}
}

// ofJobs returns a function that adds a sample for each step and tier: the sum of its passes.
func ofJobs(value func(*solve.JobRecord) float64) func(*status.Run, adder) {
	return func(r *status.Run, add adder) {
		type place struct {
			step string
			tier int
		}
		var places []place
		sums := make(map[place]float64)
		for i := range r.Journal.Jobs {
			j := &r.Journal.Jobs[i]
			p := place{j.Step, j.Tier}
			if _, known := sums[p]; !known {
				places = append(places, p)
			}
			sums[p] += value(j)
		}
		for _, p := range places {
			add(sums[p], "step", p.step, "tier", strconv.Itoa(p.tier))
		}
	}
}

// clusterJobs adds the number of jobs on a cluster by state. The job of a run that has ended early has failed.
func clusterJobs(r *status.Run, add adder) {
	const succeeded, failed = "succeeded", "failed"
	n := make(map[string]float64)
	for i := range r.Journal.Jobs {
		if r.Journal.Jobs[i].Application != "" {
			n[succeeded]++
		}
	}
	if e := r.Now; e != nil && !e.Done && e.Tracking != "" {
		state := failed
		if r.Alive() {
			state = e.State
		}
		n[state]++
	}
	for _, state := range []string{runner.Accepted, runner.Running, succeeded, failed} {
		add(n[state], "state", state)
	}
}

// escape escapes what may not stand in the value of a label.
var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// label returns the value of a label. Prometheus refuses all metrics if a byte is not UTF-8: \xff stands for it.
func label(value string) string {
	for i, r := range value {
		if _, size := utf8.DecodeRuneInString(value[i:]); r == utf8.RuneError && size == 1 {
			return label(fmt.Sprintf(`%s\x%02x%s`, value[:i], value[i], value[i+1:]))
		}
	}
	return escape.Replace(value)
}

// Write writes the metrics of runs, and of this program, whose version is given.
func Write(out io.Writer, version string, runs []Run) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# HELP treereduce_build_info The program that serves this; always 1.\n# TYPE treereduce_build_info gauge\n")
	fmt.Fprintf(&b, "treereduce_build_info{version=\"%s\",goversion=\"%s\",goos=\"%s\",goarch=\"%s\"} 1\n", label(version), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range families() {
		fmt.Fprintf(&b, "# HELP treereduce_%s %s\n# TYPE treereduce_%[1]s %[3]s\n", f.name, f.help, f.kind)
		for _, r := range runs {
			if r.Run == nil {
				continue
			}
			head := "treereduce_" + f.name + `{data="` + label(r.Data)
			f.samples(r.Run, func(value float64, labels ...string) {
				b.WriteString(head)
				for i := 0; i < len(labels); i += 2 {
					b.WriteString(`",` + labels[i] + `="` + label(labels[i+1]))
				}
				b.WriteString(`"} `)
				b.Write(strconv.AppendFloat(b.AvailableBuffer(), value, 'f', -1, 64))
				b.WriteByte('\n')
			})
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}
