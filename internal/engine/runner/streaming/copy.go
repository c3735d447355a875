package streaming

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// copyRecord × r.Above is the number of bytes from which on the nodes copy; one process copies fewer.
	copyRecord = 2
	// maxNames is the number of names on the command line of one command.
	maxNames = 500
)

// A Copy is a copy of a data directory, at a URI of any file system that Hadoop's connectors know; a place of package
// copies. A call runs a command of the Hadoop installation, or several for very many names.
type Copy struct {
	r    *Runner
	fsys namedFS // file system of the data directory
	uri  string
	path string // of uri
	data string
	// Stage is the path of a directory in the data directory, for what is fetched. Jobs that copy have its tag.
	Stage string
}

// A namedFS is a file system with the name that precedes its paths in a URI.
type namedFS interface {
	store.FS
	Name() string
}

// stagePrefix is the prefix of the names of stages. They are attempts.
const stagePrefix = "_attempt-copy-"

// copyScheme matches the beginning of a URI.
var copyScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// CheckCopy returns an error unless a URI names a directory of a file system that Hadoop may know.
func CheckCopy(uri string) error {
	_, _, err := parseCopy(uri)
	return err
}

// parseCopy returns a URI without slashes at its end, and its path.
func parseCopy(uri string) (plain, dir string, err error) {
	plain = strings.TrimRight(uri, "/")
	u, err := url.Parse(plain)
	if !copyScheme.MatchString(uri) || strings.ContainsFunc(uri, special) || err != nil || len(u.Path) < 2 || path.Clean(u.Path) != u.Path {
		return "", "", fmt.Errorf("%q: expected the URI of a directory in a file system that Hadoop knows, such as s3a://bucket/path", uri)
	}
	return plain, u.Path, nil
}

// NewCopy returns the copy at a URI of the data directory data, in r.FS.
func NewCopy(r *Runner, uri, data string) (*Copy, error) {
	uri, dir, err := parseCopy(uri)
	if err != nil {
		return nil, err
	}
	stage := path.Join(data, fmt.Sprintf("%s%010x", stagePrefix, rand.Uint64()>>24))
	return &Copy{r: r, fsys: r.FS, uri: uri, path: dir, data: data, Stage: stage}, checkName(data)
}

// Name returns the URI.
func (c *Copy) Name() string { return c.uri }

// named runs a command of Hadoop's with words and names in the copy, and returns its stdout.
func (c *Copy) named(ctx context.Context, names []string, words ...string) (text []byte, err error) {
	for part := range slices.Chunk(names, maxNames) {
		args := slices.Clone(words)
		for _, name := range part {
			args = append(args, c.uri+"/"+name)
		}
		out, err := c.r.Yarn.Output(ctx, args...)
		if err != nil {
			return nil, err
		}
		text = append(text, out...)
	}
	return text, nil
}

// A listedLine is a line of fs -ls: mode, replication, owner, group, length, date, time, and the name without what
// precedes its path.
var listedLine = regexp.MustCompile(`^(\S)\S+ .* (\d+) \d{4}-\d\d-\d\d \d\d:\d\d [A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(/.*)$`)

