package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// offered are the numbers of EMR nodes that cheapest tries.
var offered = []int{2, 4, 8, 16, 32, 64}

// ebsStep is the unit in which network disks are rented, in GB.
const ebsStep = 100

// cheapest returns the cheapest offer from the table for the runner of the site: one machine,
// or a cluster. It returns nil if none fits.
func (w *work) cheapest(s *site, r *Rates) *Offer {
	var best *Offer
	try := func(where Where) {
		where.Above, where.LeastMemory, where.Small = s.Above, s.LeastMemory, s.Small
		at, err := where.site(r)
		if err != nil {
			return
		}
		c := w.at(at)
		if len(c.problems) == 0 && (best == nil || c.dollars < best.Dollars) {
			best = &Offer{Where: at.Where, Hours: c.wall / 3600, Dollars: c.dollars}
		}
	}
	for _, i := range instances {
		if !s.onCluster() {
			try(Where{Runner: s.Runner, Nodes: 1, Machine: MachineOf(i, ebsFor(w.peak()-i.Disk), 0)})
			continue
		}
		for _, n := range offered {
			need := w.peak() * float64(replication(n)) / diskUse / float64(n)
			try(Where{Runner: EMR, Cluster: &Cluster{Instance: i.Name, Nodes: n, Master: w.masterFor(i, s), EBSGB: ebsFor(need - i.Disk), EMR: true, CopyToS3: true}})
		}
	}
	return best
}

// masterFor returns the cheapest type with enough memory for the driver. It must have the same
// processor architecture as the nodes, because the binaries are the same. "" means the type of
// the nodes, or that no type has enough memory.
func (w *work) masterFor(node Instance, s *site) string {
	best := Instance{Price: math.Inf(1)}
	for _, i := range append([]Instance{node}, instances...) {
		master := &site{Where: Where{Runner: EMR, Above: s.Above, LeastMemory: s.LeastMemory, Cluster: &Cluster{}}, driver: Machine{Cores: i.VCPU}}
		if i.ARM != node.ARM || i.Memory < master.fits(w.memory(master, -1)) {
			continue
		}
		if i == node {
			return ""
		}
		if i.Price < best.Price {
			best = i
		}
	}
	return best.Name
}

// ebsFor returns the number of GB to rent for this many bytes.
func ebsFor(bytes float64) float64 {
	return max(0, math.Ceil(1.02*bytes/1e9/ebsStep)*ebsStep)
}

// String describes the place in words.
func (w Where) String() string {
	switch {
	case w.Cluster != nil:
		c := w.Cluster
		text := fmt.Sprintf("%d × %s", c.Nodes, c.Instance)
		if c.EBSGB > 0 {
			text += fmt.Sprintf(" with %s of EBS each", numfmt.Bytes(c.EBSGB*1e9))
		}
		if c.SpotNodes > 0 {
			text += fmt.Sprintf(", %d on the spot market", c.SpotNodes)
		}
		master := c.Master
		if master == "" {
			master = c.Instance
		}
		return fmt.Sprintf("%s and a master (%s)", text, master)
	case w.Nodes > 1:
		return fmt.Sprintf("%d × %s", w.Nodes, w.Machine)
	}
	return w.Machine.String()
}

// String describes the machine in words.
func (m Machine) String() string {
	text := fmt.Sprintf("%s: %d cores", m.Name, m.Cores)
	if m.MemoryBytes > 0 {
		text += fmt.Sprintf(", %s of memory", numfmt.Bytes(m.MemoryBytes))
	}
	if m.DiskBytes > 0 {
		text += fmt.Sprintf(", %s of disk", numfmt.Bytes(m.DiskBytes))
	}
	return text
}

// assumed lists what was not measured, for a plan with this many jobs on the cluster.
func (w *work) assumed(s *site, jobs int) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	_, rented := InstanceNamed(s.Machine.Name)
	if rented {
		add("a vCPU of %s is as fast as a core of the measured machine", s.Machine.Name)
		if slices.ContainsFunc(instances, func(i Instance) bool { return i.Name == s.Machine.Name && i.Disk == 0 }) {
			add("an EBS volume transfers %s per second", numfmt.Bytes(ebsRate))
		}
		add("%s", PricesOf)
	}
	if s.Machine.Cores > s.rates.Cores && !s.onCluster() {
		add("on %d cores, %.1f%% of the CPU time is on one core alone, as on %d", s.Machine.Cores, 100*s.rates.Serial, s.rates.Cores)
	}
	if jobs > 0 {
		add("the last task of a job takes %v times as long as the mean", stragglers)
		if s.nodes > 1 && s.Machine.NetworkBytes == 0 {
			add("no job waits for the network between the nodes")
		}
	}
	if s.Runner == EMR {
		add("a cluster takes %d minutes to start; one machine uploads %s per second to S3", emrStart/60, numfmt.Bytes(s3Rate))
	}
	if s.Cluster != nil && s.Cluster.CopyToS3 {
		work, kept := w.bytes()
		add("the table stays in AWS: transferring it out costs $%.2f, at $%v per gigabyte", kept/1e9*outGB, outGB)
		add("the VPC has a gateway endpoint for S3, which is free: through a NAT gateway the copy costs $%.2f more, at $%v per gigabyte", (work+kept)/1e9*natGB, natGB)
	}
	if s.Cluster != nil && s.Cluster.SpotNodes > 0 {
		add("a spot node costs %.0f%% of an on-demand node, and none is interrupted", 100*spotPrice)
	}
	switch {
	case w.method == lists:
		add("keys are as close to one another as those of Mancala and m,n,k tic-tac-toe")
	case w.method == states:
		add("retrograde passes find as many positions as forward passes, and positions take as many bytes as those of Quick Cross")
	}
	if s.Runner == Pipe {
		add("lines take %d times the CPU of blocks, as for 5×5 connect 4", pipeTimes)
	}
	return all
}
