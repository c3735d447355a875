//go:build unix

package minicluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Daemon is one of the five daemons, NameNode2, KDC, or a daemon of another node (see OfNode).
type Daemon string

// The daemons.
const (
	NameNode         Daemon = "NameNode"
	DataNode         Daemon = "DataNode"
	ResourceManager  Daemon = "ResourceManager"
	NodeManager      Daemon = "NodeManager"
	JobHistoryServer Daemon = "JobHistoryServer"
	// NameNode2 is the second name node of a cluster with Config.HA. (Hadoop's
	// SecondaryNameNode is something else.)
	NameNode2 Daemon = "NameNode2"
	// KDC issues the tickets of a cluster with Config.Secure.
	KDC Daemon = "KDC"
)

// specs describes how each daemon is started, and where it listens. Ports are the standard
// ones, that of the web address first. Some have no standard: those of the second name node,
// that of the KDC, because 88 needs a privilege, and the NodeManager's own, which is fixed so that
// it rejoins as the same node after a restart.
var specs = map[Daemon]struct {
	class string
	id    string // of a name node, if there are two
	ports []int
}{
	NameNode:         {"hdfs.server.namenode.NameNode", "nn1", []int{9870, 9000}},
	NameNode2:        {"hdfs.server.namenode.NameNode", "nn2", []int{9871, 9001}},
	DataNode:         {"hdfs.server.datanode.DataNode", "", []int{9864, 9866, 9867}},
	ResourceManager:  {"yarn.server.resourcemanager.ResourceManager", "", []int{8088, 8030, 8031, 8032, 8033}},
	NodeManager:      {"yarn.server.nodemanager.NodeManager", "", []int{8042, 8040, nodePort, 8048, 13562}},
	JobHistoryServer: {"mapreduce.v2.hs.JobHistoryServer", "", []int{19888, 10020, 10033}},
	KDC:              {"minikdc.MiniKdc", "", []int{kdcPort}},
}

// namePort is the standard port of the first name node, nodePort that of the NodeManager, kdcPort
// that of the KDC.
const (
	namePort = 9000
	nodePort = 8041
	kdcPort  = 10088
)

const (
	// killAfter is the time that a daemon gets to end before it is killed. A NodeManager
	// takes several seconds.
	killAfter = 30 * time.Second
	// endPoll is the interval between checks of a process that is ending.
	endPoll = 50 * time.Millisecond
)

// nameNodes returns the cluster's name nodes.
func (c *Cluster) nameNodes() []Daemon {
	if c.state.HA {
		return []Daemon{NameNode, NameNode2}
	}
	return []Daemon{NameNode}
}

// daemons returns all daemons, in the order in which they are started.
func (c *Cluster) daemons() []Daemon {
	var all []Daemon
	if c.secure() {
		all = append(all, KDC) // the others log in when they start
	}
	all = append(append(all, c.nameNodes()...), DataNode, ResourceManager, NodeManager)
	for n := 2; n <= c.nodes(); n++ {
		all = append(all, DataNode.OfNode(n), NodeManager.OfNode(n))
	}
	return append(all, JobHistoryServer)
}

// java returns a command that runs a daemon. Its environment, which tasks get through the
// NodeManager, does not contain settings of another Hadoop from this process's environment.
func (c *Cluster) java(ctx context.Context, d Daemon, args ...string) *exec.Cmd {
	s := specs[d.first()]
	jars := c.classPath(d.node(), string(os.PathListSeparator))
	if d == KDC {
		jars = c.ConfDir() + string(os.PathListSeparator) + filepath.Join(c.state.KerberosJars, "*")
		args = c.kdcArgs()
	}
	all := slices.Concat(c.javaOpts(), strings.Fields(quickStart), []string{
		daemonHeap, "-cp", jars, "org.apache.hadoop." + s.class,
	})
	if c.state.HA && s.id != "" {
		all = append(all, "-D", "dfs.ha.namenode.id="+s.id)
	}
	if c.secure() && s.id != "" {
		// Otherwise WebHDFS accepts any user.name without a ticket.
		all = append(all, "-D", "hadoop.http.authentication.type=kerberos")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.state.JavaHome, "bin", "java"), append(all, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env()
	return cmd
}

// pidFile returns the name of the file with the number of a daemon's process and its start time.
func (c *Cluster) pidFile(d Daemon) string {
	return c.path("run", strings.ToLower(string(d))+".pid")
}

// start starts a daemon in a session of its own and, except for the KDC, does not wait until it is
// ready. It keeps the log of the previous run under another name.
func (c *Cluster) start(ctx context.Context, d Daemon) error {
	if d == KDC {
		if err := c.writeKDC(); err != nil {
			return err
		}
	}
	if d.first() == NodeManager {
		// Tasks of a NodeManager that was killed are left without a parent.
		if err := c.killTasks(d.node()); err != nil {
			return err
		}
	}
	if err := os.Rename(c.Log(d), c.Log(d)+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cluster: %w", err)
	}
	log, err := os.Create(c.Log(d))
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer log.Close()
	cmd := c.java(context.Background(), d)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cluster: start %s: %w", d, err)
	}
	begun := startTime(cmd.Process.Pid)
	go cmd.Wait() // so that the process does not become a zombie
	if err := writeFile(c.pidFile(d), fmt.Appendln(nil, cmd.Process.Pid, begun), 0o644); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	if d == KDC {
		if err := c.waitReady(ctx, []Daemon{KDC}); err != nil {
			return err
		}
		return c.writeUserKeytab()
	}
	return nil
}

