package plan

import (
	"fmt"
	"math"

	"github.com/treereduce/treereduce/internal/numfmt"
)

// Assumptions about clusters and clouds that we have not measured.
const (
	// emrStart is the time from creating an EMR cluster until it runs its first step, in
	// seconds.
	emrStart = 8 * 60
	// emrEBS is the default number of GB of EBS per vCPU that EMR gives to a machine without
	// a disk of its own.
	emrEBS = 16
	// ebsRate is the base rate of a gp3 volume, in bytes per second, without paying for more.
	ebsRate = 125e6
	// nvmeRate is the write rate of an instance's own disk, in bytes per second for each byte
	// of its size: 1 GB/s for one of 7.5 TB.
	nvmeRate = 1e9 / 7.5e12
	// s3Rate is the upload rate of each machine to S3, in bytes per second.
	s3Rate = 300e6
	// s3Part is the number of bytes of one upload request.
	s3Part = 64 << 20
	// stragglers is the time of a job's last task, divided by the mean.
	stragglers = 1.25
	// A map sends a range once for each interval of its input that has moves there. Intervals end at
	// those of the map, and where the blocks that wait to be sent fill its memory: heldMemory bytes, and
	// heldSlot for each slot and heldOpen for each position that is not finished. Each doubling of the
	// number of intervals adds morePieces to the number of times that a range is sent.
	heldMemory = 128 << 20
	heldSlot   = 1.25
	heldOpen   = 4
	morePieces = 0.08
	// passPieces is that number in passes with several maps.
	passPieces = 2
	// pairBytes is what Hadoop and the key add to a range in the shuffle.
	pairBytes = 9.7
	// masterTime is the CPU time of a job's application master, in seconds.
	masterTime = 4.5
	// Jobs on a cluster, and those of the driver beside them, compute all positions. To write the stored half
	// into the table, they need the CPU time of halvingBits bits of a value (Rates.Blocks.Value) for each
	// position.
	halvingBits = 4
	// entryTime is the time of the driver for each range of a tier, in seconds, on one core:
	// it reads the indexes, cuts partitions, and counts what was written.
	entryTime = 100e-9
	// diskUse is the share of a disk that can be filled.
	diskUse = 0.9
	// taskRecords is the number of records that justify a task (runner/streaming).
	taskRecords = 16 << 20
	// pipeTimes is the CPU time of mapper, sort and reducer with lines, divided by that of one
	// process with blocks: 2,034 ns per position instead of 80, for 5×5 connect 4.
	pipeTimes = 25
	// tierSyncs is the number of syncs that the two jobs of a tier wait for.
	tierSyncs = 2
	// cached is the share of a machine's memory that caches recently written data.
	cached = 0.5
)

// SolveTimes is the CPU time of the programs of a solve job of blocks on a cluster, divided by
// ClusterRates.Program times that of one process: their messages have values, and map and reduce both
// read the existing positions.
const SolveTimes = 2.4

// A site is a Where with everything that follows from it.
type site struct {
	Where
	rates       *Rates
	nodes       int     // number of nodes that run tasks
	driver      Machine // runs the driver's process
	parallel    float64 // concurrent tasks
	disk        DiskRates
	hourly      float64 // dollars per hour
	replication float64
	free        float64 // bytes of files that fit; 0: unknown
}

// onCluster reports whether the runner uses Hadoop.
func (s *site) onCluster() bool { return s.Runner == Hadoop || s.Runner == EMR }

// sends reports whether a job runs on the cluster.
func (s *site) sends(j *job) bool { return s.onCluster() && j.reads > s.Above }

// replication returns the default number of copies in HDFS on EMR.
func replication(nodes int) int {
	switch {
	case nodes < 4:
		return 1
	case nodes < 10:
		return 2
	}
	return 3
}

// hadoopCopies is the default number of copies (dfs.replication) of a Hadoop that is not EMR;
// there is at most one copy per node.
const hadoopCopies = 3

// copies returns the number of copies of a file that this many nodes keep.
func (w Where) copies(nodes float64) float64 {
	switch {
	case w.Replication > 0:
		return float64(w.Replication)
	case w.Runner == Hadoop && (w.Cluster == nil || !w.Cluster.EMR):
		return min(hadoopCopies, nodes)
	}
	return float64(replication(int(min(nodes, 100))))
}

