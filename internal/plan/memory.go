package plan

// The memory of the driver's process in bytes, as measured with the default settings of the
// garbage collector; docs/plan.md lists the games.
const (
	// processMemory is the memory of any run.
	processMemory = 30e6
	// clusterMemory is what a run adds that has jobs on a cluster: connections to HDFS, and the programs
	// that it copies there.
	clusterMemory = 30e6
	// shardMemory is the memory for a shard of the tier with the most shards: a client, windows of its file
	// and pages of its index.
	shardMemory = 5.5e6
	// tableTimes is the memory for a byte of the tables for the moves of blocks, with what the garbage
	// collector lets the heap grow because of it.
	tableTimes = 2.4
	// slotMemory is the memory for a slot of the tier with the most slots, in the decoded blocks that
	// workers share. They use at most sharedMemory bytes.
	slotMemory   = 0.6
	sharedMemory = 74e6
	// solvedMemory is the memory for a slot of two tiers, one after the other, whose values a process keeps
	// for the next job: at most mostSolved bytes, which is half of --memory and what the garbage collector adds. Then
	// slots and images take less.
	solvedMemory = 2.6
	mostSolved   = 1.95e9
	// imageMemory is the memory for a position of the tier with the most stored positions, in the mirror
	// images that a job sorts. They use at most imagesMemory bytes, 1.42 times what internal/engine/images takes
	// at first. A tier whose images make many bands may use more: manyMemory for each position, at most
	// mostImages, the same multiple of an eighth of --memory, if that has its default.
	imageMemory  = 4
	imagesMemory = 95e6
	manyMemory   = 0.1
	mostImages   = 4 * imagesMemory
	// rangeMemory is the memory for a range of the tier with the most ranges, in the directories
	// of the indexes that a job reads and writes.
	rangeMemory = 2
	// rowMemory is the memory for a row of the tier with the most rows; farMemory is the same
	// if moves lead beyond the next tier. The workers of a core use at most coreRows bytes.
	rowMemory = 140
	farMemory = 300
	coreRows  = 210e6
	// hashMemory is the memory for a hash of a game with cycles, in the shuffle of a pass.
	hashMemory = 1.75

	// A machine is sufficient if it has memoryMargin times the memory of the driver, because
	// of errors of the model and for the operating system's file cache. The master of a
	// cluster needs masterMemory more, for the daemons of Hadoop.
	memoryMargin = 1.25
	masterMemory = 8 << 30
)

// memory returns the memory of the driver's process for solving the tiers up to until, -1 for
// all: at least the minimum of the runner. A driver needs tables, slots and images only for the jobs of
// blocks that it runs itself.
func (w *work) memory(s *site, until int) float64 {
	ranges, slots, rows, stored, tables, shards, solved, before := 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, t := range w.tiers {
		if until >= 0 && i > until {
			break
		}
		ranges, rows = max(ranges, min(t.Cells, t.Positions)), max(rows, t.Moves)
		for _, j := range []*job{&t.forward, &t.back} {
			if s.sends(j) {
				shards = max(shards, s.tasks(j.reads))
			}
		}
		if t.forward.reads > 0 && !s.sends(&t.forward) || t.back.reads > 0 && !s.sends(&t.back) {
			slots, tables = max(slots, t.Slots), w.tables
			if !s.onCluster() { // jobs beside those of a cluster compute all positions
				stored = max(stored, t.stored)
			}
			kept := 0.0
			if s.Runner == Inline && w.keeps {
				kept = t.slots
			}
			solved, before = max(solved, before+kept), kept
		}
	}
	row := float64(rowMemory)
	if w.sum.Far > 0 {
		row = farMemory
	}
	rows = min(row*rows, coreRows*float64(max(1, s.driver.Cores)))
	bytes := float64(processMemory)
	if s.onCluster() {
		bytes += clusterMemory
	}
	switch w.method {
	case blocks:
		bytes += shardMemory*shards + tableTimes*tables + rangeMemory*ranges +
			max(min(solvedMemory*solved, mostSolved), min(slotMemory*slots, sharedMemory)+min(imageMemory*stored, max(imagesMemory, min(manyMemory*stored, mostImages))))
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

// fits returns the memory that a machine must have for a driver with this memory.
func (s *site) fits(memory float64) float64 {
	need := memory * memoryMargin
	if s.Cluster != nil {
		need += masterMemory
	}
	return need
}
