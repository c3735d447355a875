package streaming

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/runner"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/store"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/task"
	"github.com/treereduce/treereduce/tierio"
)

// A plan is how a job is put to the cluster. Its files, the shares of the maps
// and the ranges of the reducers, lie in a directory beside the attempt's.
type plan struct {
	*Runner
	job     *runner.Job
	dir     string
	reads   int64        // records
	input   []task.Share // blocks only
	borders []uint64     // of the reducers
}

// inputs are the directories that the map reads as text.
func (p *plan) inputs() []string {
	if p.job.Step == step.Solve {
		return append([]string{p.job.Parents}, p.job.Input...)
	}
	return p.job.Input
}

// tasks is how many tasks so many records are worth.
func (p *plan) tasks(records int64) int {
	return int(min(int64(max(p.Parallel, 1)), 1+records/taskRecords))
}

// shares counts what the maps read, and cuts it into their shares.
func (p *plan) shares() (err error) {
	job := p.job
	if job.Codec == tierio.Text {
		p.reads, err = p.textRecords()
	} else {
		tier := job.Tier - 1
		if job.Step == step.Solve {
			tier = job.Tier + 1
		}
		p.input, p.reads, err = task.Shares(job.FS, job.Input[0], job.Game, tier, p.tasks)
	}
	if err != nil {
		return err
	}
	reducers := p.Reducers
	if reducers == 0 {
		reducers = p.tasks(p.reads)
	}
	p.borders = step.Borders(job.Game, job.Tier, reducers)
	return nil
}

// textRecords is about how many records lie in text: their bytes, by the least
// that a line takes.
func (p *plan) textRecords() (int64, error) {
	line := int64(streamfmt.KeyWidth(p.job.Game.KeyBits()) + 1)
	var bytes int64
	for _, dir := range p.inputs() {
		parts, err := tierio.Parts(p.job.FS, dir)
		if err != nil {
			return 0, err
		}
		for _, part := range parts {
			info, err := p.job.FS.Stat(part)
			if err != nil {
				return 0, err
			}
			bytes += info.Size()
		}
	}
	return bytes / line, nil
}

// arguments is the command line of hadoop for a job. Generic options come before
// all others.
func (p *plan) arguments() ([]string, error) {
	job := p.job
	blocks := job.Codec == tierio.Blocks
	args := []string{"jar", p.Jar}
	define := func(name string, value any) { args = append(args, "-D", fmt.Sprintf("%s=%v", name, value)) }
	define("mapreduce.job.name", "treereduce "+job.Name)
	define("mapreduce.job.tags", p.tag(job.Output))
	if p.Queue != "" {
		define("mapreduce.job.queuename", p.Queue)
	}
	define("mapreduce.job.reduces", len(p.borders))
	define("stream.jobconf.truncate.limit", 20000)
	define("mapreduce.client.completion.pollinterval", poll)
	define("mapreduce.client.progressmonitor.pollinterval", poll)
	define("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", poll)
	for _, property := range step.Properties(job.Game, job.Step, job.Tier) {
		define("treereduce."+property.Name, property.Value)
	}
	define("treereduce.combine", job.Combine)
	if blocks {
		if len(p.borders) == 1 && len(p.input) <= uberMaps && p.reads <= taskRecords {
			define("mapreduce.job.ubertask.enable", true)
			define("mapreduce.job.ubertask.maxmaps", uberMaps)
		}
		define("mapreduce.job.maps", len(p.input))
		define("mapreduce.input.lineinputformat.linespermap", 1)
		define("stream.map.input.ignoreKey", true)
		define("stream.map.output", "rawbytes")
		define("stream.reduce.input", "rawbytes")
		define("treereduce.tier", job.Tier)
		define("treereduce.reducers", len(p.borders))
		define("treereduce.parents", job.Parents)
		define("treereduce.name_nodes", strings.Join(p.FS.NameNodes(), ","))
	}
	if len(p.borders) > 1 {
		define("mapreduce.totalorderpartitioner.path", p.FS.Name()+path.Join(p.dir, rangesFile))
		define("mapreduce.totalorderpartitioner.naturalorder", false)
	}
	for _, d := range p.Define {
		args = append(args, "-D", d)
	}
	mapper, reducer := job.Step+"_map", job.Step+"_reduce"
	files, err := p.files(mapper, reducer)
	if err != nil {
		return nil, err
	}
	args = append(args, "-files", files, "-mapper", mapper, "-reducer", reducer)
	if len(p.borders) > 1 {
		args = append(args, "-partitioner", "org.apache.hadoop.mapred.lib.TotalOrderPartitioner")
	}
	if blocks {
		args = append(args, "-inputformat", "org.apache.hadoop.mapred.lib.NLineInputFormat", "-lazyOutput",
			"-input", p.FS.Name()+path.Join(p.dir, sharesFile))
	} else {
		for _, dir := range p.inputs() {
			args = append(args, "-input", p.FS.Name()+dir)
		}
	}
	return append(args, "-output", p.FS.Name()+job.Output), p.write(blocks)
}

