// Package plan estimates the cost of solving a game before the run: the number of positions of
// each tier (computed by package plan/count); their bytes on disk, in memory and in the
// shuffle; hours of CPU and of wall time; and dollars. It reports what does not fit and what
// would make it fit, and finds the cheapest of the machines that it knows.
//
// The package knows the rules of games, counts, rates, and a table of prices. It must not know
// command lines, runners, files or cloud services: callers pass in the minimum memory of
// a runner and the properties of this machine.
//
// The model has a term for each quantity that can be large: positions; slots or hashes (a
// bitmap is processed completely, even if few of its bits are set); rows, for games solved by
// lists; bytes on disks and networks; and jobs and tasks to start. Each term has one rate;
// see Rates. The number of bytes of a position follows from the file formats; see sizes.go.
package plan

import "github.com/treereduce/treereduce/internal/plan/count"

// The runners that a plan can describe.
const (
	Inline = "inline"
	Pipe   = "pipe"
	Hadoop = "hadoop"
	EMR    = "emr"
)

// A Machine describes one computer.
type Machine struct {
	Name           string  `json:"name"`                       // for people: "this machine", "i3en.6xlarge"
	Cores          int     `json:"cores"`                      // as the operating system counts them
	MemoryBytes    float64 `json:"memory_bytes,omitempty"`     // available to a run; 0: unknown
	DiskBytes      float64 `json:"disk_bytes,omitempty"`       // free for a run; 0: unknown
	NetworkBytes   float64 `json:"network_bytes_s,omitempty"`  // per second, each direction; 0: unknown
	DollarsPerHour float64 `json:"dollars_per_hour,omitempty"` // including its disks; 0: no extra cost
}

// A Cluster consists of machines of one type that run the tasks, and one more machine for the
// driver and Hadoop's masters.
type Cluster struct {
	Instance string `json:"instance"` // type of the nodes, see InstanceNamed
	Nodes    int    `json:"nodes"`    // which store the data
	// SpotNodes is the number of additional nodes without data, which may be taken away. They are
	// charged at their bid, the price of the others.
	SpotNodes int     `json:"spot_nodes,omitempty"`
	Master    string  `json:"master,omitempty"`  // type of the master; "": same as Instance
	EBSGB     float64 `json:"ebs_gb,omitempty"`  // network disk per node, in addition to its own disks
	Price     float64 `json:"price,omitempty"`   // dollars per hour for a node, including the service's surcharge; 0: list price
	EMR       bool    `json:"emr,omitempty"`     // created for the run by EMR, with its surcharge
	CopyToS3  bool    `json:"copy_s3,omitempty"` // copy what later steps need to S3 as well
}

// Where describes where a game is to be solved.
type Where struct {
	Runner string `json:"runner"`
	// Machine runs the driver, or is each node of a cluster. If there is a Cluster, Make
	// fills it in.
	Machine Machine  `json:"machine"`
	Nodes   int      `json:"nodes"`             // for hadoop: machines that run tasks; otherwise 1
	Cluster *Cluster `json:"cluster,omitempty"` // a rented cluster, for hadoop or emr; it has its own number of nodes
	// Above is a number of records: a job that reads more runs on the cluster.
	Above float64 `json:"cluster_above,omitempty"`
	// Replication is the number of copies of a file in HDFS. 0 means the default: on EMR, it
	// depends on the number of nodes, see replication; on another Hadoop, it is three, with
	// at most one copy per node.
	Replication int `json:"replication,omitempty"`
	// LeastMemory returns the smallest number of bytes that the driver's process needs to
	// solve the tiers up to until, according to its runner; -1 means all tiers. May be nil.
	LeastMemory func(until int) float64 `json:"-"`
}

// A Plan is the estimated cost of solving a game.
type Plan struct {
	Game   string    `json:"game"`           // its Spec
	Title  string    `json:"title"`          // its title for people
	Method string    `json:"method"`         // blocks, lists or states
	How    count.How `json:"counted"`        // how the positions were counted
	Note   string    `json:"note,omitempty"` // limits of the count
	Rates  string    `json:"rates"`          // machine and date of the rates, in words
	Where  Where     `json:"where"`

	Total   Tier   `json:"total"`
	Tiers   []Tier `json:"tiers"`        // in a game with cycles, the forward passes
	Largest int    `json:"largest_tier"` // the number of the tier with the most positions

	// Fastest is the estimate for the fastest machine that was measured, if the built-in
	// rates are used.
	Fastest *Speed `json:"fastest,omitempty"`

	// FinalBytes is the additional size of the text of all positions, if the run writes it.
	FinalBytes float64 `json:"final_bytes,omitempty"`

	Parts []Part `json:"wall_parts"` // the components of the wall time
	Jobs  int    `json:"cluster_jobs,omitempty"`

	Problems []Problem `json:"problems,omitempty"` // what does not fit; empty if everything does
	Assumed  []string  `json:"assumed,omitempty"`  // what was not measured, for people
}

// A Speed is the cost of a run at other rates.
type Speed struct {
	Machine   string  `json:"machine"` // machine of the rates
	CPUHours  float64 `json:"cpu_hours"`
	WallHours float64 `json:"wall_hours"`
	Dollars   float64 `json:"dollars"`
}

// A Tier is the cost of one tier, or of all tiers. Bytes, records and positions are integers.
type Tier struct {
	Tier      int     `json:"tier"` // its number; in the total, the number of tiers
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"` // a 95 % interval; both are equal to Positions if that is exact
	High      float64 `json:"high"`
	Stored    float64 `json:"stored,omitempty"` // of its positions, if the table stores about half
	Slots     float64 `json:"slots,omitempty"`  // of its bitmaps; in the total of a game with cycles, hashes
	Ranges    float64 `json:"ranges,omitempty"` // that contain its positions
	Moves     float64 `json:"moves,omitempty"`  // of its positions

	ShuffledRecords float64 `json:"shuffled_records"` // from maps to reducers, both directions
	ShuffledBytes   float64 `json:"shuffled_bytes"`   // of these records; 0 if nothing leaves the process
	KeptBytes       float64 `json:"kept_bytes"`       // in the table
	WorkBytes       float64 `json:"work_bytes"`       // of its directory, until it is solved
	PeakBytes       float64 `json:"peak_bytes"`       // on disk, for all tiers, while it is solved; in the total, the maximum
	MemoryBytes     float64 `json:"memory_bytes"`     // of the driver's process
	CPUHours        float64 `json:"cpu_hours"`
	WallHours       float64 `json:"wall_hours"`
	Dollars         float64 `json:"dollars"`
}

// A Part is one component of the wall time.
type Part struct {
	Name  string  `json:"name"`
	Hours float64 `json:"hours"`
}

// A Problem is something that does not fit.
type Problem struct {
	What  string  `json:"what"` // memory, disk, …
	Needs float64 `json:"needs"`
	Has   float64 `json:"has"`
	Text  string  `json:"text"` // in words, with what would make it fit
}
