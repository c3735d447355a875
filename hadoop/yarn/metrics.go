package yarn

import "context"

// Metrics describes the size of a cluster.
type Metrics struct {
	Nodes     int // live nodes
	Lost      int // nodes
	Unhealthy int // nodes
	VCores    int // of all live nodes
}

// Metrics asks the resource manager for the size of its cluster. It returns an error if there
// is no answer.
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
