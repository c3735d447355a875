package stream

import (
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// openFiles opens the file system of the files that a step reads and writes beside its input
// and output, and adds it to the options. The path of the result is that of --output for a
// reducer, for files described by what.
func (t *task) openFiles(what string) (*filesys.Place, error) {
	dir := ""
	if t.work.reduces {
		if dir = t.output; dir == "" {
			return nil, command.Usagef("--output is missing: the directory for %s", what)
		}
	}
	place, err := filesAt(dir)
	if err != nil {
		return nil, fmt.Errorf("--output %s: %w", dir, err)
	}
	// On this machine the directory exists already. If it was removed with the attempt of a
	// driver that died, it must not be created again.
	if t.work.reduces && place.HDFS != nil {
		err = place.FS.MkdirAll(place.Path)
	}
	t.o.FS, t.o.Output = place.FS, place.Path
	t.o.Create = func(name string) (io.WriteCloser, error) {
		out, err := place.FS.Create(path.Join(place.Path, name))
		if err == nil && inTask() {
			out = &reporting{WriteCloser: out, stderr: t.stderr, reported: time.Now()}
		}
		return out, err
	}
	return place, err
}

// A reporting file reports to Hadoop from time to time that it is being written. Without reports, Hadoop sees no progress
// of a reducer after the end of its input, and kills it after mapreduce.task.timeout, ten minutes by default.
type reporting struct {
	io.WriteCloser
	stderr   io.Writer
	reported time.Time
}

// reportEvery is the interval of reports.
const reportEvery = time.Minute

func (r *reporting) Write(b []byte) (int, error) {
	if time.Since(r.reported) > reportEvery {
		r.reported = time.Now()
		fmt.Fprintln(r.stderr, "reporter:status:writing") // informative only: an error here is ignored
	}
	return r.WriteCloser.Write(b)
}

// closeFiles closes a file system that openFiles opened, and counts the bytes that were read from
// it.
func closeFiles(place *filesys.Place, n *step.Counters) {
	if place.HDFS != nil {
		n.Read = place.HDFS.Received()
	}
	place.Close()
}

// filesAt returns a directory that Hadoop or a user names. In a task of a cluster it is in the HDFS of its job. Elsewhere a
// name with hdfs:// selects its own HDFS, and any other is on this machine.
func filesAt(dir string) (place *filesys.Place, err error) {
	nodes := os.Getenv(command.Environment("name-nodes")[0])
	if nodes == "" && strings.HasPrefix(dir, hadoop.Scheme) {
		return filesys.Open(dir)
	}
	place = &filesys.Place{FS: store.Local{}}
	if nodes != "" {
		if place.HDFS, err = hadoop.DialTask(os.Getenv(command.Environment("file-system")[0]), nodes); err != nil {
			return nil, err
		}
		place.FS = place.HDFS
	}
	if dir != "" {
		place.Path, err = pathOf(dir)
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
