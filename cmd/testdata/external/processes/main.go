// Processes is a driver with a runner of its own: it starts this program again for each map and each reduce
// of a job, several at a time, and sorts their lines in memory. The first and the last job run in the driver's process.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cli/stream"
	"github.com/treereduce/treereduce/game"

	"external/games"
)

// processes is a driver.JobRunner.
type processes struct {
	small   driver.JobRunner // runs jobs in this process
	atATime int
	memory  int // bytes of each process
}

// Run gives each piece of the input to a map, sorts the lines of each reducer, and gives them to it.
func (r processes) Run(ctx context.Context, job *driver.Job) (stats driver.Stats, err error) {
	if job.Step == "init" || job.Step == "final" {
		return r.small.Run(ctx, job)
	}
	input, err := job.OpenLines()
	if err != nil {
		return stats, err
	}
	defer input.Close()
	partition, err := job.Partition()
	if err != nil {
		return stats, err
	}
	var mu sync.Mutex // guards lines and reduced
	lines, reduced := make([][][]byte, job.Reducers), make(map[string]int64)
	err = r.each(len(input.Pieces), func(i int) error {
		var in, out bytes.Buffer
		if err := input.Pieces[i].Write(&in); err != nil {
			return err
		}
		_, err := r.start(ctx, job, "map", job.Environment("map", i, r.memory/2, partition), &in, &out)
		mu.Lock()
		defer mu.Unlock()
		for line := range bytes.Lines(out.Bytes()) {
			part := partition.Reducer(line)
			lines[part] = append(lines[part], line)
		}
		return err
	})
	job.Report(driver.Progress{Share: 0.5})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return stats, err
	}
	err = r.each(job.Reducers, func(i int) (err error) {
		if len(lines[i]) == 0 && job.Absorb == 0 { // otherwise it has states to read
			return job.WriteShard(i, strings.NewReader(""))
		}
		var out bytes.Buffer
		slices.SortStableFunc(lines[i], func(a, b []byte) int { return bytes.Compare(partition.Key(a), partition.Key(b)) })
		counters, err := r.start(ctx, job, "reduce", job.Environment("reduce", i, r.memory/2, partition), bytes.NewReader(bytes.Join(lines[i], nil)), &out)
		mu.Lock()
		defer mu.Unlock()
		for name, n := range counters {
			reduced[name] += n
		}
		return cmp.Or(err, job.WriteShard(i, &out))
	})
	stats.Count(job, reduced)
	return stats, cmp.Or(ctx.Err(), err) // a process that is killed because ctx is done fails, too
}

// each calls do for 0 to n-1, several at a time.
func (r processes) each(n int, do func(int) error) error {
	var wait sync.WaitGroup
	errs, free := make([]error, n), make(chan struct{}, r.atATime)
	for i := range n {
		free <- struct{}{}
		wait.Go(func() {
			errs[i] = do(i)
			<-free
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// start runs this program as a mapper or reducer, and returns its counters.
func (r processes) start(ctx context.Context, job *driver.Job, side string, env []string, in io.Reader, out io.Writer) (map[string]int64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var messages bytes.Buffer
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{job.Step + "_" + side}
	cmd.Env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", r.memory))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &messages
	failed := cmd.Run()
	counters := make(map[string]int64)
	for line := range strings.Lines(messages.String()) {
		// reporter:counter:treereduce,NAME,NUMBER
		words := strings.Split(strings.TrimSpace(line), ",")
		if n, err := strconv.ParseInt(words[len(words)-1], 10, 64); err == nil && len(words) == 3 {
			counters[words[1]] += n
		} else if !strings.HasPrefix(line, "reporter:") && failed != nil {
			failed = errors.New(strings.TrimSpace(line))
		}
	}
	return counters, failed
}

// options are the flags of --runner processes.
type options struct{ atATime int }

func (o *options) Flags() []cli.Flag {
	return []cli.Flag{&cli.IntFlag{Name: "at-a-time", Value: 2, Destination: &o.atATime, Usage: "processes of --runner processes at a time"}}
}

func (o *options) Validate(game.Game) error {
	if o.atATime < 1 {
		return driver.Usagef("--at-a-time %d: expected at least 1", o.atATime)
	}
	return nil
}

// extension returns the driver with --runner processes.
func extension() driver.Extension {
	const least = 160 << 20 // bytes of --memory
	o := new(options)
	return driver.Extension{Runners: []driver.Runner{{
		Name: "processes", Usage: "this program again for each map and reduce", Model: "pipe", Options: o,
		Directory: func(name string) (string, error) {
			if strings.Contains(name, "://") {
				return "", driver.Usagef("--runner processes needs a directory on this machine, found %s", name)
			}
			return name, nil
		},
		Prepare: func(s *driver.Start) (driver.JobRunner, error) {
			s.Own = s.Memory / 2
			return processes{driver.Inline(s.Own), o.atATime, (s.Memory - s.Own) / o.atATime}, s.Needs(least)
		},
	}}}
}

func main() {
	switch name := filepath.Base(os.Args[0]); {
	case strings.HasSuffix(name, "_map"):
		stream.Mapper(games.Kinds()...)
	case strings.HasSuffix(name, "_reduce"):
		stream.Reducer(games.Kinds()...)
	default:
		extension().Main(games.Kinds()...)
	}
}
