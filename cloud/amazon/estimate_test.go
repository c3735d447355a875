package amazon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestMaxDollarsSpot checks that --max-dollars is a limit for every price of spot nodes up to
// their bid, the on-demand price.
func TestMaxDollarsSpot(t *testing.T) {
	m5, ok := instanceNamed("m5.xlarge")
	if !ok {
		t.Fatal("no m5.xlarge")
	}
	const core, spot, dollars = 2, 20, 20
	surcharge, disk := 0.25*m5.Price, 64*0.08/730 // of EMR, of EBS
	line := "solve mnk --runner emr --bucket s3://bucket/games --instance m5.xlarge --nodes 2 --spot-nodes 20 --max-dollars 20"
	planned(t, line, func(r *emrSolve) {
		limit, err := r.limitOf(upLimit, r.prices(r.spec))
		cost := (1 + core + spot) * (m5.Price + surcharge + disk) * (limit.Minutes() + 5) / 60
		if err != nil || cost > dollars || cost < 0.95*dollars {
			t.Errorf("%s cost up to $%.2f, want $%d or a little less (%v)", limit, cost, dollars, err)
		}
	})
}

// TestLimit checks the lifetime of a cluster by --max-hours, --max-dollars and --price.
func TestLimit(t *testing.T) {
	for flags, want := range map[string]string{
		"":                                   "8h0m0s",
		"--max-hours 3":                      "3h0m0s",
		"--max-dollars 0.1":                  "it needs at least 30m0s (--max-hours, --max-dollars)",
		"--max-dollars 1 --price 0.5":        "34m0s",
		"--instance x9z.large":               "set the cluster's limit with --max-hours",
		"--instance x9z.large --max-hours 1": "1h0m0s",
	} {
		planned(t, "solve mnk --runner emr --bucket s3://bucket/games "+flags, func(r *emrSolve) {
			limit, err := r.limitOf(upLimit, r.prices(r.spec))
			if got := fmt.Sprintf("%s %v", limit, err); !strings.Contains(got, want) {
				t.Errorf("%q: %s, want %s", flags, got, want)
			}
		})
	}
}

// TestRemembered checks that an unreadable record of a cluster does not hide the others, and that a step
// ends before its cluster does.
func TestRemembered(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	now := time.Now()
	must.OK(t, remember(made{ID: "j-GOOD", Region: "r", Ends: now.Add(2 * time.Hour)}))
	if err := remember(made{ID: "../j-A"}); err == nil {
		t.Error("a record outside of the directory was written")
	}
	dir, err := madeDir()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "j-EMPTY.json"), nil, 0o666)
	}
	must.OK(t, err)
	var warned []string
	all, err := rememberedClusters(func(line string) { warned = append(warned, line) })
	if err != nil || len(all) != 1 || all[0].ID != "j-GOOD" || len(warned) != 1 || !strings.Contains(warned[0], "emr down --cluster-id j-EMPTY ends it") {
		t.Errorf("%+v, %v, %q", all, err, warned)
	}
	e := &emrEstimate{limit: 8 * time.Hour}
	for _, test := range []struct {
		id    string
		after time.Duration
		want  time.Duration // 0: refused
	}{
		{"j-GOOD", 0, 2*time.Hour - reserve},
		{"j-GOOD", 2*time.Hour - reserve, 0},
		{"j-OTHER", 0, 8*time.Hour - reserve},
	} {
		if got, err := e.stepLimitOn(test.id, all, now.Add(test.after)); got.Round(time.Second) != test.want || (err != nil) != (test.want == 0) {
			t.Errorf("%s after %v: %v, %v, want %v", test.id, test.after, got, err, test.want)
		}
	}
}

// TestEstimateOfBound checks the question before a run if only a lower bound of the positions
// is known: it contains the price of an hour, but no duration or price of the run.
func TestEstimateOfBound(t *testing.T) {
	planned(t, "solve mnk --runner emr --bucket s3://bucket/games", func(r *emrSolve) {
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
	})
}
