//go:build unix

// Package minicluster starts and stops a real Hadoop on this machine: NameNode, DataNode,
// ResourceManager, NodeManager and JobHistoryServer. These five processes listen on
// loopback and outlive the program that started them. The package serves to try and test
// streaming jobs without a cluster. A cluster can have several nodes, each with a DataNode and a
// NodeManager (see Config.Nodes).
//
// Everything is in one folder, laid out like a Hadoop installation as far as jobs and
// tutorials need it:
//
//	bin/                     hadoop, hdfs, yarn, mapred; hadoop-streaming.jar
//	conf/                    the configuration
//	share/hadoop/tools/lib/  the streaming jar, where a distribution has it
//	env.sh                   to be sourced: PATH, HADOOP_HOME, HADOOP_CONF_DIR
//	logs/                    a file for each daemon; userlogs/ of the tasks
//	hdfs/, local/, tmp/      stored files, and working files of jobs
//	node2/, node3/, …        conf/, data/, local/ and userlogs/ of another node
//	run/                     pid files and the lock
//	krb5.conf, alice.keytab  for clients of a cluster with Kerberos
//	kdc/                     files of its KDC, and the keytab of the daemons
//	cluster.json             ports and Java
//
// Two servers listen on all addresses, because Hadoop has no setting for them: the
// NodeManager's shuffle, and the application master of a job while it runs.
//
// The jars are downloaded once by Maven into a cache folder. The package requires Linux,
// because it identifies its own processes by /proc. It knows nothing of games, of jobs or
// of this module's other packages.
package minicluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Version is the version of Hadoop.
const Version = "3.4.2"

// DefaultTimeout is how long daemons may take until they are ready. They need some 12 s on two
// idle cores; beside other work, minutes.
const DefaultTimeout = 10 * time.Minute

// logLines is the number of log lines that an error contains.
const logLines = 15

// A Config describes the cluster that Up starts.
type Config struct {
	// Dir is the cluster's folder. It is created if necessary. An existing folder must be
	// empty or that of a cluster.
	Dir string
	// FreePorts chooses free ports instead of Hadoop's standard ones, so that several
	// clusters can run at the same time. A folder keeps its ports.
	FreePorts bool
	// HA gives the file system two name nodes, one of which is active (see FailOver). It
	// is fixed when the file system is formatted; Up refuses another value later.
	HA bool
	// Nodes is the number of nodes, up to maxNodes; 0: as before, or 1 in a new folder. With
	// several, files have two replicas. Like HA, it is fixed when the file system is formatted.
	Nodes int
	// Secure adds a KDC, and all daemons require Kerberos. The user is alice: see Keytab and
	// Principal. Like HA, with which it cannot be combined, it is fixed when the file system is
	// formatted.
	Secure bool
	// Protection is dfs.data.transfer.protection of a secure cluster, or PrivacyAES; "":
	// authentication.
	Protection string
	// TicketLifetime is the lifetime of tickets that clients get by krb5.conf. They can be renewed
	// for ten times as long. 0: a day, not renewable.
	TicketLifetime time.Duration
	// Daemons are the daemons to start; nil: all.
	Daemons []Daemon
	// Log receives a line for each step that takes long; nil: no log.
	Log io.Writer
}

// A Cluster is a cluster's folder and the daemons that run from it.
type Cluster struct {
	dir   string
	state state
}

// state is the content of cluster.json.
type state struct {
	Version   string      `json:"version"`
	Jars      string      `json:"jars"`
	JavaHome  string      `json:"java_home"`
	FreePorts bool        `json:"free_ports"`
	HA        bool        `json:"ha,omitempty"`
	Nodes     int         `json:"nodes,omitempty"` // 0 and 1 mean the same
	Ports     map[int]int `json:"ports"`           // by standard port
	// Of a cluster with Kerberos; see Config.
	KerberosJars   string        `json:"kerberos_jars,omitempty"` // empty without Kerberos
	Protection     string        `json:"protection,omitempty"`
	TicketLifetime time.Duration `json:"ticket_lifetime,omitempty"`
}

