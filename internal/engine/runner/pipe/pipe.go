// Package pipe runs jobs as Hadoop Streaming would, but on this machine: the real mapper and
// reducer binaries as processes, with their parameters in the environment, and the real sort
// between them.
//
//	split 0 → step_map ┐              ┌ sort → step_reduce → part-00000
//	split 1 → step_map ┼ by range of ─┼ sort → step_reduce → part-00001
//	…                  ┘    key       └ …
//
// Each map reads one split, a part of the packed input as lines, and the lines of a reducer become a packed shard. In a job
// by layers, each reducer also reads and writes states of its positions, and writes its messages to other jobs. These are
// files of the data directory. A program of the user may replace any mapper or reducer. The package
// knows nothing of the loop of jobs.
package pipe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// Runner is the pipe runner.
type Runner struct {
	Bin    string // the directory of possible_map, possible_reduce, …
	Memory int    // bytes for this process and all that it starts, see Divide; 0 means 1 GiB
	// Programs maps the name of a program in Bin to a shell command that is run instead of it,
	// with the same environment, stdin and stdout. If it reports no counters, its output lines
	// are counted.
	Programs map[string]string
}

var _ runner.Runner = (*Runner)(nil)

const (
	defaultMemory = 1 << 30
	copySize      = 256 << 10
)

// Run runs a job.
func (r *Runner) Run(ctx context.Context, job *runner.Job) (stats runner.Stats, err error) {
	err = r.with(ctx, job, func(p *pipeline) error {
		err := p.run()
		stats.Count(job, p.reduced)
		return err
	})
	return stats, err
}

// with calls do with the pipeline of a job. The input of its maps is open until do returns.
func (r *Runner) with(ctx context.Context, job *runner.Job, do func(*pipeline) error) error {
	partition, err := job.Partition()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	in, err := job.OpenLines()
	if err != nil {
		return err
	}
	defer in.Close()
	p := &pipeline{Runner: r, budget: Divide(job.Method, r.Memory, job.Reducers), Job: job, ctx: ctx, cancel: cancel,
		partition: partition, splits: group(in.Pieces, mapsOfCore*runtime.GOMAXPROCS(0)), reduced: make(map[string]int64)}
	return do(p)
}

// run runs all maps and reduces. If there is no input, e.g. for a tier that no move leads to, it
// writes empty parts without starting a process.
func (p *pipeline) run() error {
	if len(p.splits) == 0 && p.Step != step.Begin && p.Step != step.Values { // which read all states
		for i := range p.Reducers {
			if err := p.WriteShard(i, strings.NewReader("")); err != nil {
				return err
			}
		}
		return context.Cause(p.ctx)
	}
	for i := range p.Reducers {
		if err := p.startReduce(i); err != nil {
			p.cancel(err)
			break
		}
	}
	p.runMaps()
	p.finishReduces()
	return context.Cause(p.ctx)
}

// A pipeline is a running job.
type pipeline struct {
	*Runner
	*runner.Job
	budget    Budget
	partition *runner.Partition
	splits    []runner.Piece // the input of the maps

	ctx     context.Context
	cancel  context.CancelCauseFunc // ends the job with a cause; only the first call counts
	reduces []*reduce

	mu      sync.Mutex       // guards reduced
	reduced map[string]int64 // the counters of all reducers
}

// A reduce is a sort, a reducer that reads its output, and the part that the reducer writes.
type reduce struct {
	mu     sync.Mutex // guards stdin
	stdin  io.WriteCloser
	lines  int64 // written to the sort
	read   int64 // read by the reducer
	broken bool  // the sort ended before its input
	// The reducer does not report how many lines it read.
	uncounted bool
	wait      sync.WaitGroup
}

// task returns the process of a mapper or a reducer.
func (p *pipeline) task(kind string, number int, env ...string) *child {
	name := p.Step + "_" + kind
	title := fmt.Sprintf("%s (task %d)", name, number)
	c := p.command(title, filepath.Join(p.Bin, name))
	if line, ok := p.Programs[name]; ok {
		c = p.command(title, shell, "-c", line)
		env = append(env, "treereduce_"+step.BuildProperty+"=") // it may have been built from any version
	}
	limit := p.budget.Mapper
	if kind == "reduce" {
		limit = p.budget.Reducer
	}
	c.Env = append(p.Environment(kind, number, p.budget.Merge, p.partition), append(env,
		fmt.Sprintf("GOMEMLIMIT=%d", limit),
		fmt.Sprintf("GOMAXPROCS=%d", min(2, runtime.GOMAXPROCS(0))))...) // one core for the work, one for the collector
	return c
}

