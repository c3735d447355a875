// Package pipe runs jobs as Hadoop Streaming would, on this machine: the real
// mapper and reducer binaries as processes, their parameters in the
// environment, the real sort between them.
//
//	split 0 → step_map ┐              ┌ sort → step_reduce → part-00000
//	split 1 → step_map ┼ by range of ─┼ sort → step_reduce → part-00001
//	…                  ┘    key       └ …
//
// Each map reads one split: a part of text as it lies on disk, or a share of a
// block file, unpacked into lines. In a pass over a game with cycles each reducer
// also reads and writes the states of its ranges, files of the data directory. The
// package knows nothing of the loop of jobs.
package pipe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/tierio"
)

// Runner is the pipe runner.
type Runner struct {
	Bin    string // the directory of possible_map, possible_reduce, …
	Memory int    // bytes for this process and all that it starts, see Divide; 0: 1 GiB
}

var _ runner.Runner = (*Runner)(nil)

const (
	defaultMemory = 1 << 30
	copySize      = 256 << 10
	// waitDelay is how long a process that has ended may leave its output open
	// in somebody else's hands.
	waitDelay = 5 * time.Second
)

// A split is what one map reads.
type split struct {
	source string // file, for messages
	write  func(io.Writer) error
}

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	splits, done, err := splits(job)
	if err != nil {
		return stats, err
	}
	defer done()
	p := &pipeline{Runner: r, budget: Divide(job.Game, r.Memory, job.Reducers), Work: &job.Work, ctx: ctx, cancel: cancel,
		properties: step.Properties(job.Game, job.Step, job.Tier), keyWidth: streamfmt.KeyWidth(job.Game.KeyBits())}
	for i := 1; i < job.Reducers; i++ {
		p.borders = append(p.borders, streamfmt.AppendKey(nil, job.Border(i)<<job.Game.LowBits(), p.keyWidth))
	}
	p.write = func(out io.Reader, f io.WriteCloser, source string) error {
		if job.Codec == tierio.Text {
			return copyText(out, f)
		}
		w := tierio.NewWriter(f, job.Game, job.Tier, job.Codec)
		return w.Finish(w.AppendLines(out, source), f)
	}
	p.create = func(i int) (io.WriteCloser, error) {
		return job.FS.Create(filepath.Join(job.Output, tierio.PartName(i, job.Codec)))
	}
	err = p.run(splits)
	stats.Records = p.reduced[step.RecordsOut]
	if job.Step == step.Possible {
		stats.Finished = p.reduced[step.RecordsDone]
	}
	return stats, err
}

// copyText copies the output of a reducer into its part as it is.
func copyText(out io.Reader, f io.WriteCloser) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{f}, struct{ io.Reader }{out}, make([]byte, copySize))
	return errors.Join(err, f.Close())
}

// run runs all maps, and the reduces behind them.
func (p *pipeline) run(splits []split) error {
	if err := p.startReduces(); err != nil {
		p.cancel(err)
	} else {
		p.runMaps(splits)
	}
	p.finishReduces()
	return context.Cause(p.ctx)
}

// splits cuts the input of a job into splits; done closes what they read.
func splits(job *runner.Job) (ss []split, done func(), err error) {
	var tiers []*tierio.Tier
	done = func() {
		for _, t := range tiers {
			t.Close()
		}
	}
	add := func(dir string, tier int) error {
		if job.Step == step.Init {
			ss = append(ss, fileSplit(job.FS, dir))
			return nil
		}
		parts, err := tierio.Parts(job.FS, dir)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if tierio.IsText(part) {
				ss = append(ss, fileSplit(job.FS, part))
				continue
			}
			t, err := tierio.OpenParts(job.FS, []string{part}, job.Game, tier)
			if err != nil {
				return err
			}
			tiers = append(tiers, t)
			shares := max(1, min(t.Len(), runtime.GOMAXPROCS(0)/len(parts)))
			for i := range shares {
				ss = append(ss, split{part, func(w io.Writer) error {
					return t.WriteLines(w, i*t.Len()/shares, (i+1)*t.Len()/shares)
				}})
			}
		}
		return nil
	}
	for i, dir := range job.Input {
		tier := step.InputTier(job.Step, job.Tier)
		if job.Step == step.Final {
			tier = i + 1
		}
		if err = add(dir, tier); err != nil {
			done()
			return nil, nil, err
		}
	}
	if job.Step == step.Solve {
		if err = add(job.Parents, job.Tier); err != nil {
			done()
			return nil, nil, err
		}
	}
	return ss, done, nil
}

// fileSplit reads a file as it is.
func fileSplit(fsys store.FS, name string) split {
	return split{name, func(w io.Writer) error {
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, copySize))
		return err
	}}
}

