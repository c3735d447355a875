package plan

import (
	"fmt"
	"math"
)

// What is assumed of clusters and clouds, and not measured by us.
const (
	// emrStart is how long a cluster of EMR takes until it runs its first step, in seconds.
	emrStart = 8 * 60
	// emrEBS is how many GB of EBS EMR gives to a machine without a disk of its own for each
	// vCPU, if nothing is said.
	emrEBS = 16
	// ebsRate is what a gp3 volume moves, in bytes a second, as long as no more is paid for.
	ebsRate = 125e6
	// nvmeRate is what a disk of an instance's own writes, in bytes a second for each byte of
	// its size: 1 GB/s for one of 7.5 TB.
	nvmeRate = 1e9 / 7.5e12
	// s3Rate is what one machine puts into S3, in bytes a second.
	s3Rate = 300e6
	// s3Part is how much a request puts there, in bytes.
	s3Part = 64 << 20
	// stragglers is how much longer the last task of a job takes than the mean.
	stragglers = 1.25
	// pieces is how many maps speak to the same range, if there are many.
	pieces = 2
	// entryTime is what the driver takes for a range of a tier, in seconds, one after the
	// other: it reads the indexes, cuts shares, counts what was written.
	entryTime = 100e-9
	// diskUse is how much of a disk can be filled.
	diskUse = 0.9
	// taskRecords is how many records are worth a task (runner/streaming).
	taskRecords = 16 << 20
	// pipeTimes is how much more CPU mapper, sort and reducer take for lines than one process
	// for blocks: 2,034 ns a position for 80, of 5×5 connect 4.
	pipeTimes = 25
	// tierSyncs is for how many syncs the two jobs of a tier wait.
	tierSyncs = 2
	// cached is how much of a machine's memory keeps what was just written.
	cached = 0.5
)

// A site is where, with what follows from it.
type site struct {
	Where
	rates       *Rates
	nodes       int     // that run tasks
	driver      Machine // which has the driver's process
	parallel    float64 // tasks at a time
	disk        DiskRates
	hourly      float64 // dollars
	replication float64
	room        float64 // bytes of files for which there is place; 0: not known
}

// onCluster reports whether there is a Hadoop.
func (s *site) onCluster() bool { return s.Runner == Hadoop || s.Runner == EMR }

// replication is how many copies HDFS on EMR keeps by default.
func replication(nodes int) int {
	switch {
	case nodes < 4:
		return 1
	case nodes < 10:
		return 2
	}
	return 3
}

// hadoopCopies is how many copies of a file a Hadoop keeps that is not EMR's, if nothing is
// said (dfs.replication); one on a node.
const hadoopCopies = 3

// copies is how many copies of a file so many nodes keep.
func (w Where) copies(nodes float64) float64 {
	switch {
	case w.Replication > 0:
		return float64(w.Replication)
	case w.Runner == Hadoop && (w.Cluster == nil || !w.Cluster.EMR):
		return min(hadoopCopies, nodes)
	}
	return float64(replication(int(min(nodes, 100))))
}

// priced is what an hour of an instance costs, with so many GB of EBS: on demand, or spot, and
// with EMR's surcharge or without; price instead of the list's, if it is not 0.
func priced(i Instance, ebsGB float64, spot, emr bool, price float64) float64 {
	hourly := i.Price
	if spot {
		hourly *= spotPrice
	}
	if emr {
		hourly += i.surcharge()
	}
	if price > 0 {
		hourly = price
		if spot {
			hourly *= spotPrice
		}
	}
	return hourly + ebsGB*ebsMonth/monthHours
}

// MachineOf is a machine for rent with so many GB of EBS, at its list price or, if it is not
// 0, at this one.
func MachineOf(i Instance, ebsGB, price float64) Machine {
	return Machine{
		Name: i.Name, Cores: i.VCPU, MemoryBytes: i.Memory, DiskBytes: i.Disk + ebsGB*1e9, NetworkBytes: i.Network,
		DollarsPerHour: priced(i, ebsGB, false, false, price),
	}
}