// priced returns the price per hour of an instance with this many GB of EBS, with or without EMR's
// surcharge. If price is not 0, it replaces the list price.
func priced(i Instance, ebsGB float64, emr bool, price float64) float64 {
	hourly := i.Price
	if emr {
		hourly += i.surcharge()
	}
	if price > 0 {
		hourly = price
	}
	return hourly + ebsGB*ebsMonth/monthHours
}

// MachineOf returns a machine for rent with this many GB of EBS, at its list price, or at
// price if that is not 0.
func MachineOf(i Instance, ebsGB, price float64) Machine {
	return Machine{
		Name: i.Name, Cores: i.VCPU, MemoryBytes: i.Memory, DiskBytes: i.Disk + ebsGB*1e9, NetworkBytes: i.Network,
		DollarsPerHour: priced(i, ebsGB, false, price),
	}
}

// site computes the properties of a Where.
func (w Where) site(r *Rates) (*site, error) {
	s := &site{Where: w, rates: r, nodes: max(1, w.Nodes), disk: r.Disk}
	switch w.Runner {
	case Inline, Pipe, Hadoop, EMR:
	default:
		return nil, fmt.Errorf("runner %q: expected %s, %s, %s or %s", w.Runner, Inline, Pipe, Hadoop, EMR)
	}
	if c := w.Cluster; c != nil {
		node, ok := InstanceNamed(c.Instance)
		if !ok {
			return nil, UnknownInstance(c.Instance)
		}
		master := node
		if c.Master != "" {
			if master, ok = InstanceNamed(c.Master); !ok {
				return nil, UnknownInstance(c.Master)
			}
		}
		if c.Nodes < 1 || c.SpotNodes < 0 {
			return nil, fmt.Errorf("%d nodes and %d spot nodes: expected 1 or more, and 0 or more", c.Nodes, c.SpotNodes)
		}
		if c.EMR && c.EBSGB == 0 && node.Disk == 0 {
			filled := *c
			filled.EBSGB = emrEBS * float64(node.VCPU)
			c, s.Cluster = &filled, &filled
		}
		s.Machine = MachineOf(node, c.EBSGB, c.Price)
		s.driver = MachineOf(master, c.EBSGB, 0)
		s.Nodes, s.nodes = c.Nodes, c.Nodes+c.SpotNodes
		price := 0.0
		if c.Master == "" {
			price = c.Price
		}
		s.hourly = float64(s.nodes)*priced(node, c.EBSGB, c.EMR, c.Price) + priced(master, c.EBSGB, c.EMR, price)
	} else {
		s.driver = s.Machine
		s.hourly = s.Machine.DollarsPerHour * float64(s.nodes)
	}
	if s.Machine.Cores < 1 {
		return nil, fmt.Errorf("%d cores: expected 1 or more", s.Machine.Cores)
	}
	if i, ok := InstanceNamed(s.Machine.Name); ok {
		s.disk.Write, s.disk.Read = ebsRate, ebsRate
		if i.Disk > 0 {
			s.disk.Write, s.disk.Read = i.Disk*nvmeRate, 2*i.Disk*nvmeRate
		}
	}
	s.replication = 1
	if s.onCluster() {
		s.replication = s.copies(float64(max(1, s.Where.Nodes)))
	}
	s.parallel = float64(s.nodes * s.Machine.Cores)
	if s.onCluster() {
		s.parallel = max(1, s.parallel-2) // reserved for the application masters of a job and of the one that is just ending
	}
	withData := float64(max(1, s.Where.Nodes))
	s.free = s.Machine.DiskBytes * withData * diskUse / s.replication
	if !s.onCluster() {
		s.free = s.Machine.DiskBytes
	}
	return s, nil
}

// DollarsPerHour returns the price of a cluster per hour, from the table or its own Price. It
// returns an error if the instance types are not in the table.
func (c Cluster) DollarsPerHour() (float64, error) {
	s, err := Where{Runner: EMR, Cluster: &c}.site(Builtin())
	if err != nil {
		return 0, err
	}
	return s.hourly, nil
}

// UnknownInstance returns the error for a type that is not in the table.
func UnknownInstance(name string) error {
	var names []string
	for _, i := range instances {
		names = append(names, i.Name)
	}
	return fmt.Errorf("instance type %q is not in the table: expected one of %v; describe another one with --cores, --memory, --disk and --price", name, names)
}

// A cost is the cost of a work at a site.
type cost struct {
	cpu, wall, dollars, memory float64
	tiers                      []tierCost
	parts                      []Part
	jobs                       int // jobs on the cluster
	problems                   []Problem
}