// A pipeline is one job at work.
type pipeline struct {
	*Runner
	*runner.Work
	budget     Budget
	properties []step.Property
	keyWidth   int
	borders    [][]byte // the keys at which the parts but the first begin
	create     func(part int) (io.WriteCloser, error)
	write      func(out io.Reader, part io.WriteCloser, source string) error // and closes it

	ctx     context.Context
	cancel  context.CancelCauseFunc
	reduces []*reduce

	mu              sync.Mutex       // of what follows
	mapped, reduced map[string]int64 // counters, of all tasks
}

// count adds the counters of a task.
func (p *pipeline) count(all *map[string]int64, task map[string]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *all == nil {
		*all = make(map[string]int64)
	}
	for name, n := range task {
		(*all)[name] += n
	}
}

// A reduce is a sort, a reducer behind it, and a part behind that.
type reduce struct {
	mu     sync.Mutex // of stdin
	stdin  io.WriteCloser
	broken bool // the sort did not take all of its input
	wait   sync.WaitGroup
}

// fail ends the job for a reason; the first one counts.
func (p *pipeline) fail(err error) { p.cancel(err) }

// environment is what Hadoop Streaming would put there for a task: the job's
// configuration, dots as underscores.
func (p *pipeline) environment(kind string, task int) []string {
	// The caller's own parameters are not the job's.
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "treereduce_") || strings.HasPrefix(v, "mapreduce_")
	})
	env = append(env,
		"LC_ALL=C",
		"mapreduce_job_name="+p.Name,
		fmt.Sprintf("mapreduce_job_reduces=%d", p.Reducers),
		fmt.Sprintf("mapreduce_task_partition=%d", task),
		fmt.Sprintf("mapreduce_task_attempt_id=attempt_pipe_%s_%s_%06d_0", p.Name, kind, task),
		fmt.Sprintf("treereduce_combine=%v", p.Combine),
		fmt.Sprintf("treereduce_memory=%d", p.budget.Hold),
	)
	for _, property := range p.properties {
		env = append(env, "treereduce_"+property.Name+"="+property.Value)
	}
	return env
}

// task is the command of a mapper or a reducer.
func (p *pipeline) task(kind string, number int, errs *messages, env ...string) *exec.Cmd {
	name := p.Step + "_" + kind
	cmd := exec.CommandContext(p.ctx, filepath.Join(p.Bin, name))
	limit := p.budget.Mapper
	if kind == "reduce" {
		limit = p.budget.Reducer
	}
	cmd.Env = append(p.environment(kind[:1], number), append(env,
		fmt.Sprintf("GOMEMLIMIT=%d", limit),
		fmt.Sprintf("GOMAXPROCS=%d", min(2, runtime.GOMAXPROCS(0))))...) // one is at work, one collects
	cmd.SysProcAttr, cmd.WaitDelay = runner.OwnGroup(), waitDelay
	cmd.Stderr = errs
	errs.name = fmt.Sprintf("%s (task %d)", name, number)
	return cmd
}

// startReduces starts a sort and a reducer for each part.
func (p *pipeline) startReduces() error {
	for i := range p.Reducers {
		red := new(reduce)
		var sortErr, reduceErr messages
		sortCmd := exec.CommandContext(p.ctx, "sort", "-t", "\t", "-k1,1", "-s",
			"-S", strconv.Itoa(p.budget.Sort>>10)+"K", "-T", p.Output, "--parallel=1")
		sortCmd.Env = append(os.Environ(), "LC_ALL=C")
		sortCmd.SysProcAttr, sortCmd.WaitDelay = runner.OwnGroup(), waitDelay
		sortErr.name = "sort"
		sortCmd.Stderr = &sortErr
		stdin, err := sortCmd.StdinPipe()
		if err != nil {
			return err
		}
		cmd := p.task("reduce", i, &reduceErr, "mapreduce_task_output_dir="+p.Output)
		between, err := sortCmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stdin = between
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := sortCmd.Start(); err != nil {
			return fmt.Errorf("sort: %w", err)
		}
		red.stdin = stdin
		p.reduces = append(p.reduces, red)
		started := cmd.Start()
		between.Close() // the reducer has its own; without this one, sort sees the end of the reducer
		red.wait.Go(func() {
			if started != nil {
				p.fail(fmt.Errorf("%s: %w (make build puts it there)", cmd.Path, started))
			} else {
				if err := p.writePart(i, out); err != nil {
					p.fail(err)
				}
				if err := reduceErr.wait(p.ctx, cmd); err != nil {
					p.fail(err)
				}
				p.count(&p.reduced, reduceErr.counters)
			}
			if err := sortErr.wait(p.ctx, sortCmd); err != nil {
				p.fail(err)
			}
			red.mu.Lock()
			defer red.mu.Unlock()
			if red.broken {
				p.fail(errors.New("sort ended before its input"))
			}
		})
	}
	return nil
}

