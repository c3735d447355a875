package yarn

import "context"

// Metrics are the size of a cluster.
type Metrics struct {
	Nodes  int // that live
	VCores int // of those, in all
}

// Metrics asks the resource manager for the size of its cluster; its error says
// that it does not answer.
func (c *Client) Metrics(ctx context.Context) (Metrics, error) {
	var answer struct {
		ClusterMetrics struct{ ActiveNodes, TotalVirtualCores int }
	}
	err := c.getManager(ctx, "/ws/v1/cluster/metrics", &answer)
	return Metrics{answer.ClusterMetrics.ActiveNodes, answer.ClusterMetrics.TotalVirtualCores}, err
}
