package pipe

import (
	"runtime"

	"github.com/treereduce/treereduce/internal/engine/runner"
)

// The memory of a job includes the driver and all processes that it starts.
const (
	// driverMemory is what the driver uses in addition to runner.CodeMemory. feedMemory and
	// partMemory are its buffers for each mapper and each reducer.
	driverMemory = 12 << 20
	feedMemory   = 3 << 20
	partMemory   = 2 << 20
	// processMemory is what a mapper or reducer uses before it has read a line, including its
	// share of their executable. sortMemory is what sort uses in addition to its buffer.
	processMemory = 7 << 20
	sortMemory    = 1 << 20
	// leastBuffer is the minimum buffer of a sort, and of a mapper for merging.
	leastBuffer = 1 << 20
)

// A Budget divides the memory of a job among its processes, in bytes.
type Budget struct {
	Mappers int // number of mappers at a time

	Driver, Mapper, Reducer int // of each process, as limit for its collector
	Sort, Merge             int // buffers of each sort, and of each mapper for merging; reducers by layers have one for what they send
}

// Divide divides memory (0 means 1 GiB) among the processes of a job. It plans as many mappers
// as there are cores, or as memory allows. What remains when each process has its minimum goes
// to the buffers.
func Divide(m runner.Method, memory, reducers int) Budget {
	if memory == 0 {
		memory = defaultMemory
	}
	mappers := runtime.GOMAXPROCS(0)
	for mappers > 1 && least(m, mappers, reducers) > memory {
		mappers--
	}
	rest := max(0, memory-least(m, mappers, reducers)) / 10 * 9
	merging := mappers
	if m.Sends() {
		merging += reducers
	}
	b := Budget{Mappers: mappers, Sort: leastBuffer + rest/2/reducers, Merge: leastBuffer + rest/4/merging}
	b.Driver = driverMemory + m.Tables() + mappers*feedMemory + reducers*partMemory
	b.Reducer = processMemory + m.Tables()
	b.Mapper = b.Reducer + 2*b.Merge // doubled: garbage stays in memory until it is collected
	if m.Sends() {
		b.Reducer = b.Mapper
	}
	return b
}

// Reducers is the default number of reducers: one for each core, or as many as memory allows
// with the same number of mappers.
func Reducers(m runner.Method, memory int) int {
	n := runtime.GOMAXPROCS(0)
	for n > 1 && least(m, n, n) > memory {
		n--
	}
	return n
}

// Least returns the minimum memory of a job with the given number of reducers.
func Least(m runner.Method, reducers int) int { return least(m, 1, reducers) }

func least(m runner.Method, mappers, reducers int) int {
	process := processMemory + m.Tables()
	each := mappers*(feedMemory+process+2*leastBuffer) + reducers*(partMemory+process+sortMemory+leastBuffer)
	if m.Sends() {
		each += reducers * 2 * leastBuffer
	}
	return runner.CodeMemory + driverMemory + m.Tables() + each
}
