package minicluster

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
)

// host is the name on which all daemons listen. It is a name, not an address, because YARN
// compares it with the names of hosts that store HDFS's blocks.
const host = "localhost"

// The names of the ports.
const (
	portNameNode        = "namenode"
	portNameNodeWeb     = "namenode-web"
	portDataNode        = "datanode"
	portDataNodeWeb     = "datanode-web"
	portDataNodeIPC     = "datanode-ipc"
	portClients         = "resourcemanager"
	portScheduler       = "resourcemanager-scheduler"
	portTracker         = "resourcemanager-tracker"
	portAdmin           = "resourcemanager-admin"
	portResourceManager = "resourcemanager-web"
	portContainers      = "nodemanager"
	portLocalizer       = "nodemanager-localizer"
	portNodeManager     = "nodemanager-web"
	portCollector       = "nodemanager-collector"
	portShuffle         = "shuffle"
	portHistory         = "history"
	portHistoryAdmin    = "history-admin"
	portHistoryWeb      = "history-web"
	portNameNode2       = "namenode2"
	portNameNode2Web    = "namenode2-web"
)

// standardPorts are the ports in the documentation and in tutorials. The NodeManager's own
// port has no standard; with a fixed one it rejoins as the same node after a restart.
var standardPorts = map[string]int{
	portNameNode:        9000,
	portNameNodeWeb:     9870,
	portDataNode:        9866,
	portDataNodeWeb:     9864,
	portDataNodeIPC:     9867,
	portClients:         8032,
	portScheduler:       8030,
	portTracker:         8031,
	portAdmin:           8033,
	portResourceManager: 8088,
	portContainers:      8041,
	portLocalizer:       8040,
	portNodeManager:     8042,
	portCollector:       8048,
	portShuffle:         13562,
	portHistory:         10020,
	portHistoryAdmin:    10033,
	portHistoryWeb:      19888,
}

// defaultPorts returns the standard ports of the cluster's daemons. Those of a second name
// node have no standard.
func (c *Cluster) defaultPorts() map[string]int {
	ports := maps.Clone(standardPorts)
	if c.state.HA {
		ports[portNameNode2], ports[portNameNode2Web] = 9001, 9871
	}
	return ports
}

// Free ports are chosen below the range (32768 and up) from which the kernel takes the
// ports of outgoing connections: one of those could occupy the port of a daemon that is
// being restarted.
const (
	lowestFreePort  = 15000
	highestFreePort = 32000
	freePortTries   = 100
)

// choosePorts returns the ports for a cluster without running daemons: its previous ports,
// if they are still valid and free.
func (c *Cluster) choosePorts(free bool) (map[string]int, error) {
	if !free {
		c.state.Ports = c.defaultPorts()
		return c.state.Ports, c.checkPorts()
	}
	if c.state.FreePorts && c.checkPorts() == nil {
		return c.state.Ports, nil
	}
	return freePorts(c.defaultPorts())
}

// freePorts returns consecutive free ports for these names. Two clusters that choose at the
// same time hardly ever choose the same.
func freePorts(of map[string]int) (map[string]int, error) {
	names := slices.Sorted(maps.Keys(of))
	size := len(names)
	for range freePortTries {
		first := lowestFreePort + size*rand.IntN((highestFreePort-lowestFreePort)/size)
		ports := make(map[string]int, size)
		for i, name := range names {
			if portError(first+i) != nil {
				break
			}
			ports[name] = first + i
		}
		if len(ports) == size {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("cluster: no %d free ports in a row between %d and %d", size, lowestFreePort, highestFreePort)
}

// checkPorts returns an error if another process uses the port of a daemon that is not
// running.
func (c *Cluster) checkPorts() error {
	for _, d := range c.daemons() {
		if c.pid(d) != 0 {
			continue
		}
		for _, name := range d.spec().ports {
			if err := portError(c.state.Ports[name]); err != nil {
				if errors.Is(err, syscall.EADDRINUSE) {
					return fmt.Errorf("cluster: port %d (%s) is taken by another process: stop that, or start with --free-ports (make cluster-up FREE_PORTS=1)", c.state.Ports[name], d)
				}
				return fmt.Errorf("cluster: %s: %w", d, err)
			}
		}
	}
	return nil
}

// portError tries to listen on a port, on any address, because Hadoop's shuffle always
// listens on all addresses.
func portError(port int) error {
	l, err := net.Listen("tcp4", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	return l.Close()
}
