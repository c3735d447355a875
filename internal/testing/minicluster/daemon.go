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

// A Daemon is one of the five daemons, or NameNode2.
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
)

// daemons returns all daemons, in the order in which they are started.
func (c *Cluster) daemons() []Daemon {
	return append(c.nameNodes(), DataNode, ResourceManager, NodeManager, JobHistoryServer)
}

func (d Daemon) lower() string { return strings.ToLower(string(d)) }

// A spec describes how a daemon is started, and where it listens.
type spec struct {
	class string
	id    string   // of a name node, if there are two
	web   string   // the port of its web address
	ports []string // all of its ports
}

// spec returns the spec of a daemon.
func (d Daemon) spec() spec {
	switch d {
	case NameNode:
		return spec{
			class: "org.apache.hadoop.hdfs.server.namenode.NameNode",
			id:    "nn1",
			web:   portNameNodeWeb,
			ports: []string{portNameNode, portNameNodeWeb},
		}
	case NameNode2:
		return spec{
			class: "org.apache.hadoop.hdfs.server.namenode.NameNode",
			id:    "nn2",
			web:   portNameNode2Web,
			ports: []string{portNameNode2, portNameNode2Web},
		}
	case DataNode:
		return spec{
			class: "org.apache.hadoop.hdfs.server.datanode.DataNode",
			web:   portDataNodeWeb,
			ports: []string{portDataNode, portDataNodeWeb, portDataNodeIPC},
		}
	case ResourceManager:
		return spec{
			class: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
			web:   portResourceManager,
			ports: []string{portClients, portScheduler, portTracker, portAdmin, portResourceManager},
		}
	case NodeManager:
		return spec{
			class: "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
			web:   portNodeManager,
			ports: []string{portContainers, portLocalizer, portNodeManager, portCollector, portShuffle},
		}
	default:
		return spec{
			class: "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
			web:   portHistoryWeb,
			ports: []string{portHistory, portHistoryAdmin, portHistoryWeb},
		}
	}
}

const (
	// killAfter is the time that a daemon gets to end before it is killed. A NodeManager
	// takes several seconds.
	killAfter = 30 * time.Second
	// settleTime is the time that a killed daemon may take to release its memory and ports.
	settleTime = 10 * time.Second
	// endPoll is the interval between checks of a process that is ending.
	endPoll = 50 * time.Millisecond
)

// java returns the program java.
func (c *Cluster) java() string { return filepath.Join(c.state.JavaHome, "bin", "java") }

// mark returns the argument that identifies daemons of this cluster.
func (c *Cluster) mark() string { return "-Dtreereduce.cluster=" + c.dir }

// javaArgs returns the arguments of java that start a daemon.
func (c *Cluster) javaArgs(d Daemon) []string {
	return slices.Concat(javaOpts(), strings.Fields(quickStart), []string{
		daemonHeap, c.mark(), "-cp", strings.Join(c.classPath(), string(os.PathListSeparator)),
	}, c.program(d))
}

// program returns a daemon's class, and the arguments that distinguish daemons of one
// class.
func (c *Cluster) program(d Daemon) []string {
	s := d.spec()
	if c.state.HA && s.id != "" {
		return []string{s.class, "-D", "dfs.ha.namenode.id=" + s.id}
	}
	return []string{s.class}
}

// daemonEnv returns the environment of daemons and, through the NodeManager, of tasks. It
// does not contain settings of another Hadoop from this process's environment.
func (c *Cluster) daemonEnv() []string {
	return append(cleanEnv(os.Environ()),
		"HADOOP_HOME="+c.dir,
		"HADOOP_CONF_DIR="+c.ConfDir(),
		"JAVA_HOME="+c.state.JavaHome)
}

// cleanEnv returns an environment without the variables of any Hadoop.
func cleanEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		for _, prefix := range []string{"HADOOP_", "HDFS_", "YARN_", "MAPRED_", "CLASSPATH="} {
			if strings.HasPrefix(e, prefix) {
				return true
			}
		}
		return false
	})
}

func (c *Cluster) pidFile(d Daemon) string { return c.path("run", d.lower()+".pid") }

