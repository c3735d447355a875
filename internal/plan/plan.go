// Package plan estimates the cost of solving a game before the run: the bytes of its positions on disk, hours of
// CPU and of wall time, and dollars. Package plan/count counts the positions, package plan/measure measures how
// fast they are solved here. Package plan knows neither command lines, runners nor files: callers pass in the
// least memory of a runner and the properties of the machines.
package plan

import (
	"fmt"

	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/plan/count"
)

// The runners that a plan can describe, and EMR, the name of one that is planned as Hadoop.
const (
	Inline = "inline"
	Pipe   = "pipe"
	Hadoop = "hadoop"
	EMR    = "emr"
)

// Where describes where a game is to be solved: on machines that are all alike.
type Where struct {
	Runner string  `json:"runner"`
	Nodes  int     `json:"nodes"`                      // machines that run tasks; 1 unless the runner is Hadoop
	Cores  int     `json:"cores"`                      // of a machine
	Memory float64 `json:"memory_bytes,omitempty"`     // of a machine; 0: unknown
	Disk   float64 `json:"disk_bytes,omitempty"`       // free on a machine; 0: unknown
	Price  float64 `json:"dollars_per_hour,omitempty"` // of a machine; 0: no extra cost
	Above  float64 `json:"cluster_above,omitempty"`    // Hadoop: a job that reads more records runs on the cluster
	Least  float64 `json:"-"`                          // the least --memory of driver solve, in bytes
}

// String describes the machines in words.
func (w Where) String() string {
	text := numfmt.Count(int64(w.Cores), "core")
	if w.Runner == Hadoop {
		text = fmt.Sprintf("%s of %s", numfmt.Count(int64(w.Nodes), "node"), text)
	}
	if w.Memory > 0 {
		text += fmt.Sprintf(", %s of memory", numfmt.Bytes(w.Memory))
	}
	if w.Disk > 0 {
		text += fmt.Sprintf(", %s of disk", numfmt.Bytes(w.Disk))
	}
	return text
}

// A Rate is how fast a machine solves games like one, see Work. Its zero value is unknown.
type Rate struct {
	Seconds float64 `json:"cpu_s"`       // of CPU, for a unit of work
	On      string  `json:"measured_on"` // the Spec of the largest game that was solved to measure it
	Cores   int     `json:"cores"`       // of the machine
}

// A Plan is the estimated cost of solving a game.
type Plan struct {
	Game   string    `json:"game"`           // its Spec
	Title  string    `json:"title"`          // its title for people
	Method string    `json:"method"`         // blocks or layers
	How    count.How `json:"counted"`        // how the positions were counted
	Note   string    `json:"note,omitempty"` // limits of the count
	Rate   Rate      `json:"rate"`
	Where  Where     `json:"where"`

	Total   Tier   `json:"total"`
	Tiers   []Tier `json:"tiers"`
	Largest int    `json:"largest_tier"` // the number of the tier with the most positions

	// FinalBytes is the additional size of the text of all positions, if the run writes it.
	FinalBytes float64 `json:"final_bytes,omitempty"`

	Jobs     int       `json:"cluster_jobs,omitempty"`
	Problems []Problem `json:"problems,omitempty"` // what does not fit; empty if everything does
	Assumed  []string  `json:"assumed,omitempty"`  // what was not measured, for people
}

// A Tier is the cost of one tier, or of all tiers. Bytes and positions are integers.
type Tier struct {
	Tier      int     `json:"tier"` // its number; in the total, the number of tiers
	Positions float64 `json:"positions"`
	Low       float64 `json:"low"` // a 95 % interval; both are equal to Positions if that is exact
	High      float64 `json:"high"`
	Images    float64 `json:"images,omitempty"` // of its positions, these among them, if they are canonical ones
	Stored    float64 `json:"stored,omitempty"` // the positions that the table stores, if these are fewer
	Slots     float64 `json:"slots,omitempty"`  // of its bitmaps
	Ranges    float64 `json:"ranges,omitempty"` // that contain its positions
	Moves     float64 `json:"moves,omitempty"`  // of its positions

	KeptBytes   float64 `json:"kept_bytes"`             // in the table
	WorkBytes   float64 `json:"work_bytes"`             // of its directory, until it is solved
	PeakBytes   float64 `json:"peak_bytes"`             // on disk, for all tiers, while it is solved; in the total, the maximum
	MemoryBytes float64 `json:"memory_bytes,omitempty"` // in the total: the least --memory of driver solve
	CPUHours    float64 `json:"cpu_hours"`
	WallHours   float64 `json:"wall_hours"`
	Dollars     float64 `json:"dollars"`
}

// A Problem is something that does not fit.
type Problem struct {
	What  string  `json:"what"` // memory or disk
	Needs float64 `json:"needs"`
	Has   float64 `json:"has"`
	Text  string  `json:"text"` // in words, with what would make it fit
}
