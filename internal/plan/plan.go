// Package plan says what it would take to solve a game, before anything is begun: how many
// positions each tier has (package plan/count finds that out), the bytes that they take on
// disk, in memory and in the shuffle, the hours of CPU and of the clock, and the dollars; what
// does not fit, what would make it fit, and which machine of those that it knows is the
// cheapest.
//
// It knows the rules of games, counts and rates, and prices by a table of its own. It may not
// know a command line, a runner, a file or a service of a cloud: what a runner takes at least,
// and what this machine has, it is told.
//
// The model has a term for each thing of which there can be much: positions, and slots
// or hashes (a bitmap is gone through whole, however few of its bits are set), rows told of
// games by lists, bytes on disks and networks, jobs and tasks to be started. Each has one
// rate; see Rates. How many bytes a position takes follows from the form of the files; see
// sizes.go.
package plan

import "github.com/treereduce/treereduce/internal/plan/count"

// The runners of which a plan can be.
const (
	Inline = "inline"
	Pipe   = "pipe"
	Hadoop = "hadoop"
	EMR    = "emr"
)

// A Machine is what a plan is told of one computer.
type Machine struct {
	Name           string  `json:"name"`                       // for people: "this machine", "i3en.6xlarge"
	Cores          int     `json:"cores"`                      // as the operating system counts them
	MemoryBytes    float64 `json:"memory_bytes,omitempty"`     // that a run may take; 0: not known
	DiskBytes      float64 `json:"disk_bytes,omitempty"`       // that are free for a run; 0: not known
	NetworkBytes   float64 `json:"network_bytes_s,omitempty"`  // a second, in and out; 0: not known
	DollarsPerHour float64 `json:"dollars_per_hour,omitempty"` // with its disks; 0: it costs nothing more
}

// A Cluster is machines of one type that run the tasks, and one beside them that runs the
// driver and Hadoop's masters.
type Cluster struct {
	Instance string `json:"instance"` // of the nodes: a name of Instances
	Nodes    int    `json:"nodes"`    // that have the data: core nodes, on demand
	// SpotNodes are further nodes that have no data, and may be taken away.
	SpotNodes int     `json:"spot_nodes,omitempty"`
	Master    string  `json:"master,omitempty"`    // its type; "": as Instance
	EBSGB     float64 `json:"ebs_gb,omitempty"`    // of disk over the network, a node, besides those of its own
	Price     float64 `json:"price,omitempty"`     // dollars an hour for a node on demand, the surcharge of the service with it; 0: the list price
	EMR       bool    `json:"emr,omitempty"`       // it is made for the run, and the surcharge is paid
	CopyToS3  bool    `json:"copy_s3,omitempty"`   // what later steps need goes to S3, too
	S3Months  float64 `json:"s3_months,omitempty"` // how long the table in S3 is paid for; 0: a month
}

// Where is where a game is to be solved.
type Where struct {
	Runner string `json:"runner"`
	// Machine is the one that has the driver, or each node of a cluster; of a Cluster Make
	// fills it in.
	Machine Machine  `json:"machine"`
	Nodes   int      `json:"nodes"`             // of hadoop: machines that run tasks; of others 1
	Cluster *Cluster `json:"cluster,omitempty"` // that is rented, of hadoop or emr; it says its own nodes
	// Above is how many records a job must read to go to the cluster.
	Above float64 `json:"cluster_above,omitempty"`
	// Replication is how many copies of a file HDFS keeps; 0: as many as EMR does by default
	// on so many nodes, see replication, and another Hadoop three, one on a node.
	Replication int `json:"replication,omitempty"`
	// LeastMemory is how many bytes the process of the driver takes at least until a tier is
	// solved, as its runner knows; -1 is all. May be nil.
	LeastMemory func(until int) float64 `json:"-"`
}

// A Plan is what solving a game comes to.
type Plan struct {
	Game   string    `json:"game"`           // its Spec
	Title  string    `json:"title"`          // its title for people
	Method string    `json:"method"`         // blocks, lists or states
	How    count.How `json:"counted"`        // what the positions rest on
	Note   string    `json:"note,omitempty"` // what of that was not reached
	Rates  string    `json:"rates"`          // whose rates, in words
	Where  Where     `json:"where"`

	Total   Tier   `json:"total"`
	Tiers   []Tier `json:"tiers"`        // of a game with cycles the passes forward
	Largest int    `json:"largest_tier"` // the number of the tier with most positions

	// Fastest is what it comes to on the fastest machine that was measured, if the rates are
	// those that are built in.
	Fastest *Speed `json:"fastest,omitempty"`

	// FinalBytes is what the text of all positions takes besides, if the run writes it.
	FinalBytes float64 `json:"final_bytes,omitempty"`

	Parts []Part `json:"wall_parts"` // of what the hours of the clock are made
	Jobs  int    `json:"cluster_jobs,omitempty"`

	Problems []Problem `json:"problems,omitempty"` // what does not fit; none: all does
	Cheapest *Offer    `json:"cheapest,omitempty"` // of all that fit
	Assumed  []string  `json:"assumed,omitempty"`  // what was not measured, for people
}

// A Speed is what a run takes at other rates.
type Speed struct {
	Machine   string  `json:"machine"` // whose rates
	CPUHours  float64 `json:"cpu_hours"`
	WallHours float64 `json:"wall_hours"`
	Dollars   float64 `json:"dollars"`
}

// A Tier is what one tier comes to, or all of them. Bytes, records and positions are whole
// numbers.
type Tier struct {
	Tier      int     `json:"tier"` // its number; in sum how many there are
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"` // a 95 % interval; both as Positions where that is exact
	High      float64 `json:"high"`
	Slots     float64 `json:"slots,omitempty"`  // of its bitmaps; in sum, of a game with cycles, hashes
	Ranges    float64 `json:"ranges,omitempty"` // in which they lie
	Moves     float64 `json:"moves,omitempty"`  // of its positions

	ShuffledRecords float64 `json:"shuffled_records"` // that maps hand to reducers, both ways
	ShuffledBytes   float64 `json:"shuffled_bytes"`   // the same; 0 where nothing leaves the process
	KeptBytes       float64 `json:"kept_bytes"`       // in the table
	WorkBytes       float64 `json:"work_bytes"`       // of its directory, until it is solved
	PeakBytes       float64 `json:"peak_bytes"`       // on the disk, of all tiers, while it is solved; in sum the most
	MemoryBytes     float64 `json:"memory_bytes"`     // of the driver's process
	CPUHours        float64 `json:"cpu_hours"`
	WallHours       float64 `json:"wall_hours"`
	Dollars         float64 `json:"dollars"`
}

// A Part is one of the things that take time.
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

// An Offer is a way to solve the game with the machines of the table.
type Offer struct {
	Where   Where   `json:"where"`
	Hours   float64 `json:"wall_hours"`
	Dollars float64 `json:"dollars"`
}
