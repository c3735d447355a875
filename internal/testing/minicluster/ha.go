//go:build unix

package minicluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// nameService is the name that stands for both name nodes.
const nameService = "treereduce"

// Active returns the active name node.
func (c *Cluster) Active(ctx context.Context) (Daemon, error) {
	var errs []error
	for _, d := range c.nameNodes() {
		err := c.check(ctx, d, "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus", `"State" : "active"`, 1)
		if err == nil {
			return d, nil
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("cluster: no active name node: %w", errors.Join(errs...))
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
	return c.haadmin(ctx, "-transitionToActive", specs[NameNode].id)
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
	return c.haadmin(ctx, "-failover", specs[active].id, specs[standby].id)
}

// haadmin runs hdfs haadmin.
func (c *Cluster) haadmin(ctx context.Context, args ...string) error {
	out, err := c.Command(ctx, append([]string{"haadmin"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster: haadmin %s: %w\n%s", strings.Join(args, " "), err, lastLines(out))
	}
	return nil
}