// pid returns the process of a daemon, or 0 if it does not run. The number in a pid file may
// have been reused: then the start time is another.
func (c *Cluster) pid(d Daemon) int {
	b, err := os.ReadFile(c.pidFile(d))
	if err != nil {
		return 0
	}
	text, begun, ok := strings.Cut(strings.TrimSpace(string(b)), " ")
	pid, err := strconv.Atoi(text)
	if err != nil || !ok || startTime(pid) != begun {
		return 0
	}
	return pid
}

// startTime returns the start time of a process in the kernel's format, or "" if it has ended.
// A process counts as ended when only a zombie without other threads is left: before that, it
// may still have its ports.
func startTime(pid int) string {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return ""
	}
	// The name, in parentheses, may contain any character. It is followed by the state, 18
	// numbers, and the start time.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	if threads, err := os.ReadDir(filepath.Join(dir, "task")); fields[0] == "Z" && (err != nil || len(threads) < 2) {
		return ""
	}
	return fields[19]
}

// Kill kills a daemon by SIGKILL, like a power cut. The tasks of a NodeManager go on until
// it is started again or the cluster is stopped.
func (c *Cluster) Kill(d Daemon) error { return c.end(context.Background(), d, syscall.SIGKILL) }

// stop stops daemons, the last started first: a NodeManager that ends contacts its
// ResourceManager, and retries for minutes if that is not running. A NodeManager takes several
// seconds, so all of them end at the same time.
func (c *Cluster) stop(ctx context.Context, which []Daemon) error {
	for _, d := range which {
		if pid := c.pid(d); pid != 0 && d.first() == NodeManager {
			if err := signal(pid, syscall.SIGTERM); err != nil {
				return fmt.Errorf("cluster: stop %s: %w", d, err)
			}
		}
	}
	for _, d := range slices.Backward(which) {
		if err := c.end(ctx, d, syscall.SIGTERM); err != nil {
			return err
		}
	}
	for _, d := range which {
		if d.first() == NodeManager {
			if err := c.killTasks(d.node()); err != nil {
				return err
			}
		}
	}
	return nil
}

// end sends a signal to a daemon, waits until it has ended, and kills it if that takes too long
// or the context ends. It is not an error if the daemon does not run.
func (c *Cluster) end(ctx context.Context, d Daemon, s syscall.Signal) error {
	ctx, cancel := context.WithTimeout(ctx, killAfter)
	defer cancel()
	pid := c.pid(d)
	if pid == 0 {
		return nil
	}
	for err := signal(pid, s); c.pid(d) == pid; {
		if err != nil {
			return fmt.Errorf("cluster: stop %s: %w", d, err)
		}
		if sleep(ctx, endPoll) != nil {
			err = signal(pid, syscall.SIGKILL)
			time.Sleep(endPoll)
		}
	}
	return nil
}

// killTasks kills the remaining tasks that the NodeManager of node n started. A NodeManager that
// was killed leaves them running.
func (c *Cluster) killTasks(n int) error {
	for {
		tasks, err := c.tasks(n)
		if err != nil || len(tasks) == 0 {
			return err
		}
		for _, pid := range tasks {
			if err := signal(pid, syscall.SIGKILL); err != nil {
				return fmt.Errorf("cluster: kill task %d: %w", pid, err)
			}
		}
		time.Sleep(endPoll)
	}
}

// tasks returns the processes that the NodeManager of node n started, and their children.
func (c *Cluster) tasks(n int) (pids []int, err error) {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	for _, name := range names {
		// Processes that have ended, zombies and those of other users have no environment.
		environ, _ := os.ReadFile(name)
		if !bytes.Contains(append([]byte{0}, environ...), []byte("\x00LOCAL_DIRS="+c.nodeDir(n).Local+"/")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			return nil, fmt.Errorf("cluster: task %s: %w", name, err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// signal sends a signal to a process. It is not an error if the process has ended already.
func signal(pid int, s syscall.Signal) error {
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
