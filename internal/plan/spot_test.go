package plan_test

import (
	"math"
	"testing"

	"github.com/treereduce/treereduce/internal/plan"
)

// TestSpotPrice checks that --price is the price of an on-demand node: a spot node costs the
// share of it that the plan mentions.
func TestSpotPrice(t *testing.T) {
	g, counts := recorded(t, "6x6", 6, 6, 4)
	perHour := func(nodes, spot int, price float64) float64 {
		t.Helper()
		c := plan.Cluster{Instance: "m6g.xlarge", Nodes: nodes, SpotNodes: spot, EBSGB: 100, EMR: true, Price: price}
		p, err := plan.Make(g, counts, plan.Builtin(), plan.Where{Runner: plan.EMR, Cluster: &c, Above: 16 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return p.Total.Dollars / p.Total.WallHours
	}
	const share = 0.4 // "a spot node costs 40 % of one on demand"
	for _, test := range []struct {
		nodes, spot int
		want        float64 // dollars, including the master
	}{{2, 0, 3}, {4, 0, 5}, {2, 2, 3 + 2*share}, {2, 20, 3 + 20*share}} {
		got := perHour(test.nodes, test.spot, 7) - perHour(test.nodes, test.spot, 6)
		if math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%d nodes and %d on spot: a dollar more an hour costs %v more, want %v", test.nodes, test.spot, got, test.want)
		}
	}
}
