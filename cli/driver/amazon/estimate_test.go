package amazon

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// TestMaxDollarsSpot checks that --max-dollars is a limit for every price of spot nodes up to
// their bid, the on-demand price.
func TestMaxDollarsSpot(t *testing.T) {
	m5, ok := plan.InstanceNamed("m5.xlarge")
	if !ok {
		t.Fatal("no m5.xlarge")
	}
	const core, spot, dollars = 2, 20, 20
	surcharge, disk := 0.25*m5.Price, 64*0.08/730 // of EMR, of EBS
	out := runs(t, "emr up --bucket s3://bucket/games --dry-run --json --instance m5.xlarge --nodes 2 --spot-nodes 20 --max-dollars 20")
	var call struct {
		Operation  string
		Parameters struct {
			BootstrapActions []struct{ ScriptBootstrapAction struct{ Args []string } }
			Instances        struct {
				InstanceGroups []struct{ Market, BidPrice string }
			}
		}
	}
	for line := range strings.Lines(out) {
		if call.Operation == "RunJobFlow" {
			break
		}
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			t.Fatal(err)
		}
	}
	if call.Operation != "RunJobFlow" {
		t.Fatalf("no RunJobFlow: %s", out)
	}
	minutes, err := strconv.Atoi(call.Parameters.BootstrapActions[0].ScriptBootstrapAction.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	cost := (1 + core + spot) * (m5.Price + surcharge + disk) * float64(minutes+5) / 60
	if cost > dollars || cost < 0.95*dollars {
		t.Errorf("%d minutes cost up to $%.2f, want $%d or a little less", minutes, cost, dollars)
	}
	for _, g := range call.Parameters.Instances.InstanceGroups {
		if want := map[string]string{"SPOT": "OnDemandPrice"}[g.Market]; g.BidPrice != want {
			t.Errorf("%s: the bid is %q, want %q", g.Market, g.BidPrice, want)
		}
	}
}

// TestEstimateOfBound checks the question before a run if only a lower bound of the positions
// is known: it contains the price of an hour, but no duration or price of the run.
func TestEstimateOfBound(t *testing.T) {
	parsed(t, "solve mnk --runner emr --bucket s3://bucket/games", func(s *driver.Solve) error {
		r, err := newEMRSolve(s)
		if err != nil {
			return err
		}
		e := r.prices(r.spec)
		e.plan, e.limit = new(plan.Plan), usualLimit
		for how, want := range map[count.How]string{
			count.Sampled: ": about 2 h and $3.00, at $",
			count.AtLeast: ": no estimate (only a lower bound of the positions is known), at $",
		} {
			e.plan.How, e.plan.Total.WallHours, e.plan.Total.Dollars = how, 2, 3
			if text := e.text(r); !strings.Contains(text, want) {
				t.Errorf("%s, want %s", text, want)
			}
		}
		return nil
	})
}
