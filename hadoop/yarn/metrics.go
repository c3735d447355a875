package yarn

import "context"

// Metrics are the size of a cluster.
type Metrics struct {
	Nodes     int // that live
	Lost      int // nodes
	Unhealthy int // nodes
	VCores    int // of the nodes that live, in all
}

// Metrics asks the resource manager for the size of its cluster; its error says
// that it does not answer.
func (c *Client) Metrics(ctx context.Context) (m Metrics, err error) {
	err = c.onManager(ctx, func(base string) error {
		m, err = c.metrics(ctx, base)
		return err
	})
	return m, err
}

// metrics asks one resource manager.
func (c *Client) metrics(ctx context.Context, base string) (Metrics, error) {
	var answer struct {
		ClusterMetrics struct{ ActiveNodes, LostNodes, UnhealthyNodes, TotalVirtualCores int }
	}
	err := c.get(ctx, manager, base+"/ws/v1/cluster/metrics", &answer)
	m := answer.ClusterMetrics
	return Metrics{m.ActiveNodes, m.LostNodes, m.UnhealthyNodes, m.TotalVirtualCores}, err
}