// start starts a daemon in a session of its own and does not wait until it is ready. It
// keeps the log of the previous run under another name.
func (c *Cluster) start(d Daemon) error {
	if d == NodeManager {
		// Tasks of a NodeManager that was killed are left without a parent.
		if err := c.killTasks(); err != nil {
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
	cmd := exec.Command(c.java(), c.javaArgs(d)...)
	cmd.Dir = c.dir
	cmd.Env = c.daemonEnv()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cluster: start %s: %w", d, err)
	}
	// Wait for the process, so that it does not become a zombie.
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	c.appear(cmd.Process.Pid, d, ended)
	if err := writeFile(c.pidFile(d), fmt.Appendln(nil, cmd.Process.Pid), 0o644); err != nil {
		return errors.Join(err, cmd.Process.Kill())
	}
	return nil
}

// appear waits until a daemon that was just started is recognized by its command line, or
// has ended. A process has no command line for a moment after exec.
func (c *Cluster) appear(pid int, d Daemon, ended <-chan struct{}) {
	for !c.isDaemon(pid, d) {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// pid returns the process of a daemon, or 0 if it does not run. A pid file may name a
// process that died long ago, whose number may have been reused.
func (c *Cluster) pid(d Daemon) int {
	b, err := os.ReadFile(c.pidFile(d))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 0 || !c.isDaemon(pid, d) {
		return 0
	}
	return pid
}

// isDaemon reports whether a process is this daemon of this cluster.
func (c *Cluster) isDaemon(pid int, d Daemon) bool {
	args := procFields(pid, "cmdline")
	for _, own := range append(c.program(d), c.mark()) {
		if !slices.Contains(args, own) {
			return false
		}
	}
	return !slices.Contains(args, "-format")
}

// procFields returns the fields of a /proc file in which each field ends with a zero byte.
// There are none if the process has ended, is a zombie, or belongs to another user.
func procFields(pid int, name string) []string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// begun returns the start time of a process in the kernel's format, or "" if it has ended.
// A process that is ending has no command line any more, but still has its ports. It counts
// as ended when only a zombie without other threads is left.
func begun(pid int) string {
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

// settle waits for daemons that are ending, so that their ports become free. It gives up
// after a while without an error, because checkPorts reports ports in use, and a pid file
// from before a reboot may name a kernel thread, which has no command line either.
func (c *Cluster) settle(ctx context.Context) error {
	limit := time.Now().Add(settleTime)
	for _, d := range c.daemons() {
		b, err := os.ReadFile(c.pidFile(d))
		if err != nil {
			continue
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || pid <= 0 {
			continue
		}
		for begun(pid) != "" && procFields(pid, "cmdline") == nil && time.Now().Before(limit) {
			if err := sleep(ctx, endPoll); err != nil {
				return fmt.Errorf("cluster: wait for the end of %s (process %d): %w", d, pid, err)
			}
		}
	}
	return nil
}

// Kill kills a daemon by SIGKILL, like a power cut. The tasks of a NodeManager go on until
// it is started again or the cluster is stopped.
func (c *Cluster) Kill(d Daemon) error {
	pid := c.pid(d)
	if pid == 0 {
		return fmt.Errorf("cluster: kill %s: it does not run", d)
	}
	if err := signal(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("cluster: kill %s: %w", d, err)
	}
	for then := begun(pid); then != "" && begun(pid) == then; {
		time.Sleep(endPoll)
	}
	if err := os.Remove(c.pidFile(d)); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// stop stops daemons, the last started first: a NodeManager that ends contacts its
// ResourceManager, and retries for minutes if that is not running.
func (c *Cluster) stop(ctx context.Context, which []Daemon) error {
	for _, d := range slices.Backward(which) {
		if err := c.stopOne(ctx, d); err != nil {
			return fmt.Errorf("cluster: stop %s: %w", d, err)
		}
	}
	if slices.Contains(which, NodeManager) {
		return c.killTasks()
	}
	return nil
}

// stopOne asks a daemon to end, waits for it, and kills it if that takes too long or the
// context ends.
func (c *Cluster) stopOne(ctx context.Context, d Daemon) error {
	ctx, cancel := context.WithTimeout(ctx, killAfter)
	defer cancel()
	if pid := c.pid(d); pid != 0 {
		then := begun(pid)
		if err := signal(pid, syscall.SIGTERM); err != nil {
			return err
		}
		for then != "" && begun(pid) == then {
			if sleep(ctx, endPoll) == nil {
				continue
			}
			if err := signal(pid, syscall.SIGKILL); err != nil {
				return err
			}
			time.Sleep(endPoll)
		}
	}
	if err := os.Remove(c.pidFile(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// killTasks kills the remaining tasks that this cluster's NodeManager started. A
// NodeManager that was killed leaves them running.
func (c *Cluster) killTasks() error {
	for {
		tasks, err := c.tasks()
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			return nil
		}
		for _, pid := range tasks {
			if err := signal(pid, syscall.SIGKILL); err != nil {
				return fmt.Errorf("cluster: kill task %d: %w", pid, err)
			}
		}
		time.Sleep(endPoll)
	}
}

// tasks returns the processes whose environment shows that a NodeManager started them in
// this cluster's folder.
func (c *Cluster) tasks() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	own := "LOCAL_DIRS=" + c.path("local") + "/"
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if slices.ContainsFunc(procFields(pid, "environ"), func(v string) bool { return strings.HasPrefix(v, own) }) {
			pids = append(pids, pid)
		}
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
