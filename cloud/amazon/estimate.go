package amazon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
)

const (
	// leastLimit is the shortest limit for which creating a cluster makes sense: it needs ten
	// minutes before its first step.
	leastLimit = 30 * time.Minute
	// usualLimit is the default limit of a cluster, unless three times the estimate is more.
	usualLimit = 2 * time.Hour
	// reserve is how long before the cluster's limit the step is stopped, so that it can stop
	// cleanly.
	reserve = 15 * time.Minute
	// unlimited is the time that is billed in addition to the limit: from the start of the
	// machines to the bootstrap action, and from the shutdown to the end of the machines.
	unlimited = 5 * time.Minute
	// countTime limits the time for counting a game's positions for the estimate.
	countTime = 20 * time.Second
)

// An emrEstimate is the estimated time and cost of a run on a cluster.
type emrEstimate struct {
	plan    *plan.Plan // nil if the instance types are unknown
	why     error      // why plan is nil
	perHour float64    // dollars an hour; 0 if unknown
	limit   time.Duration
}

// prices returns an estimate that contains only the cluster's costs per hour.
func (e *emrCommand) prices(s *emr.Spec) *emrEstimate {
	cluster, of := e.clusterOf(s), new(emrEstimate)
	of.perHour, of.why = cluster.DollarsPerHour()
	return of
}

// clusterOf returns the cluster in the form that package plan uses.
func (e *emrCommand) clusterOf(s *emr.Spec) plan.Cluster {
	c := plan.Cluster{Instance: s.Worker, Nodes: s.Core, SpotNodes: s.Spot, EBSGB: float64(s.EBSGB), Price: e.flags.price, EMR: true, CopyToS3: true}
	if s.Master != s.Worker {
		c.Master = s.Master
	}
	return c
}

// estimate plans the run, and computes the limit of its cluster.
func (r *emrSolve) estimate(ctx context.Context) (*emrEstimate, error) {
	e := r.prices(r.spec)
	cluster := r.clusterOf(r.spec)
	need := 0.0
	if e.why == nil {
		rates, _, err := plan.RatesOf("")
		if err != nil {
			return nil, err
		}
		counts, err := count.Of(ctx, r.g, count.Options{Time: countTime, Progress: r.bar.Doing})
		r.bar.End()
		if err != nil {
			return nil, err
		}
		e.plan, err = plan.Make(r.g, counts, rates, plan.Where{
			Runner: plan.EMR, Cluster: &cluster, Above: float64(r.above),
			LeastMemory: func(until int) float64 { return float64(inline.Least(game.MethodOf(r.g), until, false)) },
		})
		if err != nil {
			return nil, err
		}
		need = e.plan.Total.WallHours
	}
	var err error
	e.limit, err = r.limitOf(max(usualLimit, hoursTime(3*need)), e)
	return e, err
}

// hoursTime converts a number of hours, rounded down to minutes and limited to a year.
func hoursTime(hours float64) time.Duration {
	return time.Duration(min(hours, 24*365)*60) * time.Minute
}

// limitOf returns the lifetime of a cluster: --max-hours, or else usual; less if --max-dollars
// does not pay for that long.
func (e *emrCommand) limitOf(usual time.Duration, of *emrEstimate) (time.Duration, error) {
	limit := usual
	if e.flags.maxHours > 0 {
		limit = hoursTime(e.flags.maxHours)
	} else if of.why != nil {
		return 0, command.Usagef("no estimate (%w): set the cluster's limit with --max-hours", of.why)
	}
	if e.flags.maxDollars > 0 {
		if of.perHour <= 0 {
			return 0, command.Usagef("--max-dollars: %w", of.why)
		}
		limit = min(limit, hoursTime(e.flags.maxDollars/of.perHour)-unlimited)
	}
	if limit < leastLimit {
		return 0, command.Usagef("the limit of the cluster is %s, but it needs at least %s (--max-hours, --max-dollars)", max(0, limit), leastLimit)
	}
	return limit, nil
}

// stepLimit returns the time limit of the step.
func (e *emrEstimate) stepLimit() time.Duration { return e.limit - reserve }

// stepLimitOn returns the time limit of a step on a cluster that exists: it ends before the cluster
// does, if that was created from this machine.
func (e *emrEstimate) stepLimitOn(id string, all []made, now time.Time) (time.Duration, error) {
	limit := e.stepLimit()
	for _, m := range all {
		if m.ID == id {
			limit = min(limit, m.Ends.Sub(now)-reserve)
		}
	}
	if limit <= 0 {
		return 0, command.Usagef("cluster %s ends in less than %s: a step needs another cluster", id, reserve)
	}
	return limit, nil
}