// site looks at where a game is to be solved.
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
		s.Nodes = c.Nodes
		s.nodes = c.Nodes + c.SpotNodes
		price := 0.0
		if c.Master == "" {
			price = c.Price
		}
		s.hourly = float64(c.Nodes)*priced(node, c.EBSGB, false, c.EMR, c.Price) +
			float64(c.SpotNodes)*priced(node, 0, true, c.EMR, c.Price) + priced(master, c.EBSGB, false, c.EMR, price)
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
	if s.onCluster() && s.nodes > 1 {
		s.parallel = max(1, s.parallel-2) // the application masters of a job and of the one that just ends
	}
	withData := float64(max(1, s.Where.Nodes))
	s.room = s.Machine.DiskBytes * withData * diskUse / s.replication
	if !s.onCluster() {
		s.room = s.Machine.DiskBytes
	}
	return s, nil
}

// UnknownInstance is the error of a type that the table does not have.
func UnknownInstance(name string) error {
	var names []string
	for _, i := range instances {
		names = append(names, i.Name)
	}
	return fmt.Errorf("instance type %q is not in the table: expected one of %v; of another, give --cores, --memory, --disk and --price", name, names)
}

// A cost is what a work costs at a site.
type cost struct {
	cpu, wall, dollars, memory float64
	tiers                      []tierCost
	parts                      []Part
	jobs                       int // of the cluster
	problems                   []Problem
}

// A tierCost is what a tier costs: seconds, dollars, bytes.
type tierCost struct{ cpu, wall, dollars, memory, shuffled float64 }

// Parts of the time of a run.
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

// at is what the work costs at a site.
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
		for _, j := range []*job{&t.forward, &t.back} {
			cpu, wall := 0.0, 0.0
			if s.onCluster() && j.reads > s.Above {
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
		tc.wall += add(inSync, tierSyncs*s.disk.Sync)
		c.cpu += tc.cpu
		c.wall += tc.wall
	}
	if s.Runner == EMR {
		c.wall += add(preparing, emrStart)
	}
	var work, kept float64 // bytes that go to S3
	if s.Cluster != nil && s.Cluster.CopyToS3 {
		work, kept = w.bytes()
		c.wall += add(copying, max(0, (work+kept)/s3Rate-c.wall))
	}
	for _, name := range []string{preparing, atWork, alone, onDisk, inSync, starting, shuffling, copying} {
		if parts[name] > 0 {
			c.parts = append(c.parts, Part{name, parts[name] / 3600})
		}
	}
	c.dollars = s.hourly * c.wall / 3600
	if work+kept > 0 {
		months := s.Cluster.S3Months
		if months == 0 {
			months = 1
		}
		// What later steps need is removed by the end of the run.
		c.dollars += s3Month/1e9*(kept*months+work*c.wall/3600/monthHours) + (work+kept)/s3Part*s3Put/1000
	}
	for i := range c.tiers {
		c.tiers[i].dollars = c.dollars * c.tiers[i].wall / c.wall
	}
	c.problems = w.problems(s, c)
	return c
}

// bytes are those of the directories that later steps need, and of the table.
func (w *work) bytes() (work, kept float64) {
	for _, t := range w.tiers {
		work, kept = work+t.work, kept+t.kept
	}
	return work, kept
}

// inProcess is what a job takes in one process, or in those of pipe.
func (w *work) inProcess(s *site, j *job, add func(string, float64) float64) (cpu, wall float64) {
	cpu = j.cpu
	if s.Runner == Pipe {
		cpu *= pipeTimes
	}
	one := cpu * s.rates.Serial
	all := (cpu - one) / float64(s.driver.Cores)
	wall = add(alone, one) + add(atWork, all)
	// What was just written is read out of memory, if that is large enough.
	read := j.in
	if read < s.driver.MemoryBytes*cached {
		read = 0
	}
	return cpu, wall + add(onDisk, max(0, s.replication*j.out/s.disk.Write+read/s.disk.Read-wall))
}

// tasks is how many tasks a side of a job is cut into.
func (s *site) tasks(reads float64) float64 {
	return min(s.parallel, 1+math.Floor(reads/taskRecords))
}

