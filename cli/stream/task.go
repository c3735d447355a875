package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/engine/task"
)

// taskOf returns the job to which this task belongs, from the job configuration that the driver
// wrote, and the file system of its files.
func taskOf(c *cli.Context, name string, m game.Method) (t *task.Job, place *filesys.Place, err error) {
	t = &task.Job{Step: name, Method: m, States: c.String("states"), Memory: c.Int("memory"),
		Parents: os.Getenv(command.Environment("parents")[0])}
	t.Reducers, err = property("reducers")
	if err == nil && t.Reducers == 0 {
		err = errors.New("property treereduce.reducers: expected 1 or more")
	}
	if err != nil {
		return nil, nil, err
	}
	if m.States != nil {
		t.Tier, err = c.Int("number"), checkNumber(c, name)
	} else {
		t.Tier, err = property("tier")
	}
	if err != nil {
		return nil, nil, err
	}
	if place, err = taskPlace(); err != nil {
		return nil, nil, err
	}
	t.FS = place.FS
	return t, place, nil
}

// property returns a number that the driver wrote to the job's configuration.
func property(name string) (int, error) {
	text := os.Getenv(command.Environment(name)[0])
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("property treereduce.%s: expected a number, found %q", name, text)
	}
	return n, nil
}

// taskPlace returns the file system of this task's files: the HDFS of its job, or this machine
// if the task does not run on a cluster.
func taskPlace() (*filesys.Place, error) {
	nodes := os.Getenv(command.Environment("name-nodes")[0])
	if nodes == "" {
		return &filesys.Place{FS: store.Local{}}, nil
	}
	dfs, err := hadoop.DialTask(nodes)
	if err != nil {
		return nil, err
	}
	return &filesys.Place{FS: dfs, HDFS: dfs}, nil
}

// filesAt returns a directory that Hadoop or a user names. It is in the file system of
// taskPlace; if no driver has set one, a name with hdfs:// selects its own HDFS.
func filesAt(dir string) (*filesys.Place, error) {
	if os.Getenv(command.Environment("name-nodes")[0]) == "" && strings.HasPrefix(dir, hadoop.Scheme) {
		return filesys.Open(dir)
	}
	path, err := pathOf(dir)
	if err != nil {
		return nil, err
	}
	place, err := taskPlace()
	if err == nil {
		place.Path = path
	}
	return place, err
}

// named matches the names that Hadoop gives to directories: hdfs://host:port/path, file:/path.
var named = regexp.MustCompile(`(?s)^(?:hdfs|file):(?://[^/]*(/.*)|(/(?:[^/].*)?))$`)

// pathOf returns the path of a directory that Hadoop or a user names, in HDFS or on this
// machine.
func pathOf(dir string) (string, error) {
	if m := named.FindStringSubmatch(dir); m != nil {
		return m[1] + m[2], nil
	}
	if _, err := hadoop.InHDFS(dir); err != nil {
		return "", fmt.Errorf("expected a directory of hdfs: or file:, found %q", dir)
	}
	return dir, nil
}

// reduceBlocks writes the shard of this task to the directory that Hadoop gives to this
// attempt; Hadoop commits it if the attempt succeeds.
func reduceBlocks(t *task.Job, in io.Reader, _ io.Writer) (n step.Counters, err error) {
	dir, err := pathOf(os.Getenv("mapreduce_task_output_dir"))
	if err != nil {
		return n, fmt.Errorf("mapreduce.task.output.dir: %w", err)
	}
	partition, err := strconv.Atoi(os.Getenv("mapreduce_task_partition"))
	if err != nil {
		return n, fmt.Errorf("mapreduce.task.partition: expected a number, found %q", os.Getenv("mapreduce_task_partition"))
	}
	return t.Reduce(partition, in, dir)
}
