package plan

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// RatesVersion is that of the form of Rates: rates of another are of another model, and are
// measured anew.
const RatesVersion = 2

// Rates are how fast a machine is, and a cluster. Those of CPU are of one core; the rates of
// bytes are of the whole machine.
type Rates struct {
	Version  int       `json:"version"`
	Machine  string    `json:"machine"` // its name, for people
	Measured time.Time `json:"measured"`
	Cores    int       `json:"cores"`

	Blocks BlockRates `json:"blocks"`
	Lists  ListRates  `json:"lists"`
	States StateRates `json:"states"`

	// Serial is the share of the CPU of a run on which only one core can be at work.
	Serial float64 `json:"serial_share"`
	// Process is how many seconds a process of driver takes that does nothing.
	Process float64   `json:"process_s"`
	Disk    DiskRates `json:"disk"`

	Cluster ClusterRates `json:"cluster"`
}

// BlockRates are those of a game whose moves are maps of bitmaps, forward and back together.
// A position costs as much as its value has bits (see valueBits): that is how often the maps
// of its moves are gone through, value by value.
type BlockRates struct {
	Start float64 `json:"start_cpu_s"`       // of a run, whatever its size
	Tier  float64 `json:"tier_cpu_s"`        // of a tier: its two jobs, its seals
	Value float64 `json:"value_bit_cpu_ns"`  // of a position, for each bit of its value
	Slot  float64 `json:"slot_cpu_ns"`       // of the words of bitmaps in which positions lie
	Range float64 `json:"range_cpu_ns"`      // of a range in which positions lie
	Table float64 `json:"table_byte_cpu_ns"` // of a byte of the tables behind the moves
}

// ListRates are those of a game with tiers of which only the rules are known, both ways
// together.
type ListRates struct {
	Tier     float64 `json:"tier_cpu_s"` // its two jobs
	Position float64 `json:"position_cpu_ns"`
	Move     float64 `json:"move_cpu_ns"` // into the next tier, told there and back
	Far      float64 `json:"far_cpu_ns"`  // beyond it
}

// StateRates are those of a game with cycles, all passes together.
type StateRates struct {
	Position float64 `json:"position_cpu_ns"` // of one whose moves are known as maps of bitmaps
	Move     float64 `json:"move_cpu_ns"`     // of one of which only the rules are known, a move
}

// DiskRates are those of the disk on which a run lies.
type DiskRates struct {
	Write float64 `json:"write_bytes_s"`
	Read  float64 `json:"read_bytes_s"` // of what no memory keeps any more
	Sync  float64 `json:"sync_s"`       // of a small file
}

// ClusterRates are those of a Hadoop.
type ClusterRates struct {
	Name     string    `json:"name"`
	Measured time.Time `json:"measured"`
	Job      float64   `json:"job_s"`        // until a job works, and until it is known to have ended
	Uber     float64   `json:"uber_job_s"`   // of one whose tasks its application master runs
	Client   float64   `json:"client_cpu_s"` // of Hadoop's client, a job
	Task     float64   `json:"task_cpu_s"`   // of a task's Java, besides its program
	Pair     float64   `json:"pair_cpu_ns"`  // a record of Hadoop's own: a range with its block
	// Program is how much CPU the programs take for what one process does with one.
	Program float64 `json:"program_times"`
}

// slower is how many times as much CPU the slower of the machines takes of which rates are
// built in: 5×5, 6×5 and 6×6 connect 4 took 45, 41 and 43 ns a position on the faster one,
// and 69 to 84 on others.
const slower = 1.8

// Builtin are the rates of plans for which nothing was measured: of the slower of two
// machines; see Fastest.
func Builtin() *Rates {
	r := Fastest()
	r.Machine = "a busy virtual machine of 2 cores and 24 GiB"
	for _, rate := range r.cpu() {
		*rate *= slower
	}
	return r
}

// Fastest are rates of the fastest machine that was measured: with those of Builtin they say
// how far apart machines are.
func Fastest() *Rates {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	return &Rates{
		Version:  RatesVersion,
		Machine:  "a quiet virtual machine of 2 cores and 24 GiB",
		Measured: day(2026, time.November, 23),
		Cores:    2,
		// Fitted to the boards that docs/plan.md names.
		Blocks: BlockRates{Start: 0.02, Tier: 0.0009, Value: 10.3, Slot: 4, Range: 3700, Table: 3},
		Lists:  ListRates{Tier: 0.0018, Position: 500, Move: 62, Far: 370},
		States: StateRates{Position: 135, Move: 560},
		// 6×6: 3,000 s of CPU in 1,604 s on two cores.
		Serial:  0.06,
		Process: 0.01,
		Disk:    DiskRates{Write: 500e6, Read: 1000e6, Sync: 0.0025},
		Cluster: ClusterRates{
			Name:     "a Hadoop 3.4.2 on one machine of 2 cores",
			Measured: day(2026, time.November, 22),
			// docs/hadoop.md, "What it costs"; the pairs by ten million lines of text.
			Job: 11.7, Uber: 6.8, Client: 2.3, Task: 1.5, Pair: 2500, Program: 1.1,
		},
	}
}

// cpu are the rates of CPU of one process.
func (r *Rates) cpu() []*float64 {
	b, l, s := &r.Blocks, &r.Lists, &r.States
	return []*float64{&b.Start, &b.Tier, &b.Value, &b.Slot, &b.Range, &b.Table, &l.Tier, &l.Position, &l.Move, &l.Far, &s.Position, &s.Move}
}

// Check says what is wrong with rates that were read.
func (r *Rates) Check() error {
	if r.Version != RatesVersion {
		return fmt.Errorf("rates of version %d, expected %d: driver calibrate measures anew", r.Version, RatesVersion)
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
		positive bool // or may it be 0
	}{
		{"blocks.start_cpu_s", r.Blocks.Start, false}, {"blocks.tier_cpu_s", r.Blocks.Tier, false},
		{"blocks.value_bit_cpu_ns", r.Blocks.Value, true}, {"blocks.slot_cpu_ns", r.Blocks.Slot, false},
		{"blocks.range_cpu_ns", r.Blocks.Range, false}, {"blocks.table_byte_cpu_ns", r.Blocks.Table, false},
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
