package pipe

import (
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
)

// The memory of a job is that of the driver and of all processes that it starts.
const (
	// driverMemory is what the driver takes beside runner.CodeMemory, and for each
	// mapper and each reducer what it has of their lines in its hands.
	driverMemory = 12 << 20
	feedMemory   = 3 << 20
	partMemory   = 2 << 20
	// processMemory is what a mapper or reducer takes before it has read a line, with
	// its share of their program; sortMemory what sort takes beside its buffer.
	processMemory = 7 << 20
	sortMemory    = 1 << 20
	// leastBuffer is the least for sort to sort in, and for a mapper to hold back.
	leastBuffer = 1 << 20
)

// A Budget is how the processes of a job divide its memory, in bytes.
type Budget struct {
	Mappers int // at a time

	Driver, Mapper, Reducer int // of each process, for its collector
	Sort, Hold              int // buffers: of each sort, and of what each mapper holds back, see runner.ReducersHold
}

// Divide divides memory (0: 1 GiB) among the processes of a job with so many
// reducers: as many mappers as cores, or as many as there is memory for. What is
// left when each has the least that it needs goes to the buffers.
func Divide(g game.Game, memory, reducers int) Budget {
	if memory == 0 {
		memory = defaultMemory
	}
	memory -= runner.CodeMemory
	mappers := runtime.GOMAXPROCS(0)
	for mappers > 1 && least(g, mappers, reducers) > memory {
		mappers--
	}
	rest := max(0, memory-least(g, mappers, reducers)) / 10 * 9
	holders := mappers
	if runner.ReducersHold(g) {
		holders += reducers
	}
	b := Budget{Mappers: mappers, Sort: leastBuffer + rest/2/reducers, Hold: leastBuffer + rest/4/holders}
	b.Driver = driverMemory + tables(g) + mappers*feedMemory + reducers*partMemory
	b.Reducer = processMemory + tables(g)
	b.Mapper = b.Reducer + 2*b.Hold // twice: what it lets go lies about until the collector comes
	if runner.ReducersHold(g) {
		b.Reducer = b.Mapper
	}
	return b
}

// Reducers is how many reducers a job has if nothing is said: one for each core, or
// as many as memory has room for, with as many mappers.
func Reducers(g game.Game, memory int) int {
	n := runtime.GOMAXPROCS(0)
	for n > 1 && runner.CodeMemory+least(g, n, n) > memory {
		n--
	}
	return n
}

// Least is how much memory a job with so many reducers takes at least.
func Least(g game.Game, reducers int) int { return least(g, 1, reducers) }

func least(g game.Game, mappers, reducers int) int {
	process := processMemory + tables(g)
	each := mappers*(feedMemory+process+2*leastBuffer) + reducers*(partMemory+process+sortMemory+leastBuffer)
	if runner.ReducersHold(g) {
		each += reducers * 2 * leastBuffer
	}
	return driverMemory + tables(g) + each
}

// tables is what every process has of the game.
func tables(g game.Game) int {
	if t, ok := g.(game.Tiered); ok {
		return t.Tables()
	}
	return 0
}