// startReduce starts the sort and the reducer of a part.
func (p *pipeline) startReduce(i int) error {
	sort := p.command("sort", "sort", "-t", "\t", "-k1,1", "-s",
		"-S", strconv.Itoa(p.budget.Sort>>10)+"K", "-T", p.Output, "--parallel=1")
	sort.Env = append(os.Environ(), "LC_ALL=C")
	reducer := p.task("reduce", i)
	r, w, err := openPipes(3)
	if err != nil {
		return err
	}
	out := r[2]
	if err := p.start(sort, r[0], w[1]); err != nil {
		for _, f := range []*os.File{w[0], r[1], w[2], out} {
			f.Close()
		}
		return err
	}
	printed := io.Discard
	var lines *lineCount // for a program of the user
	if _, own := p.Programs[p.Step+"_reduce"]; own {
		lines = new(lineCount)
		printed = lines
	}
	red := &reduce{stdin: w[0]}
	p.reduces = append(p.reduces, red)
	started := p.start(reducer, r[1], w[2])
	red.wait.Go(func() {
		if started != nil {
			p.cancel(started)
		} else if err := p.WriteShard(i, io.TeeReader(&outlet{out, reducer}, printed)); err != nil {
			p.cancel(p.cause(err, sort, reducer))
		}
		out.Close()
		<-reducer.ended
		if reducer.err != nil {
			p.cancel(p.cause(reducer.err, sort))
		}
		if lines != nil && reducer.messages.counters == nil {
			reducer.messages.counters = map[string]int64{step.RecordsOut: lines.records}
			red.uncounted = true
			if reducer.err == nil && lines.within {
				p.cancel(fmt.Errorf("output of %s: it ends within a line", reducer.name))
			}
		}
		p.mu.Lock()
		for name, n := range reducer.messages.counters {
			p.reduced[name] += n
		}
		p.mu.Unlock()
		if lines != nil { // a process that it left behind may keep the pipe open without reading
			select {
			case <-sort.ended:
			case <-time.After(sortWait):
				p.cancel(fmt.Errorf("%s ended before its input", reducer.name))
			}
		}
		<-sort.ended
		switch {
		case sort.piped && started == nil && reducer.err == nil:
			p.cancel(fmt.Errorf("%s ended before its input", reducer.name))
		case sort.err != nil:
			p.cancel(sort.err)
		}
		red.read = reducer.messages.counters[step.RecordsIn]
	})
	return nil
}

// finishReduces closes the input of the sorts and waits for all parts.
func (p *pipeline) finishReduces() {
	for _, red := range p.reduces {
		red.stdin.Close()
	}
	for i, red := range p.reduces {
		red.wait.Wait()
		if red.broken {
			p.cancel(errors.New("sort ended before its input"))
		}
		if red.read != red.lines && !red.uncounted {
			p.cancel(fmt.Errorf("sort was given %s, %s_reduce (task %d) read %d", numfmt.Count(red.lines, "line"), p.Step, i, red.read))
		}
	}
}

// runMaps runs a map for each split, as many at a time as the budget allows.
func (p *pipeline) runMaps() {
	var mu sync.Mutex // guards finished and the calls of Report
	finished := 0
	runMap := func(i int) error {
		if err := p.runMap(i, p.splits[i]); err != nil {
			p.cancel(err)
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		finished++
		p.Report(runner.Progress{Share: float64(finished) / float64(len(p.splits)+1)})
		return nil
	}
	parallel.Each(p.ctx, p.budget.Mappers, len(p.splits), 1, func() func(int) error { return runMap }) // the error is in ctx
}

func (p *pipeline) runMap(i int, s runner.Piece) error {
	c := p.task("map", i, "mapreduce_map_input_file="+s.Source)
	started, fed, shuffled := p.converse(c, s.Write, p.shuffle)
	unread := errors.Is(fed, errUnread)
	switch {
	case started != nil:
		return started
	case errors.Is(shuffled, bufio.ErrBufferFull): // the program may have failed because the rest is not read
		return fmt.Errorf("output of %s: expected lines of less than %d bytes", c.name, copySize)
	case fed != nil && !unread:
		return fed
	case c.failed() || c.err != nil && shuffled == nil:
		return c.err
	case shuffled != nil:
		return fmt.Errorf("output of %s: %w", c.name, shuffled)
	case unread:
		return fmt.Errorf("%s ended before its input, %s", c.name, s.Source)
	}
	return nil
}

// shuffle sends each line of a map's output to the sort of its partition.
func (p *pipeline) shuffle(out io.Reader) error {
	parts, lines := make([][]byte, p.Reducers), make([]int64, p.Reducers)
	flush := func(i int) error {
		red := p.reduces[i]
		red.mu.Lock()
		defer red.mu.Unlock()
		_, err := red.stdin.Write(parts[i])
		red.lines += lines[i]
		parts[i], lines[i] = parts[i][:0], 0
		if errors.Is(err, syscall.EPIPE) {
			red.broken = true // the sort has ended; its own error has the reason
			return nil
		}
		return err
	}
	enough := min(copySize/4, 4*copySize/p.Reducers) // buffered for each part; for all parts at most 1 MB
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
		part := p.partition.Reducer(line)
		parts[part] = append(parts[part], line...)
		lines[part]++
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

// mapsOfCore is the maximum number of maps per core: in some games many tiers send a few messages to one tier.
const mapsOfCore = 4

// group combines consecutive pieces into splits of about equal size; most is the maximum number
// of splits. An error in a split names the file of its first piece and the number of further
// files. Its line number counts from the first line of that piece.
func group(pieces []runner.Piece, most int) (splits []runner.Piece) {
	var all, sum int64
	for _, p := range pieces {
		all += p.Size + 1
	}
	begin := 0
	for i, p := range pieces {
		if sum += p.Size + 1; len(pieces) <= most || sum*int64(most) >= all*int64(len(splits)+1) {
			splits = append(splits, together(pieces[begin:i+1]))
			begin = i + 1
		}
	}
	return splits
}

// together combines consecutive pieces into one split.
func together(ps []runner.Piece) runner.Piece {
	more := 0
	for i := 1; i < len(ps); i++ {
		if ps[i].Source != ps[i-1].Source {
			more++
		}
	}
	s := ps[0]
	if more > 0 {
		s.Source = fmt.Sprintf("%s and %d more", s.Source, more)
	}
	s.Write = func(w io.Writer) error {
		for _, p := range ps {
			if err := p.Write(w); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}