// text returns the estimate as a line of text.
func (e *emrEstimate) text(r *emrSolve) string {
	cluster := r.clusterOf(r.spec)
	on := plan.Where{Runner: plan.EMR, Cluster: &cluster}.String()
	if r.flags.id != "" {
		on = "cluster " + r.flags.id + ", taken for " + on
	}
	text := fmt.Sprintf("%s on %s: ", game.TitleOf(r.g), on)
	switch {
	case e.plan == nil:
		text += fmt.Sprintf("no estimate (%v)", e.why)
	default:
		time := fmt.Sprintf("about %s and $%.2f", numfmt.Seconds(3600*e.plan.Total.WallHours), e.plan.Total.Dollars)
		if e.plan.How == count.AtLeast {
			time = "no estimate (only a lower bound of the positions is known)"
		}
		text += fmt.Sprintf("%s, at $%.2f per hour", time, e.perHour)
		if r.flags.price == 0 {
			text += " (" + plan.PricesOf + ")"
		}
		for _, p := range e.plan.Problems {
			text += "; " + p.Text
		}
		if hoursTime(e.plan.Total.WallHours) > e.stepLimit() {
			text += fmt.Sprintf("; that exceeds the limit of %s, after which --resume continues", e.limit)
		}
	}
	what := "the cluster terminates"
	if r.flags.id != "" {
		what = "the step ends"
	}
	return text + "; " + e.latest(what)
}

// latest describes when something ends at the latest, and how much it has cost by then.
func (e *emrEstimate) latest(what string) string {
	text := fmt.Sprintf("%s after at most %s", what, numfmt.Duration(e.limit))
	if e.perHour > 0 {
		text += fmt.Sprintf(", at $%.2f", e.perHour*(e.limit+unlimited).Hours())
	}
	return text
}

// limit sets the time after which the cluster shuts itself down, and uploads the script that
// does it.
func (e *emrCommand) limit(spec *emr.Spec, limit time.Duration) error {
	script := emr.LimitScript()
	at, err := e.put(script)
	if err != nil {
		return err
	}
	spec.Limit, spec.LimitScript = limit, at+"/"+script.Files[0].Name
	return nil
}

// make creates a cluster and records its id immediately: it prints the id, and writes it to a
// file for driver-aws emr status and down.
func (e *emrCommand) make(ctx context.Context, spec *emr.Spec) (*emr.Cluster, error) {
	cluster, err := e.service.Make(ctx, spec)
	if err != nil {
		return nil, err
	}
	e.notify(fmt.Sprintf("creating cluster %s; driver-aws emr down --cluster-id %s terminates it", cluster.ID, cluster.ID))
	if err := remember(made{ID: cluster.ID, Region: e.conf.Region, For: spec.Tags[emr.TagOfRun], Made: time.Now(), Ends: time.Now().Add(spec.Limit)}); err != nil {
		e.notify(fmt.Sprintf("cluster %s was not recorded: %v", cluster.ID, err))
	}
	return cluster, nil
}

// made describes a cluster that was created from this machine. Each is stored in a file.
type made struct {
	ID     string    `json:"id"`
	Region string    `json:"region"`
	For    string    `json:"for"` // the place in S3
	Made   time.Time `json:"made"`
	Ends   time.Time `json:"ends"` // at the latest
}

// madeDir returns the directory of these files.
func madeDir() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "treereduce", "emr"), err
}

// clusterID matches the id of a cluster.
var clusterID = regexp.MustCompile(`^j-[A-Z0-9]+$`)

// remember writes the file of a cluster.
func remember(m made) error {
	dir, err := madeDir()
	if err != nil {
		return err
	}
	if !clusterID.MatchString(m.ID) {
		return fmt.Errorf("cluster %q: expected j-…", m.ID)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, m.ID+".json"), append(text, '\n'), 0o666)
}

// forget removes the file of a cluster that has terminated. If that fails, driver-aws emr status
// asks the service about the cluster again, and retries.
func forget(id string) {
	if dir, err := madeDir(); err == nil && clusterID.MatchString(id) {
		os.Remove(filepath.Join(dir, id+".json"))
	}
}

// rememberedClusters returns the clusters that were created from this machine and are not known
// to have terminated. It calls warn with a line about each file that it cannot read.
func rememberedClusters(warn func(string)) (all []made, err error) {
	dir, err := madeDir()
	if err != nil {
		return nil, nil // without a directory, no cluster was recorded
	}
	names, err := filepath.Glob(filepath.Join(dir, "j-*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		var m made
		if err == nil && (json.Unmarshal(text, &m) != nil || !clusterID.MatchString(m.ID)) {
			err = fmt.Errorf("%s: expected a cluster created from this machine, found %.60q", name, text)
		}
		if err != nil {
			warn(fmt.Sprintf("%v: driver-aws emr down --cluster-id %s ends it if it is alive", err, strings.TrimSuffix(filepath.Base(name), ".json")))
			continue
		}
		all = append(all, m)
	}
	return all, nil
}
