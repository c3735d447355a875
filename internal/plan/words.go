package plan

import (
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/internal/numfmt"
)

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
			text += fmt.Sprintf(", %d spot nodes", c.SpotNodes)
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
		add("a cluster takes %d minutes to start; each machine uploads %s per second to S3", emrStart/60, numfmt.Bytes(s3Rate))
	}
	if s.Cluster != nil && s.Cluster.CopyToS3 {
		work, kept := w.bytes()
		add("the table stays in AWS: transferring it out costs $%.2f, at $%v per gigabyte", kept/1e9*outGB, outGB)
		add("the VPC has a gateway endpoint for S3, which is free: through a NAT gateway the copy costs $%.2f more, at $%v per gigabyte", (work+kept)/1e9*natGB, natGB)
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