// ErrNone is returned by Open if there is no cluster in the folder.
var ErrNone = errors.New("no cluster here")

// Up starts the cluster of a folder, and returns when it is ready for jobs. Running daemons
// are left alone, others are started. If Up fails, it stops what it has started, and its
// error names the daemon that failed and ends with the last lines of its log.
func Up(ctx context.Context, config Config) (_ *Cluster, err error) {
	progress := config.Log
	if progress == nil {
		progress = io.Discard
	}
	dir, err := plainPath(config.Dir)
	if err != nil {
		return nil, err
	}
	unlock, err := claim(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()

	c, err := Open(dir)
	if errors.Is(err, ErrNone) {
		c, err = &Cluster{dir: dir}, nil
	}
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, config, progress); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, DefaultTimeout, errSlow)
	defer cancel()
	which := config.Daemons
	if which == nil {
		which = c.daemons()
	}
	if !c.running() {
		warnOpen(progress, c.secure(), which)
	}
	var started []Daemon
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop(context.WithoutCancel(ctx), started))
		}
	}()
	for _, d := range which {
		if c.pid(d) != 0 {
			continue
		}
		if d == NameNode {
			if err := c.format(ctx, progress); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(progress, "starting %s\n", d)
		started = append(started, d)
		if err := c.start(ctx, d); err != nil {
			return nil, err
		}
	}
	if err := c.activate(ctx); err != nil {
		return nil, err
	}
	if err := c.waitReady(ctx, which); err != nil {
		return nil, err
	}
	if err := c.makeFolders(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// warnOpen warns of a resource manager without a login: it runs the program of any request,
// as the user who started the cluster.
func warnOpen(progress io.Writer, secure bool, which []Daemon) {
	if !secure && slices.Contains(which, ResourceManager) {
		fmt.Fprintln(progress, "warning: every user of this machine can run programs as you while this cluster runs: YARN has no login; to require one: make cluster-up SECURE=1 (cluster up --secure), in a new folder")
	}
}

// Open returns the cluster of a folder, whether it is running or not.
func Open(dir string) (*Cluster, error) {
	dir, err := plainPath(dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir}
	b, err := os.ReadFile(c.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cluster: %s: %w", dir, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if err := json.Unmarshal(b, &c.state); err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", c.stateFile(), err)
	}
	return c, nil
}

// Down stops all daemons, and all remaining tasks that they started. It asks them to end,
// and kills them after 30 s. Data and logs are kept. It is not an error if nothing runs.
func (c *Cluster) Down(ctx context.Context) error { return c.Stop(ctx, c.daemons()...) }

// Start starts those daemons that do not run, and waits until all are ready.
func (c *Cluster) Start(ctx context.Context, which ...Daemon) error {
	unlock, err := lock(ctx, c.path("run", "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	for _, d := range which {
		if c.pid(d) != 0 {
			continue
		}
		if err := c.start(ctx, d); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, DefaultTimeout, errSlow)
	defer cancel()
	return c.waitReady(ctx, which)
}

// Stop stops daemons as Down does. The tasks of a NodeManager end with it.
func (c *Cluster) Stop(ctx context.Context, which ...Daemon) error {
	unlock, err := lock(ctx, c.path("run", "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return c.stop(ctx, which)
}

// A Status is the status of one daemon.
type Status struct {
	Daemon Daemon
	Node   int    // the number of its node, if there are several; 0 if no node has it
	PID    int    // 0 if it does not run
	Web    string // its web address
}

// Status returns the status of every daemon.
func (c *Cluster) Status() []Status {
	var all []Status
	for _, d := range c.daemons() {
		s := Status{Daemon: d, PID: c.pid(d), Web: c.Web(d)}
		if c.nodes() > 1 && (d.first() == DataNode || d.first() == NodeManager) {
			s.Node = d.node()
		}
		all = append(all, s)
	}
	return all
}

// Dir returns the absolute path of the cluster's folder, which serves as HADOOP_HOME.
func (c *Cluster) Dir() string { return c.dir }

// ConfDir returns the folder of the configuration, HADOOP_CONF_DIR.
func (c *Cluster) ConfDir() string { return c.path("conf") }

// NameNode returns the address of the (first) name node, host:port.
func (c *Cluster) NameNode() string { return c.address(namePort) }

// DefaultFS returns the address of the file system: hdfs://host:port, or with two name
// nodes the name that stands for both.
func (c *Cluster) DefaultFS() string {
	if c.state.HA {
		return "hdfs://" + nameService
	}
	return "hdfs://" + c.NameNode()
}

// Web returns the web address of a daemon, http://host:port. The KDC has only an address.
func (c *Cluster) Web(d Daemon) string {
	if d == KDC {
		return c.address(kdcPort)
	}
	return fmt.Sprintf("http://%s:%d", c.hostOf(d), c.port(d.ports()[0]))
}

// Log returns the name of a daemon's log file.
func (c *Cluster) Log(d Daemon) string { return c.path("logs", strings.ToLower(string(d))+".log") }

// StreamingJar returns the jar of Hadoop Streaming.
func (c *Cluster) StreamingJar() string { return c.path("bin", "hadoop-streaming.jar") }

// Command returns the command hadoop with these arguments, in the cluster's environment.
func (c *Cluster) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path("bin", "hadoop"), args...)
	cmd.Env = c.Env()
	return cmd
}

// Env returns this process's environment with the variables of the cluster.
func (c *Cluster) Env() []string {
	return append(c.env(), "PATH="+c.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// env returns Env without the PATH. Variables of other Hadoops are removed.
func (c *Cluster) env() []string {
	env := slices.DeleteFunc(os.Environ(), anyHadoop.MatchString)
	env = append(env, "HADOOP_HOME="+c.dir, "HADOOP_CONF_DIR="+c.ConfDir(), "JAVA_HOME="+c.state.JavaHome)
	if c.secure() {
		env = append(env, "KRB5_CONFIG="+c.path("krb5.conf"))
	}
	return env
}

// anyHadoop matches the variables of a Hadoop.
var anyHadoop = regexp.MustCompile(`^(HADOOP_|HDFS_|YARN_|MAPRED_|CLASSPATH=)`)

// path returns a path in the cluster's folder.
func (c *Cluster) path(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

func (c *Cluster) stateFile() string { return c.path("cluster.json") }

// running reports whether any daemon is running.
func (c *Cluster) running() bool {
	for _, d := range c.daemons() {
		if c.pid(d) != 0 {
			return true
		}
	}
	return false
}

// prepare creates everything that the daemons need before they are started.
func (c *Cluster) prepare(ctx context.Context, config Config, progress io.Writer) error {
	nodes := cmp.Or(config.Nodes, c.state.Nodes, 1)
	if nodes < 1 || nodes > maxNodes {
		return fmt.Errorf("cluster: %d nodes: expected 1 to %d", nodes, maxNodes)
	}
	if config.HA && config.Secure {
		return errors.New("cluster: a cluster with Kerberos has one name node")
	}
	if err := c.checkFormatted(config, nodes); err != nil {
		return err
	}
	java, err := findJava(javaHomes())
	if err != nil {
		return err
	}
	jars, err := hadoopJars.need(ctx, java, progress)
	if err != nil {
		return err
	}
	kerberos := ""
	if config.Secure {
		if kerberos, err = kerberosJars.need(ctx, java, progress); err != nil {
			return err
		}
	}
	// Running daemons keep the configuration with which they were started.
	if !c.running() {
		c.state.HA, c.state.Nodes, c.state.KerberosJars = config.HA, nodes, kerberos
		if err := c.choosePorts(config.FreePorts); err != nil {
			return err
		}
		c.state = state{Version: Version, Jars: jars, JavaHome: java, FreePorts: config.FreePorts, HA: config.HA, Nodes: nodes, Ports: c.state.Ports,
			KerberosJars: kerberos, Protection: config.Protection, TicketLifetime: config.TicketLifetime}
	} else if err := c.checkPorts(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(c.state, "", "  ")
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if err := writeFile(c.stateFile(), append(b, '\n'), 0o644); err != nil {
		return err
	}
	return c.writeFiles()
}

// checkFormatted returns an error if the file system was formatted for another configuration.
func (c *Cluster) checkFormatted(config Config, nodes int) error {
	if _, err := os.Stat(c.formatted()); err != nil {
		return nil
	}
	if c.state.HA != config.HA {
		return fmt.Errorf("cluster: the file system in %s was formatted for %d name node(s), and that cannot change", c.dir, len(c.nameNodes()))
	}
	if c.secure() != config.Secure {
		return fmt.Errorf("cluster: the file system in %s was formatted %s Kerberos, and that cannot change: stop the cluster and delete the folder, or use another one (make cluster-up CLUSTER=…)", c.dir, map[bool]string{true: "with", false: "without"}[c.secure()])
	}
	if nodes != c.nodes() {
		return fmt.Errorf("cluster: the file system in %s was formatted for %d node(s), and that cannot change: stop the cluster and delete the folder, or use another one (make cluster-up CLUSTER=…)", c.dir, c.nodes())
	}
	return nil
}

// format formats the file system once. It writes the marker last, so that an interrupted
// format is repeated.
func (c *Cluster) format(ctx context.Context, progress io.Writer) error {
	if _, err := os.Stat(c.formatted()); err == nil {
		return nil
	}
	fmt.Fprintln(progress, "formatting the file system")
	if err := os.RemoveAll(c.path("hdfs")); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if err := os.MkdirAll(c.path("hdfs"), 0o755); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if out, err := c.java(ctx, NameNode, "-format", "-force", "-nonInteractive").CombinedOutput(); err != nil {
		return fmt.Errorf("cluster: NameNode -format: %w\n%s", err, lastLines(out))
	}
	if c.state.HA {
		if err := os.CopyFS(c.path("hdfs", "name2"), os.DirFS(c.path("hdfs", "name"))); err != nil {
			return fmt.Errorf("cluster: %w", err)
		}
	}
	return writeFile(c.formatted(), nil, 0o644)
}

// formatted returns the name of the marker of a formatted file system.
func (c *Cluster) formatted() string { return c.path("hdfs", "formatted") }

// plainFolder matches paths that need no quoting in class paths, lists with commas, URIs
// and shell scripts.
var plainFolder = regexp.MustCompile(`^[\p{L}\p{N}/._+@=~-]+$`)

// plainPath makes a path absolute, and refuses one that Hadoop cannot handle.
func plainPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if !plainFolder.MatchString(abs) {
		return "", fmt.Errorf("cluster: folder %q: Hadoop needs a path of letters, digits and /._+@=~- only", abs)
	}
	return abs, nil
}

// claim creates a cluster's folder, or accepts one that is a cluster's already, and locks
// it.
func claim(ctx context.Context, dir string) (unlock func(), err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	// The lock is created first.
	path := filepath.Join(dir, "run", "lock")
	if _, err := os.Stat(path); err != nil && len(entries) > 0 {
		return nil, fmt.Errorf("cluster: folder %s is neither empty nor a cluster's", dir)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return lock(ctx, path)
}

// lastLines returns the last lines of a log.
func lastLines(b []byte) []byte {
	lines := bytes.Split(bytes.TrimRight(b, "\n"), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-logLines):], []byte("\n"))
}