// writePart writes what a reducer prints.
func (p *pipeline) writePart(i int, out io.Reader) error {
	f, err := p.create(i)
	if err != nil {
		return err
	}
	return p.write(out, f, fmt.Sprintf("output of reducer %d of %s", i, p.Name))
}

// finishReduces ends the input of the sorts and waits for all parts.
func (p *pipeline) finishReduces() {
	for _, red := range p.reduces {
		red.stdin.Close()
	}
	for _, red := range p.reduces {
		red.wait.Wait()
	}
}

// runMaps runs a map for each split, as many at a time as the budget has.
func (p *pipeline) runMaps(ss []split) {
	var next atomic.Int64
	var mu sync.Mutex // of finished, and of reports
	finished := 0
	var all sync.WaitGroup
	for range min(p.budget.Mappers, len(ss)) {
		all.Go(func() {
			for p.ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(ss) {
					return
				}
				if err := p.runMap(i, ss[i]); err != nil {
					p.fail(err)
				}
				mu.Lock()
				finished++
				p.Report(runner.Progress{Share: float64(finished) / float64(len(ss)+1)})
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func (p *pipeline) runMap(i int, s split) error {
	var errs messages
	cmd := p.task("map", i, &errs, "mapreduce_map_input_file="+s.source)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w (make build puts it there)", cmd.Path, err)
	}
	fed := make(chan error, 1)
	go func() {
		err := s.write(stdin)
		if closed := stdin.Close(); err == nil {
			err = closed
		}
		fed <- err
	}()
	if err := p.shuffle(stdout); err != nil {
		p.fail(fmt.Errorf("output of %s: %w", errs.name, err)) // and so end the mapper, which nobody hears any more
	}
	if err := errs.wait(p.ctx, cmd); err != nil {
		<-fed
		return err
	}
	p.count(&p.mapped, errs.counters)
	if err := <-fed; err != nil {
		return fmt.Errorf("%s ended before its input, %s: %w", errs.name, s.source, err)
	}
	return nil
}

// shuffle hands each line of a map to the sort of its range of keys.
func (p *pipeline) shuffle(out io.Reader) error {
	parts := make([][]byte, p.Reducers)
	flush := func(i int) error {
		red := p.reduces[i]
		red.mu.Lock()
		defer red.mu.Unlock()
		_, err := red.stdin.Write(parts[i])
		parts[i] = parts[i][:0]
		if errors.Is(err, syscall.EPIPE) {
			red.broken = true // the sort has ended; its own message says why
			return nil
		}
		return err
	}
	enough := min(copySize/4, 4*copySize/p.Reducers) // of a part; of all no more than 1 MB
	r := bufio.NewReaderSize(out, copySize)
	for {
		line, err := r.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 {
			break
		}
		if err == io.EOF {
			return fmt.Errorf("it ends within the line %q", line)
		}
		if err != nil {
			return err
		}
		part := 0
		for part < len(p.borders) && bytes.Compare(line[:min(p.keyWidth, len(line)-1)], p.borders[part]) >= 0 {
			part++
		}
		parts[part] = append(parts[part], line...)
		if len(parts[part]) >= enough {
			if err := flush(part); err != nil {
				return err
			}
		}
	}
	for i := range parts {
		if err := flush(i); err != nil {
			return err
		}
	}
	return nil
}

// messages is the stderr of a task: counters and status are Streaming's, the
// rest is for people.
type messages struct {
	name     string
	buf      bytes.Buffer
	counters map[string]int64
}

func (m *messages) Write(b []byte) (int, error) { return m.buf.Write(b) }

// wait waits for the end of a process, and makes an error of what it said if
// it failed.
func (m *messages) wait(ctx context.Context, cmd *exec.Cmd) error {
	err := runner.Wait(ctx, cmd)
	m.counters = make(map[string]int64)
	var text []string
	for line := range strings.Lines(m.buf.String()) {
		line = strings.TrimSpace(line)
		if counter, ok := strings.CutPrefix(line, "reporter:counter:"); ok {
			f := strings.Split(counter, ",")
			if n, err := strconv.ParseInt(f[len(f)-1], 10, 64); err == nil && len(f) == 3 {
				m.counters[f[1]] += n
			}
		} else if line != "" && !strings.HasPrefix(line, "reporter:status:") {
			text = append(text, line)
		}
	}
	if err == nil {
		return nil
	}
	if len(text) > 0 {
		return fmt.Errorf("%s: %s", m.name, strings.Join(text, "; "))
	}
	return fmt.Errorf("%s: %w", m.name, err)
}
