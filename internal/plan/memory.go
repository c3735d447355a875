package plan

// What the driver's process takes in memory, in bytes, as it was measured with the collector's
// defaults; docs/plan.md names the games.
const (
	// processMemory is a run of any game.
	processMemory = 30e6
	// tableTimes is how many times the tables behind the moves of blocks are there.
	tableTimes = 1.75
	// rangeMemory is a range of the tier that has most, in the indexes that a job reads and
	// writes.
	rangeMemory = 360
	// rowMemory is a row of the tier that has most, and farMemory one where moves lead beyond
	// the next tier; the workers of a core hold coreRows at most.
	rowMemory = 140
	farMemory = 300
	coreRows  = 210e6
	// hashMemory is a hash of a game with cycles, in the shuffle of a pass.
	hashMemory = 1.75

	// A machine fits if it has memoryMargin times the memory of the driver, as models and the
	// files that the machine keeps in memory want; the master of a cluster masterMemory more,
	// for the daemons of Hadoop.
	memoryMargin = 1.25
	masterMemory = 8 << 30
)

// memory is what the driver's process takes until a tier has been solved, -1 for all: at
// least what the runner asks for.
func (w *work) memory(s *site, until int) float64 {
	ranges, rows := 0.0, 0.0
	for i, t := range w.tiers {
		if until < 0 || i <= until {
			ranges, rows = max(ranges, min(t.Cells, t.Positions)), max(rows, t.Moves)
		}
	}
	row := float64(rowMemory)
	if w.sum.Far > 0 {
		row = farMemory
	}
	rows = min(row*rows, coreRows*float64(max(1, s.driver.Cores)))
	bytes := processMemory
	switch w.method {
	case blocks:
		bytes += tableTimes*w.tables + rangeMemory*ranges
	case lists:
		bytes += rows
	case states:
		bytes += hashMemory * w.sum.Slots
		if w.plain {
			bytes += rows
		}
	}
	if s.LeastMemory != nil {
		bytes = max(bytes, s.LeastMemory(until))
	}
	return bytes
}

// fits is how much memory a machine must have for a driver that takes so much.
func (s *site) fits(memory float64) float64 {
	need := memory * memoryMargin
	if s.Cluster != nil {
		need += masterMemory
	}
	return need
}
