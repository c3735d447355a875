//go:build unix

package minicluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
)

// host is the name on which all daemons of node 1 listen. It is a name, not an address, because
// YARN compares it with the names of hosts that store HDFS's blocks.
const host = "localhost"

// Free ports are chosen below the range (32768 and up) from which the kernel takes the
// ports of outgoing connections: one of those could occupy the port of a daemon that is
// being restarted.
const (
	lowestFreePort  = 15000
	highestFreePort = 32000
	freePortTries   = 100
)

// port returns the port of the cluster whose standard port is given.
func (c *Cluster) port(standard int) int { return c.state.Ports[standard] }

// address returns the address with a port.
func (c *Cluster) address(standard int) string { return fmt.Sprintf("%s:%d", host, c.port(standard)) }

// choosePorts sets the ports of a cluster without running daemons: the standard ones, or with
// free, those of before if they are still free, or else consecutive free ones. Two clusters that
// choose at the same time hardly ever choose the same.
func (c *Cluster) choosePorts(free bool) error {
	first := 0 // of the free ports; 0: standard ports
	size := 0
	for _, d := range c.daemons() {
		size += len(d.ports())
	}
	set := func() error {
		c.state.Ports = make(map[int]int)
		for _, d := range c.daemons() {
			for _, port := range d.ports() {
				c.state.Ports[port] = port
				if first > 0 {
					c.state.Ports[port] = first + len(c.state.Ports) - 1
				}
			}
		}
		return c.checkPorts()
	}
	if !free {
		return set()
	}
	if c.state.FreePorts && len(c.state.Ports) == size && c.checkPorts() == nil {
		return nil
	}
	for range freePortTries {
		first = lowestFreePort + size*rand.IntN((highestFreePort-lowestFreePort)/size)
		if set() == nil {
			return nil
		}
	}
	return fmt.Errorf("cluster: no %d free ports in a row between %d and %d", size, lowestFreePort, highestFreePort)
}

// checkPorts returns an error if another process uses the port of a daemon that is not
// running.
func (c *Cluster) checkPorts() error {
	for _, d := range c.daemons() {
		if c.pid(d) != 0 {
			continue
		}
		for _, standard := range d.ports() {
			// Hadoop's shuffle always listens on all addresses.
			l, err := net.Listen("tcp4", fmt.Sprintf(":%d", c.port(standard)))
			switch {
			case err == nil:
				l.Close()
			case errors.Is(err, syscall.EADDRINUSE):
				return fmt.Errorf("cluster: port %d (%s) is taken by another process: stop that, or start with --free-ports (make cluster-up FREE_PORTS=1)", c.port(standard), d)
			default:
				return fmt.Errorf("cluster: %s: %w", d, err)
			}
		}
	}
	return nil
}
