package streaming

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/step"
	"github.com/treereduce/treereduce/task"
)

// taskOf is the job whose task this process is, as the driver put it into the
// job's configuration; done ends the connection to its files.
func taskOf(name string, g game.Tiered, memory int) (job *task.Job, done func(), err error) {
	number := func(property string) int {
		text := os.Getenv(command.Environment(property)[0])
		n, convErr := strconv.Atoi(text)
		if convErr != nil && err == nil {
			err = fmt.Errorf("property treereduce.%s: expected a number, found %q", property, text)
		}
		return n
	}
	job = &task.Job{Step: name, Game: g, Memory: memory, Tier: number("tier"), Reducers: number("reducers"),
		Parents: os.Getenv(command.Environment("parents")[0])}
	if err != nil {
		return nil, nil, err
	}
	fsys, err := hadoop.DialTask(os.Getenv(command.Environment("name-nodes")[0]))
	if err != nil {
		return nil, nil, err
	}
	job.FS = fsys
	return job, func() { fsys.Close() }, nil
}

// reduceBlocks writes the part of this task into the directory that Hadoop
// gives to this attempt, and takes over if it succeeds.
func reduceBlocks(job *task.Job, in io.Reader, _ io.Writer) (n step.Counters, err error) {
	dir, err := url.Parse(os.Getenv("mapreduce_task_output_dir"))
	if err != nil || dir.Path == "" {
		return n, fmt.Errorf("mapreduce.task.output.dir: expected a directory, found %q", os.Getenv("mapreduce_task_output_dir"))
	}
	partition, err := strconv.Atoi(os.Getenv("mapreduce_task_partition"))
	if err != nil {
		return n, fmt.Errorf("mapreduce.task.partition: expected a number, found %q", os.Getenv("mapreduce_task_partition"))
	}
	return job.Reduce(partition, in, dir.Path)
}
