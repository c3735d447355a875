package emrtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/minicluster"
	"github.com/treereduce/treereduce/internal/store"
)

// The options of a streaming job that take no value, and the generic ones, which come
// before all others.
var (
	flags   = []string{"-lazyOutput", "-verbose", "-debug", "-background", "-info", "-help"}
	generic = []string{"-D", "-files", "-libjars", "-archives", "-conf", "-fs", "-jt"}
	fetched = []string{"-files", "-libjars", "-archives", "-conf"} // whose values are files
)

// An option is one of a streaming job, and its value.
type option struct{ name, value string }

// parseStreaming reads the words of a streaming job. Generic options must come first, as
// Hadoop has it.
func parseStreaming(args []string) (options []option, err error) {
	common := false
	for i := 0; i < len(args); i++ {
		o := option{name: args[i]}
		isGeneric := slices.Contains(generic, o.name)
		switch {
		case !strings.HasPrefix(o.name, "-"):
			return nil, fmt.Errorf("ERROR streaming.StreamJob: Found 1 unexpected arguments on the command line [%s]", o.name)
		case isGeneric && common:
			return nil, fmt.Errorf("ERROR streaming.StreamJob: Unrecognized option: %s", o.name)
		}
		common = common || !isGeneric
		if !slices.Contains(flags, o.name) {
			if i++; i == len(args) {
				return nil, fmt.Errorf("ERROR streaming.StreamJob: Missing argument for option: %s", o.name)
			}
			o.value = args[i]
		}
		options = append(options, o)
	}
	return options, nil
}

// files are those that a job reads and writes: HDFS, or this machine's.
type files interface {
	store.FS
	Name() string // what stands before a path
	Close() error
}

// local are the files of this machine.
type local struct{ store.Local }

func (local) Name() string { return "file://" }
func (local) Close() error { return nil }

// A job is a streaming job whose names in S3 have others on this machine.
type job struct {
	ctx     context.Context
	objects *objects
	files   files
	dir     string // of the step on the master
	at      string // the folder in files that is the step's

	args   []string
	output string   // in S3; "": it is not there
	names  []string // in files, each followed by the one of S3 that it stands for
	number int      // of what was fetched last
}

// stream runs a streaming job.
func (s *step) stream(dir string, args []string, said logs) error {
	hadoopd := s.c.s.config.Hadoop
	j := &job{ctx: s.ctx, objects: s.c.s.objects, dir: dir}
	if s.c.s.config.Alone {
		j.files, j.at = local{}, filepath.Join(dir, "files")
		j.args = []string{"-D", "fs.defaultFS=file:///", "-D", "mapreduce.framework.name=local"}
	} else {
		dfs, _, err := hadoop.Dial(hadoopd.DefaultFS() + "/emrtest")
		if err != nil {
			return err
		}
		j.files, j.at = dfs, "/emrtest/"+s.id
	}
	defer j.files.Close()
	defer func() { _ = j.files.RemoveAll(j.at) }()
	if err := j.prepare(args); err != nil {
		said["stderr"] = []byte(err.Error() + "\nStreaming Command Failed!\n")
		return err
	}
	before := applications(hadoopd)
	stdout, stderr, err := s.c.command(s.ctx, dir, "hadoop", append([]string{"jar", hadoopd.StreamingJar()}, j.args...)...)
	back := strings.NewReplacer(j.names...)
	said["stdout"], said["stderr"] = stdout, []byte(back.Replace(string(stderr)))
	said["syslog"] = said["stderr"]
	if uri := s.logURI(); uri != "" {
		for app, text := range containerLogs(hadoopd, before, back) {
			s.putLogs(s.c.logURI()+"/containers/"+app, text)
		}
	}
	if err == nil && j.output != "" {
		err = j.putOutput()
	}
	return err
}

// prepare makes the command line of the job, and fetches what it reads.
func (j *job) prepare(args []string) error {
	options, err := parseStreaming(args)
	if err != nil {
		return err
	}
	for _, o := range options {
		switch {
		case slices.Contains(fetched, o.name):
			if o.value, err = j.fetchAll(o.value); err != nil {
				return err
			}
		case o.name == "-D":
			name, value, _ := strings.Cut(o.value, "=")
			if strings.HasPrefix(value, scheme) {
				at, err := j.copied(value)
				if err != nil {
					return err
				}
				o.value = name + "=" + at
			}
		case o.name == "-input" && strings.HasPrefix(o.value, scheme):
			if o.value, err = j.copied(o.value); err != nil {
				return err
			}
		case o.name == "-output" && strings.HasPrefix(o.value, scheme):
			there, err := j.objects.list(j.ctx, o.value)
			if err != nil {
				return err
			}
			if len(there) > 0 {
				return fmt.Errorf("ERROR streaming.StreamJob: Error Launching job : Output directory %s already exists", o.value)
			}
			j.output = strings.TrimSuffix(o.value, "/")
			o.value = j.name("out", j.output)
		}
		j.args = append(j.args, o.name)
		if !slices.Contains(flags, o.name) {
			j.args = append(j.args, o.value)
		}
	}
	return nil
}

// name is the name in files of what has another in S3.
func (j *job) name(base, uri string) string {
	at := j.files.Name() + path.Join(j.at, base)
	j.names = append(j.names, at, strings.TrimSuffix(uri, "/"))
	return at
}