// The files of a plan.
const (
	sharesFile = "shares"
	rangesFile = "ranges"
)

// write writes the files of the plan.
func (p *plan) write(blocks bool) error {
	fsys := p.job.FS
	if err := fsys.MkdirAll(p.dir); err != nil {
		return err
	}
	if blocks {
		var text []byte
		for _, s := range p.input {
			text = append(append(text, s.String()...), '\n')
		}
		if err := p.writeFile(sharesFile, text); err != nil {
			return err
		}
	}
	if len(p.borders) == 1 {
		return nil
	}
	class, width := hadoop.TextClass, streamfmt.KeyWidth(p.job.Game.KeyBits())
	var keys [][]byte
	for _, border := range p.borders[1:] {
		if blocks {
			keys = append(keys, streamfmt.AppendPairKey(nil, border))
		} else {
			keys = append(keys, streamfmt.AppendKey(nil, border<<p.job.Game.LowBits(), width))
		}
	}
	if blocks {
		class = hadoop.BytesClass
	}
	return p.writeFile(rangesFile, hadoop.SequenceFile(class, keys))
}

func (p *plan) writeFile(name string, text []byte) error {
	return store.WriteFile(p.job.FS, path.Join(p.dir, name), text)
}

// files puts the binaries into HDFS, unless they are there from an earlier job
// or run, and returns the value of -files, which gives them the names of the
// steps.
func (p *plan) files(mapper, reducer string) (string, error) {
	var files []string
	for _, f := range []struct{ binary, name string }{{"mapper", mapper}, {"reducer", reducer}} {
		at, err := p.upload(f.binary, path.Dir(p.job.Output))
		if err != nil {
			return "", err
		}
		files = append(files, p.FS.Name()+at+"#"+f.name)
	}
	return strings.Join(append(files, p.Files...), ","), nil
}

// tag is the tag by which the application is found that writes an attempt.
func (r *Runner) tag(attempt string) string {
	return fmt.Sprintf("treereduce-%.12x", sha256.Sum256([]byte(strings.Join(r.FS.NameNodes(), ",")+attempt)))
}

// binariesDir is where binaries lie in a data directory.
const binariesDir = "_bin"

// upload puts a binary into a data directory, under the name of what it
// contains.
func (r *Runner) upload(binary, data string) (string, error) {
	if at, ok := r.binaries[binary]; ok {
		return at, nil
	}
	content, err := os.ReadFile(path.Join(r.Bin, binary))
	if err != nil {
		return "", fmt.Errorf("%w (make build puts it there)", err)
	}
	at := path.Join(data, binariesDir, fmt.Sprintf("%s-%.16x", binary, sha256.Sum256(content)))
	_, err = r.FS.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.put(at, content)
	}
	if err != nil {
		return "", err
	}
	if r.binaries == nil {
		r.binaries = make(map[string]string)
	}
	r.binaries[binary] = at
	return at, nil
}

// put writes a file whole or not at all.
func (r *Runner) put(name string, content []byte) error {
	if err := r.FS.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	if err := store.WriteFile(r.FS, name+".new", content); err != nil {
		return err
	}
	return r.FS.Rename(name+".new", name)
}
