package runner

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// This file is for runners that give the tasks of a job to mappers and reducers: what a task reads, which
// environment it has, and which reducer gets a line.

// Environment returns the environment of a task on this machine: that of this process, and what Hadoop
// Streaming would add, the configuration of the job with dots replaced by underscores. side is "map" or
// "reduce". memory is the number of bytes that the task may use to merge messages.
func (j *Job) Environment(side string, number, memory int, of *Partition) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "treereduce_") || strings.HasPrefix(v, "mapreduce_")
	})
	env = append(env,
		"LC_ALL=C",
		"mapreduce_job_name="+j.Name,
		fmt.Sprintf("mapreduce_job_reduces=%d", j.Reducers),
		fmt.Sprintf("mapreduce_task_partition=%d", number),
		fmt.Sprintf("mapreduce_task_attempt_id=attempt_local_%s_%s_%06d_0", j.Name, side[:1], number),
		"mapreduce_task_output_dir="+j.Output,
		fmt.Sprintf("treereduce_combine=%v", j.Combine),
		fmt.Sprintf("treereduce_memory=%d", memory),
	)
	properties := append(j.Properties(of.borders), step.Property{Name: step.DriverProperty, Value: "true"})
	for _, p := range properties {
		env = append(env, "treereduce_"+p.Name+"="+p.Value)
	}
	return env
}

// Properties returns the parameters of the tasks of the job. borders are the first keys of all parts except the first.
func (j *Job) Properties(borders [][]byte) []step.Property {
	ps := step.Properties(j.Method.Game())
	if j.Step == step.Init || j.Step == step.Final {
		return ps
	}
	return append(ps, j.Method.Properties(j, borders)...)
}

// A Partition divides lines among the reducers.
type Partition struct {
	borders [][]byte // the first keys of all parts except the first
	width   int      // the number of characters of a key
}

// Partition returns the partition of the lines that the maps of the job write.
func (j *Job) Partition() (*Partition, error) {
	borders, err := j.Method.Borders(j)
	g := j.Method.Game()
	return &Partition{LineKeys(g, borders), streamfmt.KeyWidth(g.KeyBits())}, err
}

// LineKeys returns the keys of borders as lines have them.
func LineKeys(g game.Game, borders []game.Position) (keys [][]byte) {
	for _, border := range borders {
		keys = append(keys, streamfmt.AppendKey(nil, border, streamfmt.KeyWidth(g.KeyBits())))
	}
	return keys
}

// Key returns the key of a line, by which the lines of a reducer are sorted; lines with equal keys keep
// their order.
func (p *Partition) Key(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return line[:min(p.width, len(line))]
}

// Reducer returns the number of the reducer that gets a line.
func (p *Partition) Reducer(line []byte) int {
	key, part := p.Key(line), 0
	for part < len(p.borders) && bytes.Compare(key, p.borders[part]) >= 0 {
		part++
	}
	return part
}
