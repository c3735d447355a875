package plan

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// RatesVersion is the version of Rates. Rates of another version belong to another model and
// must be measured again.
const RatesVersion = 4

// Rates are the speeds of a machine, and of a cluster. CPU rates are those of one core; rates
// in bytes are those of the complete machine.
type Rates struct {
	Version  int       `json:"version"`
	Machine  string    `json:"machine"` // its name, for people
	Measured time.Time `json:"measured"`
	Cores    int       `json:"cores"`

	Blocks BlockRates `json:"blocks"`
	Lists  ListRates  `json:"lists"`
	States StateRates `json:"states"`

	// Serial is the share of a run's CPU time in which only one core can work.
	Serial float64 `json:"serial_share"`
	// Process is the time in seconds of a driver process that does nothing.
	Process float64   `json:"process_s"`
	Disk    DiskRates `json:"disk"`

	Cluster ClusterRates `json:"cluster"`
}

// BlockRates are the rates of games solved by blocks, for both directions together. The CPU
// time of a position is proportional to the number of bits of its value (see valueBits): the
// bitmaps of its moves are processed once for each value.
type BlockRates struct {
	Start float64 `json:"start_cpu_s"`       // per run, independent of its size
	Tier  float64 `json:"tier_cpu_s"`        // per tier: its two jobs and their seals
	Value float64 `json:"value_bit_cpu_ns"`  // per position and bit of its value
	Slot  float64 `json:"slot_cpu_ns"`       // per slot in words of bitmaps that are not empty
	Range float64 `json:"range_cpu_ns"`      // per range that contains positions
	Image float64 `json:"image_cpu_ns"`      // per position that gets a mirror image
	Table float64 `json:"table_byte_cpu_ns"` // per byte of the tables for the moves
}

// ListRates are the rates of games solved by lists, for both directions together.
type ListRates struct {
	Tier     float64 `json:"tier_cpu_s"` // per tier: its two jobs
	Position float64 `json:"position_cpu_ns"`
	Move     float64 `json:"move_cpu_ns"` // per move to the next tier, both directions
	Far      float64 `json:"far_cpu_ns"`  // per move beyond the next tier
}

// StateRates are the rates of games with cycles, for all passes together.
type StateRates struct {
	Position float64 `json:"position_cpu_ns"` // per position, if the game computes moves of sets
	Move     float64 `json:"move_cpu_ns"`     // per move, if the game only has the Game interface
}

// DiskRates are the rates of the disk that contains a run's data.
type DiskRates struct {
	Write float64 `json:"write_bytes_s"`
	Read  float64 `json:"read_bytes_s"` // of data that is not in any cache
	Sync  float64 `json:"sync_s"`       // of a small file
}

// ClusterRates are the rates of a Hadoop cluster.
type ClusterRates struct {
	Name     string    `json:"name"`
	Measured time.Time `json:"measured"`
	Job      float64   `json:"job_s"`        // from submission until a job works, plus from its end until the driver knows
	Uber     float64   `json:"uber_job_s"`   // the same for a job whose application master runs its tasks
	Client   float64   `json:"client_cpu_s"` // of Hadoop's client, per job
	Task     float64   `json:"task_cpu_s"`   // of a task's Java, in addition to its program
	Pair     float64   `json:"pair_cpu_ns"`  // per record of Hadoop's own: a range with its block
	// Program is the CPU time of the programs, divided by that of one process for the same
	// work.
	Program float64 `json:"program_times"`
}

// slower is the CPU time of the slower machine of the built-in rates, divided by that of the
// faster one: 5×5, 6×5 and 6×6 connect 4 took 45, 41 and 43 ns per position on the faster
// machine, and 69 to 84 on others.
const slower = 1.8

// Builtin returns the rates for plans if nothing was measured: those of the slower of two
// machines; see Fastest.
func Builtin() *Rates {
	r := Fastest()
	r.Machine = "a busy virtual machine of 2 cores and 24 GiB"
	for _, rate := range r.cpu() {
		*rate *= slower
	}
	return r
}

