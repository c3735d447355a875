package streaming

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/streamfmt"
)

// A plan is the configuration of a job on the cluster. Its files, the splits of the maps and
// the ranges of the reducers, are in a directory next to the attempt's.
type plan struct {
	*Runner
	job        *runner.Job
	dir        string
	reads      int64           // number of records
	properties []step.Property // passed to the tasks
	keys       [][]byte        // the first keys of all partitions except the first

	input [][]step.Split // by map
}

// tasks returns how many tasks the given number of records is worth.
func (p *plan) tasks(records int64) int {
	return int(min(int64(max(p.Parallel, 1)), 1+records/taskRecords))
}

// reducers returns the number of reducers: the configured one, or one that depends on the
// size.
func (p *plan) reducers() int {
	if p.Reducers > 0 {
		return p.Reducers
	}
	return p.tasks(p.reads)
}

// fill divides the input of the job into splits for the maps, and its keys among the reducers.
func (p *plan) fill() (err error) {
	if p.input, p.reads, err = p.job.Method.Splits(p.job, p.tasks); err != nil {
		return err
	}
	keys, properties, err := p.job.Method.Partitions(p.job, p.reducers())
	for _, key := range keys {
		p.keys = append(p.keys, streamfmt.AppendPairKey(nil, key))
	}
	p.properties = properties
	return err
}

// arguments returns the command line of hadoop; files is the result of p.files. Generic
// options must come before all others.
func (p *plan) arguments(files string) []string {
	w, reducers := p.job, len(p.keys)+1
	args := append([]string{"jar", p.Jar}, p.definitions(w.Name, p.tag(w.Output))...)
	define := func(name string, value any) { args = append(args, definition(name, value)...) }
	define("mapreduce.job.reduces", reducers)
	define("stream.jobconf.truncate.limit", 20000)
	define("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", closeDelay)
	define("dfs.client.block.write.locateFollowingBlock.retries", closeRetries)
	for _, property := range p.properties {
		define("treereduce."+property.Name, property.Value)
	}
	define("treereduce.combine", w.Combine)
	define("treereduce.file_system", p.FS.Name())
	define("treereduce.name_nodes", strings.Join(p.FS.NameNodes(), ","))
	define("stream.map.input.ignoreKey", true)
	define("stream.map.output", "rawbytes")
	define("stream.reduce.input", "rawbytes")
	define("treereduce.packed", true)
	if maps := len(p.input); maps > 0 && maps <= uberMaps && reducers <= 1 && p.reads <= taskRecords {
		define("mapreduce.job.ubertask.enable", true)
		define("mapreduce.job.ubertask.maxmaps", uberMaps)
	}
	if reducers > 1 {
		define("mapreduce.totalorderpartitioner.path", p.FS.Name()+path.Join(p.dir, rangesFile))
		define("mapreduce.totalorderpartitioner.naturalorder", false)
	}
	args = append(args, "-files", files, "-mapper", w.Step+"_map", "-reducer", w.Step+"_reduce")
	if reducers > 1 {
		args = append(args, "-partitioner", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner")
	}
	return append(args, "-inputformat", "org.apache.hadoop.mapred.lib.NLineInputFormat", "-lazyOutput",
		"-input", p.FS.Name()+path.Join(p.dir, splitsFile), "-output", p.FS.Name()+w.Output)
}

// definition returns a generic option that sets a property.
func definition(name string, value any) []string {
	return []string{"-D", fmt.Sprintf("%s=%v", name, value)}
}

// definitions returns the generic options of every job: its name, its tag, the queue, how often to
// poll, and the properties that the user defines.
func (r *Runner) definitions(name, tag string) []string {
	args := slices.Concat(
		definition("mapreduce.job.name", "treereduce "+name),
		definition("mapreduce.job.tags", tag),
		definition("mapreduce.client.completion.pollinterval", poll),
		definition("mapreduce.client.progressmonitor.pollinterval", poll),
		definition("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", poll),
		definition("yarn.app.mapreduce.am.job.node-blacklisting.ignore-threshold-node-percent", avoidNodes))
	if r.Queue != "" {
		args = append(args, definition("mapreduce.job.queuename", r.Queue)...)
	}
	for _, d := range r.Define {
		args = append(args, "-D", d)
	}
	return args
}

// The files of a plan. Hadoop gives each line of splitsFile to a map.
const (
	splitsFile = "splits"
	rangesFile = "ranges"
)

// write writes the files of the plan. The empty directory of the attempt becomes that of the plan: Hadoop creates
// the former, and refuses to run if it exists.
func (p *plan) write() error {
	if err := p.job.FS.Rename(p.job.Output, p.dir); err != nil {
		return err
	}
	var splits strings.Builder
	for _, in := range p.input {
		splits.WriteString(step.SplitsLine(in))
	}
	err := p.writeFile(splitsFile, []byte(splits.String()))
	if err != nil || len(p.keys) == 0 {
		return err
	}
	return p.writeFile(rangesFile, sequenceFile(bytesClass, p.keys))
}

func (p *plan) writeFile(name string, text []byte) error {
	return store.WriteFile(p.job.FS, path.Join(p.dir, name), text)
}

// files uploads the binaries to HDFS, unless an earlier job or run has. It returns the value
// of -files, in which the binaries have the names of the steps.
func (p *plan) files() (string, error) {
	var files []string
	for _, f := range []struct{ binary, name string }{{"mapper", p.job.Step + "_map"}, {"reducer", p.job.Step + "_reduce"}} {
		at, err := p.upload(f.binary, path.Dir(p.job.Output))
		if err != nil {
			return "", err
		}
		files = append(files, p.FS.Name()+at+"#"+f.name)
	}
	return strings.Join(append(files, p.Files...), ","), nil
}

// tag returns the tag of the application that writes an attempt.
func (r *Runner) tag(attempt string) string {
	return fmt.Sprintf("treereduce-%.12x", sha256.Sum256([]byte(strings.Join(r.FS.NameNodes(), ",")+attempt)))
}

// binariesDir is the directory of binaries in a data directory.
const binariesDir = "_bin"

// upload uploads a binary into a data directory, with the hash of its content in the name.
func (r *Runner) upload(binary, data string) (string, error) {
	if at, ok := r.binaries[binary]; ok {
		return at, nil
	}
	content, err := os.ReadFile(path.Join(r.Bin, binary))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (to build it: %s)", err, step.HowToBuild())
	}
	if err != nil {
		return "", err
	}
	at := path.Join(data, binariesDir, fmt.Sprintf("%s-%.16x", binary, sha256.Sum256(content)))
	if err := r.FS.PutProgram(at, content); err != nil {
		return "", err
	}
	if r.binaries == nil {
		r.binaries = make(map[string]string)
	}
	r.binaries[binary] = at
	return at, nil
}