// A tierCost is the cost of a tier: seconds, dollars, bytes.
type tierCost struct{ cpu, wall, dollars, memory, shuffled float64 }

// Parts of the wall time of a run.
const (
	atWork    = "CPU, on all cores"
	alone     = "CPU, on one core"
	onDisk    = "waiting for the disk"
	inSync    = "syncs"
	starting  = "start of jobs and tasks"
	shuffling = "network: shuffle and copies of files"
	copying   = "copy to S3, beyond the rest"
	preparing = "start of the cluster"
)

// at returns the cost of the work at a site.
func (w *work) at(s *site) *cost {
	c := &cost{tiers: make([]tierCost, len(w.tiers))}
	parts := make(map[string]float64)
	add := func(name string, seconds float64) float64 { parts[name] += seconds; return seconds }
	c.cpu = w.start
	c.wall = add(alone, w.start+s.rates.Process)
	c.memory = w.memory(s, -1)
	for i := range w.tiers {
		t, tc := &w.tiers[i], &c.tiers[i]
		tc.memory = w.memory(s, i)
		wall := 0.0 // after the loop, that of the job back
		for _, j := range []*job{&t.forward, &t.back} {
			cpu := 0.0
			if s.sends(j) {
				cpu, wall = w.onCluster(s, t, j, add)
				tc.shuffled += w.shuffled(s, j)
				c.jobs++
			} else {
				cpu, wall = w.inProcess(s, j, add)
				if s.Runner == Pipe {
					tc.shuffled += j.sent * float64(w.key+4)
				}
			}
			tc.cpu += cpu
			tc.wall += wall
		}
		if s.onCluster() && t.stored > 0 && t.kept > 0 {
			halving := 1e-9 * halvingBits * s.rates.Blocks.Value * t.Positions
			tc.cpu += halving
			if s.sends(&t.back) { // the reducers of the job do it
				tc.wall += add(atWork, halving*stragglers/s.tasks(t.back.reads))
			} else { // the driver does it while the next job runs
				halving /= float64(s.driver.Cores)
				tc.wall += add(atWork, max(0, halving-wall))
				if s.driver.NetworkBytes > 0 {
					read := t.back.out - t.kept // it writes less, in the other direction
					tc.wall += add(shuffling, max(0, read/s.driver.NetworkBytes-max(wall, halving)))
				}
			}
		}
		tc.wall += add(inSync, tierSyncs*s.disk.Sync)
		c.cpu += tc.cpu
		c.wall += tc.wall
	}
	if s.Runner == EMR {
		c.wall += add(preparing, emrStart)
	}
	var work, kept float64 // bytes that are copied to S3
	if s.Cluster != nil && s.Cluster.CopyToS3 {
		work, kept = w.bytes()
		c.wall += add(copying, max(0, (work+kept)/(s3Rate*float64(s.nodes))-c.wall))
	}
	for _, name := range []string{preparing, atWork, alone, onDisk, inSync, starting, shuffling, copying} {
		if parts[name] > 0 {
			c.parts = append(c.parts, Part{name, parts[name] / 3600})
		}
	}
	c.dollars = s.hourly * c.wall / 3600
	if work+kept > 0 {
		// The table is paid for one month; the data for later steps is deleted by the end of the run.
		c.dollars += s3Month/1e9*(kept+work*c.wall/3600/monthHours) + (work+kept)/s3Part*s3Put/1000
	}
	for i := range c.tiers {
		c.tiers[i].dollars = c.dollars * c.tiers[i].wall / c.wall
	}
	c.problems = w.problems(s, c)
	return c
}

// bytes returns the size of the directories that later steps need, and of the table.
func (w *work) bytes() (work, kept float64) {
	for _, t := range w.tiers {
		work, kept = work+t.work, kept+t.kept
	}
	return work, kept
}

// inProcess returns the time of a job in one process, or in the processes of pipe.
func (w *work) inProcess(s *site, j *job, add func(string, float64) float64) (cpu, wall float64) {
	cpu = j.cpu
	if s.Runner == Pipe {
		cpu *= pipeTimes
	}
	one := cpu * s.rates.Serial
	all := (cpu - one) / float64(s.driver.Cores)
	wall = add(alone, one) + add(atWork, all)
	// If it fits into memory, recently written data is read from the cache.
	read := j.in
	if read < s.driver.MemoryBytes*cached {
		read = 0
	}
	return cpu, wall + add(onDisk, max(0, s.replication*j.out/s.disk.Write+read/s.disk.Read-wall))
}