// fetchAll gets files from S3 onto the master: a list with commas, of names after which
// #NAME may stand.
func (j *job) fetchAll(list string) (string, error) {
	var here []string
	for _, uri := range strings.Split(list, ",") {
		if !strings.HasPrefix(uri, scheme) {
			here = append(here, uri)
			continue
		}
		uri, link, linked := strings.Cut(uri, "#")
		j.number++
		file := filepath.Join(j.dir, fmt.Sprintf("file-%d", j.number), path.Base(uri))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return "", err
		}
		if err := j.objects.download(j.ctx, uri, file); err != nil {
			return "", fmt.Errorf("java.io.FileNotFoundException: %w", err)
		}
		if linked {
			file += "#" + link
		}
		here = append(here, file)
	}
	return strings.Join(here, ","), nil
}

// copied copies an object, or all that are in a folder, and returns where they are.
func (j *job) copied(uri string) (string, error) {
	uris, err := j.objects.list(j.ctx, uri)
	if err != nil {
		return "", err
	}
	if len(uris) == 0 {
		return "", fmt.Errorf("ERROR streaming.StreamJob: Error Launching job : Input path does not exist: %s", uri)
	}
	j.number++
	at := j.name(fmt.Sprintf("in-%d", j.number), uri)
	uri = strings.TrimSuffix(uri, "/")
	for _, from := range uris {
		var content bytes.Buffer
		if err := j.objects.get(j.ctx, from, &content); err != nil {
			return "", err
		}
		to := path.Join(j.at, fmt.Sprintf("in-%d", j.number), strings.TrimPrefix(from, uri))
		if err := errors.Join(j.files.MkdirAll(path.Dir(to)), store.WriteFile(j.files, to, content.Bytes())); err != nil {
			return "", err
		}
	}
	return at, nil
}

// putOutput copies what the job has written to S3, and that it is whole last.
func (j *job) putOutput() error {
	out := path.Join(j.at, "out")
	entries, err := j.files.ReadDir(out)
	if err != nil {
		return err
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		last := map[bool]int{true: 1}
		return last[a.Name() == store.Success] - last[b.Name() == store.Success]
	})
	for _, e := range entries {
		f, err := j.files.Open(path.Join(out, e.Name()))
		if err != nil {
			return err
		}
		content, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err == nil {
			err = j.objects.put(j.ctx, j.output+"/"+e.Name(), content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applications are those that have logs on a cluster.
func applications(c *minicluster.Cluster) (names []string) {
	dirs, err := filepath.Glob(filepath.Join(c.Dir(), "logs", "userlogs", "application_*"))
	if err != nil {
		return nil
	}
	return dirs
}

// containerLogs are the logs of the containers of all applications but those before, by
// application and container.
func containerLogs(c *minicluster.Cluster, before []string, back *strings.Replacer) map[string]logs {
	all := make(map[string]logs)
	for _, app := range applications(c) {
		if slices.Contains(before, app) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(app, "container_*", "*"))
		if err != nil {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			container := path.Join(filepath.Base(app), filepath.Base(filepath.Dir(file)))
			if all[container] == nil {
				all[container] = make(logs)
			}
			all[container][filepath.Base(file)] = []byte(back.Replace(string(text)))
		}
	}
	return all
}

// forget ends what a cluster that has ended left at work, and takes away what it has in
// HDFS: of the service's nothing is left either.
func (c *cluster) forget() {
	hadoopd := c.s.config.Hadoop
	if c.s.config.Alone {
		return
	}
	if err := errors.Join(killAll(hadoopd), empty(hadoopd)); err != nil {
		fmt.Fprintf(os.Stderr, "emrtest: %s: %v\n", c.id, err)
	}
}

// killAll ends the applications of a cluster.
func killAll(c *minicluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), minicluster.DefaultTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		c.Web(minicluster.ResourceManager)+"/ws/v1/cluster/apps?states=NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Apps struct{ App []struct{ ID string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	properties, err := conf.Load(c.ConfDir())
	if err != nil || len(answer.Apps.App) == 0 {
		return err
	}
	client := yarn.New(properties, os.Getenv("HADOOP_USER_NAME"))
	client.Command = filepath.Join(c.Dir(), "bin", "hadoop")
	for _, app := range answer.Apps.App {
		err = errors.Join(err, client.Kill(ctx, app.ID))
	}
	return err
}

// empty removes all files of users.
func empty(c *minicluster.Cluster) error {
	files, _, err := hadoop.Dial(c.DefaultFS() + "/emrtest")
	if err != nil {
		return err
	}
	defer files.Close()
	top, err := files.ReadDir("/")
	if err != nil {
		return err
	}
	for _, e := range top {
		switch e.Name() {
		case "tmp": // the history server's
		case "user":
			homes, err := files.ReadDir("/user")
			if err != nil {
				return err
			}
			for _, home := range homes {
				own, err := files.ReadDir(path.Join("/user", home.Name()))
				if err != nil {
					return err
				}
				for _, e := range own {
					if err := files.RemoveAll(path.Join("/user", home.Name(), e.Name())); err != nil {
						return err
					}
				}
			}
		default:
			if err := files.RemoveAll("/" + e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// SpotTaken takes the nodes away that do the work, and gives others in their place after
// so many seconds of the service's: what ran there is lost.
func (s *Server) SpotTaken(ctx context.Context, away int) error {
	hadoopd := s.config.Hadoop
	if err := hadoopd.Kill(minicluster.NodeManager); err != nil {
		return err
	}
	// The tasks go with their machine.
	if err := hadoopd.Stop(ctx, minicluster.NodeManager); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.seconds(away)):
	}
	return hadoopd.Start(ctx, minicluster.NodeManager)
}
