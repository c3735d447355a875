package minicluster

import (
	"context"
	"fmt"
	"strings"
)

// nameService is the name that stands for both name nodes.
const nameService = "treereduce"

// nameNodes returns the cluster's name nodes.
func (c *Cluster) nameNodes() []Daemon {
	if c.state.HA {
		return []Daemon{NameNode, NameNode2}
	}
	return []Daemon{NameNode}
}

// haSite returns the properties of hdfs-site.xml for two name nodes: the active one writes
// its edits to a folder that the other reads. There is no automatic failover, so neither
// ZooKeeper nor fencing is needed: FailOver asks the active name node to step down.
func (c *Cluster) haSite() []property {
	id := func(d Daemon) string { return nameService + "." + d.spec().id }
	return []property{
		{"dfs.nameservices", nameService},
		{"dfs.ha.namenodes." + nameService, NameNode.spec().id + "," + NameNode2.spec().id},
		{"dfs.namenode.name.dir." + id(NameNode), "file://" + c.path("hdfs", "name")},
		{"dfs.namenode.name.dir." + id(NameNode2), "file://" + c.path("hdfs", "name2")},
		{"dfs.namenode.rpc-address." + id(NameNode), c.address(portNameNode)},
		{"dfs.namenode.rpc-address." + id(NameNode2), c.address(portNameNode2)},
		{"dfs.namenode.http-address." + id(NameNode), c.address(portNameNodeWeb)},
		{"dfs.namenode.http-address." + id(NameNode2), c.address(portNameNode2Web)},
		{"dfs.namenode.shared.edits.dir", "file://" + c.path("hdfs", "edits")},
		{"dfs.client.failover.proxy.provider." + nameService, "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"},
		{"dfs.ha.fencing.methods", "shell(true)"},
	}
}

// Active returns the active name node.
func (c *Cluster) Active(ctx context.Context) (Daemon, error) {
	var states []string
	for _, d := range c.nameNodes() {
		var beans struct {
			Beans []struct{ State string } `json:"beans"`
		}
		err := getJSON(ctx, c.Web(d)+"/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus", &beans)
		switch {
		case err != nil:
			states = append(states, err.Error())
		case len(beans.Beans) == 1 && beans.Beans[0].State == "active":
			return d, nil
		default:
			states = append(states, fmt.Sprintf("%s: %+v", d, beans.Beans))
		}
	}
	return "", fmt.Errorf("cluster: no active name node: %s", strings.Join(states, ", "))
}

// activate makes the first of two name nodes active if none is active: both start on
// standby, and the history server does not become ready before one is active.
func (c *Cluster) activate(ctx context.Context) error {
	if !c.state.HA {
		return nil
	}
	if err := c.waitReady(ctx, c.nameNodes()); err != nil {
		return err
	}
	if _, err := c.Active(ctx); err == nil {
		return nil
	}
	return c.haadmin(ctx, "-transitionToActive", NameNode.spec().id)
}

// FailOver makes the standby name node active, and the active one standby.
func (c *Cluster) FailOver(ctx context.Context) error {
	active, err := c.Active(ctx)
	if err != nil {
		return err
	}
	standby := NameNode
	if active == NameNode {
		standby = NameNode2
	}
	return c.haadmin(ctx, "-failover", active.spec().id, standby.spec().id)
}

// haadmin runs hdfs haadmin.
func (c *Cluster) haadmin(ctx context.Context, args ...string) error {
	out, err := c.Command(ctx, append([]string{"haadmin"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster: haadmin %s: %w\n%s", strings.Join(args, " "), err, lastLines(out, logLines))
	}
	return nil
}