// List returns the lengths of all files, except those that an interrupted command has not finished; none if there is no
// such directory.
func (c *Copy) List(ctx context.Context) (map[string]int64, error) {
	out, err := c.r.Yarn.Output(ctx, "fs", "-ls", "-R", c.uri)
	if err != nil && strings.Contains(err.Error(), "`"+c.uri+"': No such file or directory") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files := make(map[string]int64)
	for line := range strings.Lines(string(out)) {
		m := listedLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			return nil, fmt.Errorf("hadoop fs -ls printed a line of an unknown form: %q", line)
		}
		name, ok := strings.CutPrefix(m[3], c.path+"/")
		if m[1] == "d" || !ok || strings.HasSuffix(name, "._COPYING_") || strings.Contains(name, ".distcp.tmp.") {
			continue
		}
		if files[name], err = strconv.ParseInt(m[2], 10, 64); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Read returns the contents of files, one after the other.
func (c *Copy) Read(ctx context.Context, names []string) ([]byte, error) {
	return c.named(ctx, names, "fs", "-cat")
}

// Remove deletes files and directories. A missing one is no error.
func (c *Copy) Remove(ctx context.Context, names []string) error {
	_, err := c.named(ctx, names, "fs", "-rm", "-r", "-f", "-skipTrash")
	return err
}

// atomic matches the URIs of stores in which a file appears when it is complete, and a rename copies it.
var atomic = regexp.MustCompile(`^(s3|s3a|gs)://`)

// Make creates the directory of the copy, unless it exists.
func (c *Copy) Make(ctx context.Context) error {
	_, err := c.r.Yarn.Output(ctx, "fs", "-mkdir", "-p", c.uri)
	return err
}

// Write writes small files, in order, from a directory of this machine, which does not fail with the cluster. A file gets its
// name when it is complete.
func (c *Copy) Write(ctx context.Context, names, texts []string) error {
	dir, err := os.MkdirTemp("", "treereduce-copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	args := []string{"fs", "-put", "-f"}
	if atomic.MatchString(c.uri) {
		args = append(args, "-d")
	}
	for i, name := range names {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(texts[i]), 0o666)); err != nil {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		if entry := filepath.Join(dir, top); !slices.Contains(args, entry) {
			args = append(args, entry)
		}
	}
	_, err = c.r.Yarn.Output(ctx, append(args, c.uri)...)
	return err
}

// Put copies files of the data directory, which have this number of bytes together.
func (c *Copy) Put(ctx context.Context, names []string, bytes int64) error {
	return c.distcp(ctx, names, bytes, c.fsys.Name()+c.data, c.uri)
}

// Fetch copies files and directories of the copy, which have this number of bytes together, into a directory of the file
// system of the data directory.
func (c *Copy) Fetch(ctx context.Context, names []string, bytes int64, to string) error {
	return c.distcp(ctx, names, bytes, c.uri, c.fsys.Name()+to)
}

// distcp copies files and directories from a directory to the same names in another one, with Hadoop's DistCp. It replaces
// those that exist. If they have many bytes, it is a job, in which each map copies a part of the files, otherwise one process.
func (c *Copy) distcp(ctx context.Context, names []string, bytes int64, from, to string) error {
	filter, err := notNamed(from, names)
	if err != nil {
		return err
	}
	defer os.Remove(filter)
	args := append([]string{"distcp"}, c.r.definitions("copy to "+to, c.r.tag(c.Stage))...)
	onCluster := bytes > max(0, c.r.Above)*copyRecord
	if onCluster {
		if err := c.fsys.MkdirAll(c.Stage); err != nil { // for the next driver, which ends the job if this process dies
			return err
		}
	} else {
		args = append(args, definition("mapreduce.framework.name", "local")...)
	}
	if atomic.MatchString(to) {
		args = append(args, "-direct")
	} else if !atomic.MatchString(c.uri) { // HDFS compares checksums, which depend on the size of blocks
		args = append(args, "-pb")
	}
	_, err = c.r.Yarn.Output(ctx, append(args, "-overwrite", "-filters", filter, from, to)...)
	if err != nil && onCluster {
		err = errors.Join(err, c.r.abandon(c.Stage)) // the command may have ended before its job
	}
	return err
}

// notNamed writes a file for DistCp, with a pattern of what it does not copy from a directory: all but files and directories.
func notNamed(dir string, names []string) (filter string, err error) {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	u, err := url.Parse(dir)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "treereduce-copy-")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "(?!.*%s/(%s)(/.*)?$).*\n", regexp.QuoteMeta(u.Path), strings.Join(quoted, "|"))
	return f.Name(), errors.Join(err, f.Close())
}
