package inline

import "runtime"

// A Memory is how many bytes the process may use; 0 means 2 GiB.
type Memory int

// Bytes returns the number of bytes.
func (m Memory) Bytes() int {
	if m > 0 {
		return int(m)
	}
	return 2 << 30
}

// Own is what the process uses without a job, in bytes: its own memory, and what Go's runtime uses for each core.
func Own() int { return 6<<20 + 64<<10*runtime.GOMAXPROCS(0) }

// Left returns how much memory a job may use. A tenth of all memory is left to the garbage
// collector.
func (m Memory) Left() int { return m.Bytes()/10*9 - Own() }

// A Plan is a set of parameters with which a job stays within its memory.
type Plan struct {
	Workers int
	Slots   int // slots of a task: enough to make the overhead small, few enough that all workers finish together
	Ahead   int // chunks that each worker may be ahead of the writer
	Window  int // bytes of a file that are read at a time
}

// plans are the possible plans, without the number of workers. Each needs less memory, and more time, than the one before
// it.
var plans = [...]Plan{
	{Slots: 1 << 17, Ahead: 8, Window: 64 << 10},
	{Slots: 1 << 16, Ahead: 4, Window: 32 << 10},
	{Slots: 1 << 15, Ahead: 2, Window: 16 << 10},
	{Slots: 1 << 13, Ahead: 2, Window: 8 << 10},
}

// Needs describes the memory of a job, in bytes.
type Needs struct {
	Shared  int                 // for all workers together
	Worker  int                 // for each worker
	Windows int                 // files that each worker reads at a time
	Record  int                 // size of the largest record that is read
	Chunk   func(slots int) int // size of the output for this many slots
}

// pageCursor is the size of the page of an index that a cursor has read.
const pageCursor = 10 << 10

// of returns the memory of a job with a plan. What workers allocate counts twice, as garbage stays in memory until it is
// collected.
func (n *Needs) of(p Plan) int {
	each := n.Worker + n.Windows*(max(p.Window, n.Record)+2*n.Record+pageCursor) + p.Ahead*n.Chunk(p.Slots)
	return n.Shared + 2*p.Workers*each
}

// Plan returns a plan with as many workers as there are cores, or as memory allows.
func (m Memory) Plan(n Needs) (p Plan) {
	left := m.Left()
	for workers := runtime.GOMAXPROCS(0); workers > 0; workers-- {
		for _, p = range plans {
			if p.Workers = workers; n.of(p) <= left {
				return p
			}
		}
	}
	return p
}

// Spare returns how much memory a job leaves if all cores use the first plan.
func (m Memory) Spare(n *Needs) int {
	p := plans[0]
	p.Workers = runtime.GOMAXPROCS(0)
	return m.Left() - n.of(p)
}
