package amazon

import (
	"fmt"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/emr"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// prices are dollars per hour of a node: Amazon EC2, on demand, us-east-1, with the fee of Amazon EMR.
var prices = map[string]float64{
	"m5.xlarge":     0.24,
	"m5.4xlarge":    0.96,
	"m6g.xlarge":    0.193,
	"m6g.4xlarge":   0.77,
	"c6g.4xlarge":   0.68,
	"r6g.4xlarge":   1.008,
	"r6g.16xlarge":  4.032,
	"i3en.2xlarge":  1.13,
	"i3en.6xlarge":  2.982,
	"i3en.12xlarge": 5.694,
	"i3en.24xlarge": 11.118,
}

const (
	pricesOf = "list prices of us-east-1, 2024: check them, or give --price"
	// gbHour is the price of a gigabyte of disk (gp3) per hour, and leastGB the disk that Amazon EMR gives a node.
	gbHour  = 0.08 / 730
	leastGB = 64
	// reserve is how long before the cluster's limit the step is stopped, so that it can stop cleanly.
	reserve = 15 * time.Minute
	// leastLimit is the shortest limit for which creating a cluster makes sense: it needs ten minutes before its step.
	leastLimit = 30 * time.Minute
	// unlimited is the time that is billed in addition to the limit: from the start of the
	// machines to the bootstrap action, and from the shutdown to the end of the machines.
	unlimited = 5 * time.Minute
)

// A cost is what a cluster costs.
type cost struct {
	hourly  float64       // dollars per hour; 0: unknown
	unknown string        // an instance type without a price
	limit   time.Duration // the lifetime of the cluster
}

// costOf returns the cost of a cluster.
func (f *flags) costOf(s *emr.Spec) (*cost, error) {
	k := new(cost)
	worker, master := f.price, f.price
	if worker == 0 {
		worker, master = prices[s.Worker], prices[s.Master]
	}
	switch {
	case worker == 0:
		k.unknown = s.Worker
	case master == 0:
		k.unknown = s.Master
	default:
		k.hourly = float64(s.Nodes)*worker + master
		if f.price == 0 {
			k.hourly += float64(s.Nodes+1) * float64(max(s.EBSGB, leastGB)) * gbHour
		}
	}
	k.limit = hours(f.maxHours)
	if f.maxDollars > 0 {
		if k.unknown != "" {
			return nil, command.Usagef("--max-dollars: no price of %s is known: give --price", k.unknown)
		}
		k.limit = min(k.limit, hours(f.maxDollars/k.hourly)-unlimited)
	}
	if k.limit < leastLimit {
		return nil, command.Usagef("the limit of the cluster is %s, but it needs at least %s (--max-hours, --max-dollars)", max(0, k.limit), leastLimit)
	}
	return k, nil
}

// hours converts a number of hours, rounded down to minutes and limited to a year.
func hours(n float64) time.Duration { return time.Duration(min(n, 24*365)*60) * time.Minute }

// dollars returns the cost of a time; "" if that is not known.
func (k *cost) dollars(d time.Duration) string {
	if k.hourly == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", k.hourly*d.Hours())
}

// text describes the cost of a cluster.
func (k *cost) text(f *flags, s *emr.Spec) string {
	text := fmt.Sprintf("%d × %s and a master (%s)", s.Nodes, s.Worker, s.Master)
	end := fmt.Sprintf("; the cluster ends with the run, at the latest after %s", numfmt.Duration(k.limit))
	if k.hourly == 0 {
		return text + fmt.Sprintf(": no price of %s is known (--price)", k.unknown) + end
	}
	text += ", " + k.dollars(time.Hour) + " per hour"
	if f.price == 0 {
		text += " (" + pricesOf + ")"
	}
	return text + end + ", at " + k.dollars(k.limit+unlimited)
}
