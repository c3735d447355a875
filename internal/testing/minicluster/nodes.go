//go:build unix

package minicluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// maxNodes is the largest number of nodes: the number of a node is a single digit in the names of
// its daemons.
const maxNodes = 9

// A nodeDir is the folders of a node: configuration, blocks, working files of tasks, and their
// logs.
type nodeDir struct{ Conf, Data, Local, Logs string }

// nodes returns the number of nodes that the cluster has.
func (c *Cluster) nodes() int { return max(1, c.state.Nodes) }

// nodeDir returns the folders of node n.
func (c *Cluster) nodeDir(n int) nodeDir {
	if n == 1 {
		return nodeDir{c.ConfDir(), c.path("hdfs", "data"), c.path("local"), c.path("logs", "userlogs")}
	}
	node := "node" + strconv.Itoa(n)
	return nodeDir{c.path(node, "conf"), c.path(node, "data"), c.path(node, "local"), c.path(node, "userlogs")}
}

// nodeHost returns the name of the host of node n, on which its DataNode and NodeManager listen:
// localhost or, if the cluster has several nodes, 127.0.0.11, 127.0.0.12, … YARN compares the names
// of hosts, so each node needs its own. An address as a name needs no entry in /etc/hosts, and Go,
// curl and browsers can connect to it.
func (c *Cluster) nodeHost(n int) string {
	if c.nodes() == 1 {
		return host
	}
	return "127.0.0.1" + strconv.Itoa(n)
}

// hostOf returns the name of the host of a daemon.
func (c *Cluster) hostOf(d Daemon) string {
	if first := d.first(); first == DataNode || first == NodeManager {
		return c.nodeHost(d.node())
	}
	return host
}

// onNode returns the standard port on node n of a daemon with the given standard port. The nodes
// have different ports, because the shuffle listens on all addresses.
func onNode(n, standard int) int { return standard + 100*(n-1) }

// hostsFile returns the name of the file in which the JVMs of a cluster with several nodes look
// up hosts, by the property jdk.net.hosts.file of Java. Hadoop asks for the name of an address,
// and the answer of the machine for 127.0.0.12 may be anything.
func (c *Cluster) hostsFile() string { return c.path("conf", "hosts") }

// writeHosts writes hostsFile. Clients also look up the name of the machine.
func (c *Cluster) writeHosts() error {
	machine, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "127.0.0.1 %s %s\n", host, machine)
	for n := 1; n <= c.nodes() && c.nodes() > 1; n++ {
		fmt.Fprintf(&b, "%s %[1]s\n", c.nodeHost(n))
	}
	return writeFile(c.hostsFile(), []byte(b.String()), 0o644)
}

// OfNode returns the DataNode or NodeManager of node n. DataNode2 is that of node 2.
func (d Daemon) OfNode(n int) Daemon {
	if n == 1 {
		return d
	}
	return d + Daemon(strconv.Itoa(n))
}

// node returns the number of the node of a daemon; 1 for a daemon that no node has.
func (d Daemon) node() int {
	if n := d[len(d)-1]; d != NameNode2 && '2' <= n && n <= '9' {
		return int(n - '0')
	}
	return 1
}

// first returns the same daemon of node 1.
func (d Daemon) first() Daemon {
	if d.node() == 1 {
		return d
	}
	return d[:len(d)-1]
}

// ports returns the standard ports of a daemon, that of its web address first.
func (d Daemon) ports() (all []int) {
	for _, p := range specs[d.first()].ports {
		all = append(all, onNode(d.node(), p))
	}
	return all
}

// nodeDaemons returns the daemons of node n in the order in which they are started.
func (c *Cluster) nodeDaemons(n int) ([]Daemon, error) {
	if n < 1 || n > c.nodes() {
		return nil, fmt.Errorf("cluster: node %d: the cluster has nodes 1 to %d", n, c.nodes())
	}
	return []Daemon{DataNode.OfNode(n), NodeManager.OfNode(n)}, nil
}

// SignalNode sends a signal to both daemons of node n, and then to its tasks.
func (c *Cluster) SignalNode(n int, s syscall.Signal) error {
	daemons, err := c.nodeDaemons(n)
	if err != nil {
		return err
	}
	var pids []int
	for _, d := range daemons {
		if pid := c.pid(d); pid != 0 {
			pids = append(pids, pid)
		}
	}
	tasks, err := c.tasks(n)
	if err != nil {
		return err
	}
	for _, pid := range append(pids, tasks...) {
		if err := signal(pid, s); err != nil {
			return fmt.Errorf("cluster: signal process %d of node %d: %w", pid, n, err)
		}
	}
	return nil
}

// KillNode kills both daemons and all tasks of node n by SIGKILL, like a power cut. With
// removeStorage, it also deletes its blocks and the files of its tasks.
func (c *Cluster) KillNode(n int, removeStorage bool) error {
	daemons, err := c.nodeDaemons(n)
	if err != nil {
		return err
	}
	// The daemons are killed before the tasks, whose end a NodeManager would report.
	errs := []error{c.SignalNode(n, syscall.SIGKILL)}
	for _, d := range daemons {
		errs = append(errs, c.Kill(d))
	}
	errs = append(errs, c.killTasks(n))
	if removeStorage {
		dir := c.nodeDir(n)
		errs = append(errs, os.RemoveAll(dir.Data), os.RemoveAll(dir.Local))
	}
	return errors.Join(errs...)
}

// StartNode starts the daemons of node n that do not run, and waits until they are ready.
func (c *Cluster) StartNode(ctx context.Context, n int) error {
	daemons, err := c.nodeDaemons(n)
	if err != nil {
		return err
	}
	return c.Start(ctx, daemons...)
}

// WaitReplicated waits until all blocks have all their replicas. The name node must know which
// data nodes are lost.
func (c *Cluster) WaitReplicated(ctx context.Context) error {
	owner, err := user.Current()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, DefaultTimeout, errSlow)
	defer cancel()
	for {
		// The counts of FSNamesystemState are out of date for a second.
		err := c.check(ctx, NameNode, "/fsck?ugi="+owner.Username+"&path=/", `Under-replicated blocks:\s+0\s|Missing blocks:\s+0\s`, 2)
		if err == nil {
			return nil
		}
		if slow := sleep(ctx, readyPoll); slow != nil {
			return fmt.Errorf("cluster: wait for replicas: %w: %w", slow, err)
		}
	}
}