// tasks returns the number of tasks of each phase of a job.
func (s *site) tasks(reads float64) float64 {
	return min(s.parallel, 1+math.Floor(reads/taskRecords))
}

// onCluster returns the time of a job on the cluster.
func (w *work) onCluster(s *site, t *tier, j *job, add func(string, float64) float64) (cpu, wall float64) {
	r := &s.rates.Cluster
	tasks := s.tasks(j.reads)
	programs := j.cpu * r.Program
	if w.method == blocks && j == &t.back {
		programs *= SolveTimes
	}
	if tasks == 1 {
		start := r.Uber
		if j.reads > taskRecords {
			start = r.Job
		}
		cpu = programs + r.Client + masterTime + r.Pair*1e-9*j.pairs
		return cpu, add(starting, start) + add(alone, programs+r.Pair*1e-9*j.pairs)
	}
	java := r.Pair * 1e-9 * j.pairs * w.pieces(s, j)
	cpu = programs + java + 2*tasks*r.Task + r.Client + masterTime
	wall = add(starting, r.Job+2*r.Task*math.Ceil(tasks/s.parallel)) + add(atWork, (programs+java)*stragglers/tasks) + add(alone, entryTime*(2*t.Cells))
	if s.Machine.NetworkBytes > 0 && s.nodes > 1 {
		moved := w.shuffled(s, j) + j.in + j.out*(s.replication-1)
		wall += add(shuffling, moved/(s.Machine.NetworkBytes*float64(s.nodes)))
	}
	nodes := float64(max(1, s.Where.Nodes))
	return cpu, wall + add(onDisk, max(0, (j.out*s.replication/s.disk.Write+j.in/s.disk.Read)/nodes-wall))
}

// pieces returns how often a job sends each range, on average.
func (w *work) pieces(s *site, j *job) float64 {
	tasks := s.tasks(j.reads)
	switch {
	case w.method == blocks:
		return 1 + morePieces*math.Log2(tasks+j.held/heldMemory)
	case w.method == states && tasks > 1:
		return passPieces
	}
	return 1
}

// shuffled returns the number of bytes that a job sends through the cluster's shuffle.
func (w *work) shuffled(s *site, j *job) float64 {
	bytes := j.bytes
	if w.method == blocks {
		bytes += pairBytes * j.pairs
	}
	return bytes * w.pieces(s, j)
}

// problems returns what does not fit.
func (w *work) problems(s *site, c *cost) (all []Problem) {
	if has, need := s.driver.MemoryBytes, s.fits(c.memory); has > 0 && need > has {
		daemons := ""
		if s.Cluster != nil {
			daemons = fmt.Sprintf(" and %s for Hadoop's daemons", numfmt.Bytes(masterMemory))
		}
		all = append(all, Problem{"memory", need, has,
			fmt.Sprintf("the driver needs about %s of memory, and a machine %v times that%s: %s; %s has %s: use a larger machine, or --until-tier",
				numfmt.Bytes(c.memory), memoryMargin, daemons, numfmt.Bytes(need), s.driver.Name, numfmt.Bytes(has))})
	}
	if peak := w.peak(); s.free > 0 && peak > s.free {
		text := fmt.Sprintf("the peak on the disk is %s; %s has %s free: ", numfmt.Bytes(peak), s.Machine.Name, numfmt.Bytes(s.free))
		if s.onCluster() {
			nodes := float64(max(1, s.Where.Nodes))
			// With more nodes, HDFS may keep more copies, so that still more nodes are needed;
			// there are at most three copies.
			for {
				least := math.Ceil(peak * s.copies(nodes) / (s.Machine.DiskBytes * diskUse))
				if least <= nodes {
					break
				}
				nodes = least
			}
			text = fmt.Sprintf("the peak in HDFS is %s, in %.0f copies; %d nodes have space for %s: use %.0f nodes, or disks of %s per node",
				numfmt.Bytes(peak), s.replication, max(1, s.Where.Nodes), numfmt.Bytes(s.free), nodes, numfmt.Bytes(peak*s.replication/diskUse/float64(max(1, s.Where.Nodes))))
		} else {
			text += "use a larger disk, or a cluster"
		}
		all = append(all, Problem{"disk", peak, s.free, text})
	}
	return all
}