// Fastest returns the rates of the fastest machine that was measured. Together with Builtin,
// they show how much machines differ.
func Fastest() *Rates {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	return &Rates{
		Version:  RatesVersion,
		Machine:  "a quiet virtual machine of 2 cores and 24 GiB",
		Measured: day(2026, time.November, 24),
		Cores:    2,
		// Fitted to the boards listed in docs/plan.md.
		Blocks: BlockRates{Start: 0.02, Tier: 0.0012, Value: 1.6, Slot: 5.2, Range: 6000, Image: 42, Table: 7.9},
		Lists:  ListRates{Tier: 0.0018, Position: 500, Move: 62, Far: 370},
		States: StateRates{Position: 135, Move: 560},
		// 6×6: 3,000 s of CPU time in 1,604 s on two cores.
		Serial:  0.06,
		Process: 0.01,
		Disk:    DiskRates{Write: 500e6, Read: 1000e6, Sync: 0.0025},
		Cluster: ClusterRates{
			Name:     "a Hadoop 3.4.2 on one machine of 2 cores",
			Measured: day(2026, time.November, 22),
			// docs/hadoop.md, "What it costs"; Pair was measured with ten million lines of
			// text, Task with 6×5 on three nodes.
			Job: 11.7, Uber: 6.8, Client: 2.3, Task: 2, Pair: 2500, Program: 1.1,
		},
	}
}

// cpu returns the CPU rates of one process.
func (r *Rates) cpu() []*float64 {
	b, l, s := &r.Blocks, &r.Lists, &r.States
	return []*float64{&b.Start, &b.Tier, &b.Value, &b.Slot, &b.Range, &b.Image, &b.Table, &l.Tier, &l.Position, &l.Move, &l.Far, &s.Position, &s.Move}
}

// Check returns an error if rates that were read are invalid.
func (r *Rates) Check() error {
	if r.Version > RatesVersion {
		return fmt.Errorf("rates of version %d, this program reads version %d: use the program that wrote them", r.Version, RatesVersion)
	}
	if r.Version != RatesVersion {
		return fmt.Errorf("rates of version %d, expected %d: run driver calibrate again", r.Version, RatesVersion)
	}
	if r.Cores < 1 || r.Machine == "" || r.Measured.IsZero() {
		return errors.New("rates without their machine, its cores, or when they were measured")
	}
	if r.Serial < 0 || r.Serial >= 1 {
		return fmt.Errorf("serial_share %v: expected 0 to below 1", r.Serial)
	}
	c := &r.Cluster
	for _, rate := range []struct {
		name     string
		value    float64
		positive bool // whether 0 is invalid
	}{
		{"blocks.start_cpu_s", r.Blocks.Start, false}, {"blocks.tier_cpu_s", r.Blocks.Tier, false},
		{"blocks.value_bit_cpu_ns", r.Blocks.Value, true}, {"blocks.slot_cpu_ns", r.Blocks.Slot, false},
		{"blocks.range_cpu_ns", r.Blocks.Range, false}, {"blocks.image_cpu_ns", r.Blocks.Image, false}, {"blocks.table_byte_cpu_ns", r.Blocks.Table, false},
		{"lists.tier_cpu_s", r.Lists.Tier, false}, {"lists.position_cpu_ns", r.Lists.Position, true},
		{"lists.move_cpu_ns", r.Lists.Move, true}, {"lists.far_cpu_ns", r.Lists.Far, true},
		{"states.position_cpu_ns", r.States.Position, true}, {"states.move_cpu_ns", r.States.Move, true},
		{"process_s", r.Process, false},
		{"disk.write_bytes_s", r.Disk.Write, true}, {"disk.read_bytes_s", r.Disk.Read, true}, {"disk.sync_s", r.Disk.Sync, false},
		{"cluster.job_s", c.Job, true}, {"cluster.uber_job_s", c.Uber, true}, {"cluster.client_cpu_s", c.Client, false},
		{"cluster.task_cpu_s", c.Task, false}, {"cluster.pair_cpu_ns", c.Pair, false}, {"cluster.program_times", c.Program, true},
	} {
		if math.IsNaN(rate.value) || math.IsInf(rate.value, 0) || rate.value < 0 || rate.positive && rate.value == 0 {
			return fmt.Errorf("%s %v: expected a number above 0", rate.name, rate.value)
		}
	}
	return nil
}
