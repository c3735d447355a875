package hadoop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/tierio"
)

// Runner runs jobs on a cluster by Hadoop Streaming: the same mapper and reducer
// binaries, records as lines of text in HDFS. A job there takes seconds before
// it works, so small ones are given to another runner, which works on the same
// files.
type Runner struct {
	Command string   // the hadoop command
	Jar     string   // the streaming jar
	Bin     string   // the directory of possible_map, possible_reduce, …
	FS      string   // what stands before a path: hdfs://host:port
	Define  []string // further properties, k=v

	// Above is how many records a job must read to go to the cluster; smaller
	// ones are Small's.
	Above int64
	Small runner.Runner
}

var _ runner.Runner = (*Runner)(nil)

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (records int64, err error) {
	if job.Step == step.Init || job.Step == step.Final {
		return r.Small.Run(ctx, job)
	}
	reads, err := reads(job)
	if err != nil {
		return 0, err
	}
	if reads <= r.Above {
		return r.Small.Run(ctx, job)
	}
	if job.Codec != tierio.Text {
		return 0, errors.New("a cluster reads and writes text only")
	}
	args, err := r.arguments(job)
	if err != nil {
		return 0, err
	}
	// Hadoop makes the directory, and would refuse one that is there.
	if err := job.FS.RemoveAll(job.Output); err != nil {
		return 0, err
	}
	return r.submit(ctx, job, args)
}

// inputs are the directories that the map reads.
func inputs(job *runner.Job) []string {
	if job.Step == step.Solve {
		return append([]string{job.Parents}, job.Input...)
	}
	return job.Input
}

// reads is about how many records a job reads: their bytes, by the least that a
// line takes.
func reads(job *runner.Job) (int64, error) {
	line := int64(streamfmt.KeyWidth(job.Game.KeyBits()) + 1)
	var bytes int64
	for _, dir := range inputs(job) {
		parts, err := tierio.Parts(job.FS, dir)
		if err != nil {
			return 0, err
		}
		for _, part := range parts {
			info, err := job.FS.Stat(part)
			if err != nil {
				return 0, err
			}
			bytes += info.Size()
		}
	}
	return bytes / line, nil
}

// arguments is the command line of hadoop for a job.
func (r *Runner) arguments(job *runner.Job) ([]string, error) {
	args := []string{"jar", r.Jar}
	define := func(name string, value any) { args = append(args, "-D", fmt.Sprintf("%s=%v", name, value)) }
	define("mapreduce.job.name", "treereduce "+job.Name)
	define("mapreduce.job.reduces", job.Reducers)
	define("stream.jobconf.truncate.limit", 20000)
	for _, p := range step.Properties(job.Game, job.Step, job.Tier) {
		define("treereduce."+p.Name, p.Value)
	}
	define("treereduce.combine", job.Combine)
	for _, d := range r.Define {
		args = append(args, "-D", d)
	}
	if job.Reducers > 1 {
		borders := path.Join(path.Dir(job.Output), "_attempt-ranges")
		if err := writeRanges(job, borders); err != nil {
			return nil, err
		}
		define("mapreduce.totalorderpartitioner.path", r.FS+borders)
		define("mapreduce.totalorderpartitioner.naturalorder", false)
	}
	mapper, reducer := job.Step+"_map", job.Step+"_reduce"
	args = append(args, "-files", path.Join(r.Bin, mapper)+","+path.Join(r.Bin, reducer),
		"-mapper", mapper, "-reducer", reducer)
	if job.Reducers > 1 {
		args = append(args, "-partitioner", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner")
	}
	for _, dir := range inputs(job) {
		args = append(args, "-input", r.FS+dir)
	}
	return append(args, "-output", r.FS+job.Output), nil
}

// writeRanges writes the file of ranges of a job's partitioner.
func writeRanges(job *runner.Job, name string) error {
	ranges, err := Ranges(job.Game, job.Tier, job.Reducers)
	if err != nil {
		return err
	}
	w, err := job.FS.Create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(ranges)
	return errors.Join(err, w.Close())
}

var (
	progressLine = regexp.MustCompile(`map (\d+)% reduce (\d+)%`)
	recordsLine  = regexp.MustCompile(`Reduce output records=(\d+)`)
	errorLine    = regexp.MustCompile(`(?i)error|exception|failed|caused by`)
)

// submit runs Hadoop's client to the end of the job, and reads what it says.
func (r *Runner) submit(ctx context.Context, job *runner.Job, args []string) (records int64, err error) {
	cmd := exec.CommandContext(ctx, r.Command, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%s: %w", r.Command, err)
	}
	var said []string // what sounds like the cause of a failure
	counted := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := lines.Bytes()
		if m := progressLine.FindSubmatch(line); m != nil {
			job.Report((number(m[1]) + number(m[2])) / 200)
		} else if m := recordsLine.FindSubmatch(line); m != nil {
			records, counted = int64(number(m[1])), true
		} else if errorLine.Match(line) && len(said) < 10 {
			said = append(said, string(bytes.TrimSpace(line)))
		}
	}
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return 0, fmt.Errorf("hadoop: %w: %s", err, strings.Join(said, "; "))
	}
	if !counted {
		return 0, errors.New("hadoop: the job ended, but told no counters")
	}
	return records, nil
}

// number reads digits.
func number(text []byte) float64 {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0
	}
	return n
}
