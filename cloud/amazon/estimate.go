package amazon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/plan/measure"
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
	of.perHour, of.why = cluster.dollarsPerHour()
	return of
}

// clusterOf returns the cluster that is to be created.
func (e *emrCommand) clusterOf(s *emr.Spec) priced {
	return priced{Spec: s, price: e.flags.price}
}

// estimate plans the run, and computes the limit of its cluster.
func (r *emrSolve) estimate(ctx context.Context) (*emrEstimate, error) {
	e := r.prices(r.spec)
	need := 0.0
	if e.why == nil {
		node, _ := instanceNamed(r.spec.Worker)
		nodes := r.spec.Core + r.spec.Spot
		var err error
		e.plan, err = measure.Plan(ctx, r.run.Kind, r.g, plan.Where{
			Runner: plan.Hadoop, Nodes: nodes, Cores: node.VCPU, Price: e.perHour / float64(nodes), Above: float64(r.above),
		}, count.Options{Progress: r.bar.Doing})
		r.bar.End()
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
	on := cluster.String()
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
			text += " (" + pricesOf + ")"
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

// A priced cluster has a price for an hour of a node, 0 for the list price.
type priced struct {
	*emr.Spec
	price float64
}

// String describes the cluster in words.
func (c priced) String() string {
	text := fmt.Sprintf("%d × %s", c.Core, c.Worker)
	if c.EBSGB > 0 {
		text += fmt.Sprintf(" with %s of EBS each", numfmt.Bytes(float64(c.EBSGB)*1e9))
	}
	if c.Spot > 0 {
		text += fmt.Sprintf(", %d spot nodes", c.Spot)
	}
	return fmt.Sprintf("%s and a master (%s)", text, c.Master)
}

// dollarsPerHour returns the price of the cluster, or an error if a type is not in the table.
func (c priced) dollarsPerHour() (sum float64, err error) {
	for _, of := range []struct {
		name  string
		count int
	}{{c.Worker, c.Core + c.Spot}, {c.Master, 1}} {
		i, ok := instanceNamed(of.name)
		if !ok {
			return 0, fmt.Errorf("instance type %q is not in the table", of.name)
		}
		disk := float64(c.EBSGB)
		if worker, _ := instanceNamed(c.Worker); disk == 0 && worker.Disk == 0 {
			disk = emrEBS * float64(worker.VCPU)
		}
		hourly := i.Price + i.surcharge()
		if c.price > 0 && of.name == c.Worker {
			hourly = c.price
		}
		sum += float64(of.count) * (hourly + disk*ebsMonth/monthHours)
	}
	return sum, nil
}

// An instance is a type of machine for rent.
type instance struct {
	Name    string
	VCPU    int
	Memory  float64 // bytes
	Disk    float64 // bytes of its own disks, whose data is lost with the instance; 0: none
	Network float64 // bytes per second, sustained
	Price   float64 // dollars per hour, on demand
	ARM     bool    // requires binaries for arm64
}

const (
	gib = 1 << 30
	// gbit is one gigabit per second, in bytes.
	gbit = 1e9 / 8
)

// instances are list prices of Amazon EC2, us-east-1, Linux, on demand, as known in 2024. They
// change, and must be checked against https://aws.amazon.com/ec2/pricing/on-demand/ before
// money is spent (--price overrides them). The network rate is the baseline, not the burst.
var instances = []instance{
	{"m5.xlarge", 4, 16 * gib, 0, 1.25 * gbit, 0.192, false},
	{"m5.4xlarge", 16, 64 * gib, 0, 5 * gbit, 0.768, false},
	{"m6g.xlarge", 4, 16 * gib, 0, 1.25 * gbit, 0.154, true},
	{"m6g.4xlarge", 16, 64 * gib, 0, 5 * gbit, 0.616, true},
	{"c6g.4xlarge", 16, 32 * gib, 0, 5 * gbit, 0.544, true},
	{"r6g.4xlarge", 16, 128 * gib, 0, 5 * gbit, 0.8064, true},
	{"r6g.16xlarge", 64, 512 * gib, 0, 25 * gbit, 3.2256, true},
	{"i3en.2xlarge", 8, 64 * gib, 2 * 2500e9, 8.4 * gbit, 0.904, false},
	{"i3en.6xlarge", 24, 192 * gib, 2 * 7500e9, 25 * gbit, 2.712, false},
	{"i3en.12xlarge", 48, 384 * gib, 4 * 7500e9, 50 * gbit, 5.424, false},
	{"i3en.24xlarge", 96, 768 * gib, 8 * 7500e9, 100 * gbit, 10.848, false},
}

// pricesOf describes source and date of the prices in the table.
const pricesOf = "list prices of Amazon EC2, us-east-1, on demand, as known in 2024: check them, or give --price"

const (
	// emrSurcharge is EMR's surcharge as a share of a machine's on-demand price, and emrMost
	// its maximum in dollars per hour, for the x86 families of the table: EMR's price list of
	// 2024.
	emrSurcharge = 0.25
	emrMost      = 0.27
	// ebsMonth is the price of a gigabyte of EBS (gp3) per month; the same list.
	ebsMonth = 0.08
	// emrEBS is the default number of GB of EBS per vCPU that EMR gives to a machine without a disk of its own.
	emrEBS = 16
	// monthHours is the number of hours that a month is charged for.
	monthHours = 730
)

// surcharge returns EMR's surcharge per hour.
func (i instance) surcharge() float64 {
	if i.ARM {
		return i.Price * emrSurcharge
	}
	return min(i.Price*emrSurcharge, emrMost)
}

// instanceNamed returns the type with this name; ok is false if the table has none.
func instanceNamed(name string) (i instance, ok bool) {
	at := slices.IndexFunc(instances, func(i instance) bool { return i.Name == name })
	if at < 0 {
		return i, false
	}
	return instances[at], true
}
