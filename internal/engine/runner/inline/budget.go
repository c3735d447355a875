package inline

import (
	"fmt"
	"math"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/images"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/streamfmt"
)

// defaultMemory is the default of Runner.Memory.
const defaultMemory = 2 << 30

const (
	// ownMemory is what the process uses without a job.
	ownMemory = 6 << 20
	// coreMemory is what Go's runtime uses for each core.
	coreMemory = 64 << 10
	// pageMemory is the size of a page of pageRanges ranges in the directory of a tier's index:
	// streamfmt uses 40 bytes, and 56 while it reads the directory; a writer uses up to three times
	// 28. pageCursor is the size of the page that a cursor has read.
	pageMemory = 96
	pageRanges = 256
	pageCursor = 10 << 10
)

// Memory of layers, in bytes; see package layers.
const (
	rowMemory = 16 // a loaded row, and the same again while rows are sorted
	// intervalMemory is for a row that a worker receives: loaded, sorted, looked up in three lists, new, and its state;
	// and for the rows and states of the intervals that wait to be written. A row of any other kind takes less.
	intervalMemory = (7 + 2*listsAhead) * rowMemory
	sentRowMemory  = 34        // a row waiting in an outbox
	outboxMemory   = 1 << 20   // an empty outbox
	cellMemory     = 40 + 16   // a cell in the index of a file, and while keys are divided into intervals
	fileMemory     = 4 << 10   // a file of a source
	tierMemory     = 4 << 10   // a tier, in the loop of jobs
	aheadMemory    = 128 << 10 // read-ahead of a worker
	listsAhead     = 2         // how many intervals a worker may be ahead of the writer

	// readShare is the divisor of memory for blocks that a job decodes and keeps.
	readShare = 32
	// solvedShare is the divisor of memory for the values of a tier that stay in memory for the next job, and
	// reachedShare that for open positions.
	solvedShare  = 4
	reachedShare = 16
	// blocksShare is the divisor of memory for blocks with their messages that wait for the images.
	blocksShare = 16

	// imagesShare is the divisor of memory for mirror images while they are sorted; finalShare is the divisor for those of all tiers in the final job, and
	// bandsShare that for what one of its workers needs to read their bands.
	imagesShare = 8
	finalShare  = 4
	bandsShare  = 16
	// balancedShare is the share of a job that merges messages in ranges with balanced positions.
	balancedShare = 0.3

	// listsTenths is how many tenths of memory the plans of layers may use. Rows and runs of
	// all sizes come and go in every worker, which fragments the heap more than other jobs do:
	// with nine tenths, the resident memory reached --memory on many cores, and exceeded it.
	listsTenths = 6
)

// The limits for the rows of an interval, and of an outbox, of a worker. Fewer rows are slow: a
// interval also reads rows of neighbouring intervals, and an outbox that is flushed often writes
// many short runs. More rows do not fit into the processor's caches.
const (
	leastRows = 1 << 12
	mostRows  = 1 << 20
	// rowsOfFile is the minimum number of rows of an interval for each file, so that opening files
	// is a small part of the work.
	rowsOfFile = 64
)

// A preset is a set of memory parameters. Each preset in presets needs less memory,
// and more time, than the one before it.
type preset struct {
	slots  int // slots of a task: enough to make the overhead small, few enough that all workers finish together
	ahead  int // chunks that each worker may be ahead of the writer
	window int // bytes of a file that are read at a time
}

var presets = [...]preset{
	{1 << 17, 8, 64 << 10},
	{1 << 16, 4, 32 << 10},
	{1 << 15, 2, 16 << 10},
	{1 << 13, 2, 8 << 10},
}

// needs describes the memory of a job, in bytes.
type needs struct {
	shared  int                 // for all workers together
	worker  int                 // for each worker
	waiting int                 // number of workers beside one for each core, because some wait for other programs
	windows int                 // files that each worker reads at a time
	record  int                 // size of the largest record that is read
	chunk   func(slots int) int // size of the output for this many slots
}

// of returns the memory of a job with the given number of workers. What workers allocate
// counts twice, as garbage stays in memory until it is collected.
func (n *needs) of(workers int, f preset) int {
	each := n.worker + n.windows*(max(f.window, n.record)+2*n.record+pageCursor) + f.ahead*n.chunk(f.slots)
	return n.shared + 2*workers*each
}

// A plan is a set of parameters with which a job stays within its memory.
type plan struct {
	workers int
	preset
	interval, outbox int // numbers of rows, for layers
}

// left returns how much memory a job may use. A tenth of all memory is left to the garbage
// collector.
func (r *Runner) left() int {
	return r.memory()/10*9 - ownMemory - coreMemory*runtime.GOMAXPROCS(0)
}

// plan uses as many workers as there are cores, and those that wait, or as memory allows.
func (r *Runner) plan(n needs) plan {
	left := r.left()
	for workers := runtime.GOMAXPROCS(0) + n.waiting; workers > 0; workers-- {
		for _, f := range presets {
			if n.of(workers, f) <= left {
				return plan{workers: workers, preset: f}
			}
		}
	}
	return plan{workers: 1, preset: presets[len(presets)-1]}
}

// spare returns how much memory a job on blocks leaves if all cores use the first preset, with memory for images
// and blocks that wait for them.
func (r *Runner) spare(n *needs) int {
	return r.left() - n.of(runtime.GOMAXPROCS(0), presets[0]) - r.memory()/imagesShare - r.memory()/blocksShare
}

