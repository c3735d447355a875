package streaming

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/system"
)

const (
	// copyRecord × r.Above is the number of bytes from which on the nodes copy (DistCp); one process copies fewer.
	copyRecord = 2
	// wordsLimit bounds the length of the names on the command line of one command.
	wordsLimit = 64 << 10
)

// A Copy is a copy of a data directory, at a URI of any file system that Hadoop's connectors know; a place of package
// copies. A call runs a command of the Hadoop installation; Put runs up to three, and very many names take more.
type Copy struct {
	r    *Runner
	fsys namedFS // file system of the data directory
	uri  string
	path string // of uri
	// Stage is the path of a directory in the data directory, for what is to be copied and is no file there. Jobs that
	// copy have its tag.
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
	return &Copy{r: r, fsys: r.FS, uri: uri, path: dir, Stage: stage}, checkName(data)
}

// Name returns the URI.
func (c *Copy) Name() string { return c.uri }

// in returns the URI of a name in the copy.
func (c *Copy) in(name string) string { return strings.TrimRight(c.uri+"/"+name, "/") }

// here returns the URIs of paths in the file system of the data directory.
func (c *Copy) here(paths []string) (uris []string) {
	for _, name := range paths {
		uris = append(uris, c.fsys.Name()+name)
	}
	return uris
}

// there returns the URIs of names in the copy.
func (c *Copy) there(names []string) (uris []string) {
	for _, name := range names {
		uris = append(uris, c.in(name))
	}
	return uris
}

// A listedLine is a line of fs -ls: mode, replication, owner, group, length, date, time, and the name without what
// precedes its path.
var listedLine = regexp.MustCompile(`^(\S)\S+ .* (\d+) \d{4}-\d\d-\d\d \d\d:\d\d [A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(/.*)$`)

// List returns the lengths of all files, except those that an interrupted command has not finished; none if there is no
// such directory.
func (c *Copy) List(ctx context.Context) (map[string]int64, error) {
	out, err := c.command(ctx, "fs", "-ls", "-R", c.uri)
	if missing := new(commandError); errors.As(err, &missing) && missing.notFound {
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
func (c *Copy) Read(ctx context.Context, names []string) (text []byte, err error) {
	err = c.each(names, func(names []string) error {
		out, err := c.command(ctx, append([]string{"fs", "-cat"}, c.there(names)...)...)
		text = append(text, out...)
		return err
	})
	return text, err
}

// Make creates a directory and those above it.
func (c *Copy) Make(ctx context.Context, dir string) error {
	_, err := c.command(ctx, "fs", "-mkdir", "-p", c.in(dir))
	return err
}

// Remove deletes files and directories. A missing one is no error.
func (c *Copy) Remove(ctx context.Context, names []string) error {
	return c.each(names, func(names []string) error {
		_, err := c.command(ctx, append([]string{"fs", "-rm", "-r", "-f", "-skipTrash"}, c.there(names)...)...)
		return err
	})
}

// Put copies files and directories of the data directory into a directory of the copy: first the nodes copy what is large
// among fresh, then one process copies the rest, and then another one what is small: after an error, a process goes on
// with its next argument.
func (c *Copy) Put(ctx context.Context, to string, fresh, small []string) error {
	total := int64(0)
	for _, name := range fresh {
		size, err := c.size(name)
		if err != nil {
			return err
		}
		total += size
	}
	var err error
	if total > c.limit() {
		err = c.distcp(ctx, c.here(fresh), c.in(to), to != "")
	} else {
		err = c.copy(ctx, c.here(fresh), c.in(to))
	}
	if err != nil {
		return err
	}
	return c.copy(ctx, c.here(small), c.in(to))
}

// limit is the number of bytes from which on the nodes copy.
func (c *Copy) limit() int64 { return max(0, c.r.Above) * copyRecord }

// size returns the number of bytes of a file or a directory of the data directory.
func (c *Copy) size(name string) (n int64, err error) {
	info, err := c.fsys.Stat(name)
	if err != nil {
		return 0, err
	}
	if !info.IsDir() {
		return info.Size(), nil
	}
	entries, err := c.fsys.ReadDir(name)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		n += info.Size()
	}
	return n, err
}

// Fetch copies files and directories of the copy, which have this number of bytes together, into a directory of the file
// system of the data directory.
func (c *Copy) Fetch(ctx context.Context, names []string, bytes int64, to string) error {
	if bytes > c.limit() {
		return c.distcp(ctx, c.there(names), c.fsys.Name()+to, false)
	}
	return c.copy(ctx, c.there(names), c.fsys.Name()+to)
}

// atomic matches the URIs of stores in which a file appears when it is complete, and a rename copies it.
var atomic = regexp.MustCompile(`^(s3|s3a|gs)://`)

// copy copies by one process. The process gives each file its name when it is complete.
func (c *Copy) copy(ctx context.Context, from []string, to string) error {
	words := []string{"fs", "-cp", "-f"}
	if atomic.MatchString(to) {
		words = append(words, "-d")
	}
	return c.each(from, func(from []string) error {
		_, err := c.command(ctx, slices.Concat(words, from, []string{to})...)
		return err
	})
}

// distcp copies by the nodes, with Hadoop's DistCp, a job in which each map copies a part of the files. It replaces files
// only if all sources are files.
func (c *Copy) distcp(ctx context.Context, from []string, to string, files bool) error {
	list := path.Join(c.Stage, "sources")
	if err := store.WriteFile(c.fsys, list, []byte(strings.Join(from, "\n")+"\n")); err != nil {
		return err
	}
	args := append([]string{"distcp"}, c.r.definitions("copy to "+to, c.r.tag(c.Stage))...)
	if atomic.MatchString(to) { // after an error, a map may leave a cut file, which its next attempt would not replace
		args = slices.Concat(args, definition("mapreduce.map.maxattempts", 1), definition("mapreduce.am.max-attempts", 1), []string{"-direct"})
	} else if !atomic.MatchString(c.uri) { // HDFS compares checksums, which depend on the size of blocks
		args = append(args, "-pb")
	}
	if files {
		args = append(args, "-overwrite")
	}
	args = append(args, "-f", c.fsys.Name()+list, to)
	_, err := c.r.submit(ctx, &runner.Job{Output: c.Stage}, args)
	return err
}

// each calls do with all of the words, in parts that fit on a command line.
func (c *Copy) each(words []string, do func(words []string) error) error {
	for len(words) > 0 {
		n, length := 0, 0
		for n < len(words) && (n == 0 || length+len(words[n]) < wordsLimit) {
			length += len(words[n]) + 1
			n++
		}
		if err := do(words[:n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}

// A commandError is the error of a command of Hadoop's.
type commandError struct {
	error
	notFound bool // the copy does not exist
}

// command runs a command of Hadoop's, and returns its stdout.
func (c *Copy) command(ctx context.Context, args ...string) ([]byte, error) {
	cmd := c.r.Yarn.Command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := system.Run(ctx, cmd)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &commandError{fmt.Errorf("hadoop %s: %w%s", strings.Join(args[:min(2, len(args))], " "), err, yarn.Complaint(stderr.String())),
			strings.Contains(stderr.String(), "`"+c.uri+"': No such file or directory")}
	}
	return stdout.Bytes(), nil
}