// onCluster is what a job takes on the cluster.
func (w *work) onCluster(s *site, t *tier, j *job, add func(string, float64) float64) (cpu, wall float64) {
	r := &s.rates.Cluster
	tasks := s.tasks(j.reads)
	programs := j.cpu * r.Program
	if tasks == 1 {
		start := r.Uber
		if j.reads > taskRecords {
			start = r.Job
		}
		cpu = programs + r.Client + r.Pair*1e-9*j.pairs
		return cpu, add(starting, start) + add(alone, programs+r.Pair*1e-9*j.pairs)
	}
	java := r.Pair * 1e-9 * j.pairs * pieces
	cpu = programs + java + 2*tasks*r.Task + r.Client
	wall = add(starting, r.Job+2*r.Task*math.Ceil(tasks/s.parallel)) + add(atWork, (programs+java)*stragglers/tasks) + add(alone, entryTime*(2*t.Cells))
	if s.Machine.NetworkBytes > 0 && s.nodes > 1 {
		moved := w.shuffled(s, j) + j.in + j.out*(s.replication-1)
		wall += add(shuffling, moved/(s.Machine.NetworkBytes*float64(s.nodes)))
	}
	nodes := float64(max(1, s.Where.Nodes))
	return cpu, wall + add(onDisk, max(0, (j.out*s.replication/s.disk.Write+j.in/s.disk.Read)/nodes-wall))
}

// shuffled is how many bytes a job sends through the shuffle of the cluster.
func (w *work) shuffled(s *site, j *job) float64 {
	if s.tasks(j.reads) == 1 || w.method == lists {
		return j.bytes
	}
	return j.bytes * pieces
}

// problems are what does not fit.
func (w *work) problems(s *site, c *cost) (all []Problem) {
	if has, need := s.driver.MemoryBytes, s.fits(c.memory); has > 0 && need > has {
		daemons := ""
		if s.Cluster != nil {
			daemons = fmt.Sprintf(" and %s for Hadoop's daemons", Bytes(masterMemory))
		}
		all = append(all, Problem{"memory", need, has,
			fmt.Sprintf("the driver takes about %s of memory, and a machine needs %v times that%s: %s; %s has %s: take a machine with that much, or give --until-tier",
				Bytes(c.memory), memoryMargin, daemons, Bytes(need), s.driver.Name, Bytes(has))})
	}
	if peak := w.peak(); s.room > 0 && peak > s.room {
		text := fmt.Sprintf("%s are on the disk at the peak; %s has %s free: ", Bytes(peak), s.Machine.Name, Bytes(s.room))
		if s.onCluster() {
			nodes := float64(max(1, s.Where.Nodes))
			// More nodes may keep more copies, and need more again: three at most.
			for {
				least := math.Ceil(peak * s.copies(nodes) / (s.Machine.DiskBytes * diskUse))
				if least <= nodes {
					break
				}
				nodes = least
			}
			text = fmt.Sprintf("%s are in HDFS at the peak, %.0f times; %d nodes have room for %s: %.0f nodes have it, or disks of %s a node",
				Bytes(peak), s.replication, max(1, s.Where.Nodes), Bytes(s.room), nodes, Bytes(peak*s.replication/diskUse/float64(max(1, s.Where.Nodes))))
		} else {
			text += "a disk with that much, or a cluster"
		}
		all = append(all, Problem{"disk", peak, s.room, text})
	}
	return all
}

// Bytes writes a number of bytes for people: "3.4 TB".
func Bytes(n float64) string {
	digits, prefix := Scaled(n)
	return digits + " " + prefix + "B"
}

// Scaled is a number in three digits, and the prefix of its unit: "3.4" and "T".
func Scaled(n float64) (digits, prefix string) {
	for _, prefix := range []string{"", "k", "M", "G", "T"} {
		if n < 999.5 {
			return fmt.Sprintf("%.3g", n), prefix
		}
		n /= 1000
	}
	return fmt.Sprintf("%.4g", n), "P"
}