// tooLittle returns the error for a job that lacks the given number of bytes of memory.
func tooLittle(missing int) error {
	return fmt.Errorf("the job needs %dM more memory: --resume with a larger --memory continues", (missing-1)>>20+1)
}

func (r *Runner) memory() int {
	if r.Memory > 0 {
		return r.Memory
	}
	return defaultMemory
}

// planLayers plans intervals and outboxes of the same size, and as many workers as memory allows;
// for a small tier, intervals that are small enough for all workers to have some. The tasks load rows of some of the sources.
func (r *Runner) planLayers(g game.Game, loaded, sources []*layers.Source) (plan, error) {
	return r.planRows(game.LastTier(g), loaded, sources, intervalMemory, sentRowMemory/2*3, outboxMemory) // an outbox that grows exists twice for a moment
}

// finalRowMemory is the memory of a row of an interval in final, which is loaded and becomes a
// line.
func finalRowMemory(g game.Game) int {
	line := len("''\t65535\n") + max(len(g.AppendText(nil, g.Start())), len("18446744073709551615\tunsolvable\t"))
	return 3*rowMemory + listsAhead*line/4*5
}

// planRows plans workers that read intervals of some of the sources. They use loaded bytes for each row of an interval, sent bytes for each
// row of an outbox, and more bytes in addition. What workers allocate counts twice, as in
// needs. It returns an error if not even one worker with the fewest rows fits into memory.
func (r *Runner) planRows(tiers int, read, sources []*layers.Source, loaded, sent, more int) (plan, error) {
	left := r.memory()/10*listsTenths - ownMemory - coreMemory*runtime.GOMAXPROCS(0) - tiers*tierMemory
	var rows int64
	files := 0
	for _, s := range read {
		rows += s.Rows()
		files += s.Files()
	}
	for _, s := range sources {
		left -= s.Files()*fileMemory + s.Cells()*cellMemory
	}
	beside := files * streamfmt.CellRows / 2 // excess rows of an interval, from cells that cross its borders
	least := max(leastRows, files*rowsOfFile)
	each, more := loaded+sent, more+aheadMemory
	missing := func(workers, outbox int) int { // how much memory is lacking
		over := int(min(int64(beside), rows)) * loaded
		return 2*workers*(outbox*each+over+more) - left
	}
	p := plan{workers: runtime.GOMAXPROCS(0), preset: preset{ahead: listsAhead}}
	for {
		p.outbox = (left/(2*p.workers) - more) / each
		p.outbox -= min(beside, p.outbox/2)
		if p.outbox >= least && missing(p.workers, p.outbox) <= 0 || p.workers == 1 {
			break
		}
		p.workers--
	}
	p.outbox = min(max(p.outbox, leastRows), mostRows)
	if missing(p.workers, p.outbox) > 0 {
		p.outbox = leastRows
	}
	p.interval = min(p.outbox, max(least, int(rows/int64(2*p.workers))+1))
	if missing := missing(p.workers, p.outbox); missing > 0 {
		return p, tooLittle(missing * 10 / listsTenths)
	}
	return p, nil
}

// Least estimates the minimum memory with which a game can be solved up to the tier until, -1
// for all tiers, and with or without the text of all positions. For a game by layers
// it is what is known before the first job; a job that needs more, e.g. for the index
// of a large tier, fails when it begins.
func Least(m game.Method, until int, final bool) int {
	if m.Blocks != nil {
		return leastBlocks(m.Blocks, until, final)
	}
	each := intervalMemory + sentRowMemory/2*3
	if final {
		each = max(each, finalRowMemory(m.Layers))
	}
	bytes := 2*(leastRows*each+outboxMemory+aheadMemory) + ownMemory + coreMemory*runtime.GOMAXPROCS(0) + game.LastTier(m.Layers)*tierMemory
	return (bytes/listsTenths+1)*10 + runner.CodeMemory
}

func leastBlocks(t game.Tiered, until int, final bool) int {
	if until < 0 || until > t.Tiers() {
		until = t.Tiers()
	}
	var all, most float64
	for tier := range until + 1 {
		n := t.Ranges(tier)
		all += n
		most = max(most, n)
	}
	ranges := 4 * most // the job's input and output, and the table's
	if final {
		ranges = max(ranges, all)
	}
	receivers := min(most*images.RangePage, math.Ldexp(1, int(t.KeyBits()-t.LowBits()))/8)
	bytes := float64(indexMemory(ranges)) + receivers + float64(t.Tables()+ownMemory+coreMemory*runtime.GOMAXPROCS(0)+1<<20)
	return int(min(bytes/9*10, 1<<62))
}

// indexMemory returns the size of the directory of an index with this many ranges.
func indexMemory(ranges float64) int { return int(min(ranges, 1<<62)) / pageRanges * pageMemory }

// blockMemory is the memory of a block with this many slots: two bits and a value byte for
// each.
func blockMemory(slots int) int { return slots + slots/4 }

// chunkMemory is the memory of the packed output for this many slots, plus a block's, with
// the encoder's memory. A quarter is added because slices grow in steps.
func chunkMemory(slots, largest int) int { return (slots + largest + 4*largest) / 4 * 5 }
