package layers

import (
	"fmt"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/streamfmt"
)

// Memory, in bytes; see the package.
const (
	rowMemory = 16 // a loaded row, and the same again while rows are sorted
	// intervalMemory is for a row that a worker receives: loaded, sorted, looked up in three lists, new, and its state;
	// and for the rows and states of the intervals that wait to be written. A row of any other kind takes less.
	intervalMemory = (7 + 2*intervalsAhead) * rowMemory
	sentRowMemory  = 34        // a row waiting in an outbox
	outboxMemory   = 1 << 20   // an empty outbox
	cellMemory     = 40 + 16   // a cell in the index of a file, and while keys are divided into intervals
	fileMemory     = 4 << 10   // a file of a source
	tierMemory     = 4 << 10   // a tier, in the loop of jobs
	aheadMemory    = 128 << 10 // read-ahead of a worker
	intervalsAhead = 2         // how many intervals a worker may be ahead of the writer

	// memoryTenths is how many tenths of memory the plans of layers may use. Rows and runs of
	// all sizes come and go in every worker, which fragments the heap more than other jobs do:
	// with nine tenths, the resident memory reached --memory on many cores, and exceeded it.
	memoryTenths = 6
)

// The limits for the rows of an interval, and of an outbox, of a worker. Fewer rows are slow: a
// interval also reads rows of neighbouring intervals, and an outbox that is flushed often writes
// many short stretches. More rows do not fit into the processor's caches.
const (
	leastRows = 1 << 12
	mostRows  = 1 << 20
	// rowsOfFile is the minimum number of rows of an interval for each file, so that opening files
	// is a small part of the work.
	rowsOfFile = 64
)

// A plan is a Plan, with the numbers of rows of an interval and of an outbox.
type plan struct {
	inline.Plan
	interval, outbox int
}

// planLayers plans intervals and outboxes of the same size, and as many workers as memory allows;
// for a small tier, intervals that are small enough for all workers to have some. The tasks load rows of some of the sources.
func planLayers(m inline.Memory, g game.Game, loaded, sources []*Source) (plan, error) {
	of := workerMemory{intervalMemory, sentRowMemory / 2 * 3, outboxMemory} // an outbox that grows exists twice for a moment
	return of.plan(m, game.LastTier(g), loaded, sources)
}

// finalRowMemory is the memory of a row of an interval in final, which is loaded and becomes a
// line.
func finalRowMemory(g game.Game) int {
	line := len("''\t65535\n") + max(len(g.AppendText(nil, g.Start())), len("18446744073709551615\tunsolvable\t"))
	return 3*rowMemory + intervalsAhead*line/4*5
}

// A workerMemory is the memory of a worker: bytes for each row of an interval, for each row of an outbox, and in addition.
type workerMemory struct{ loaded, sent, more int }

// plan plans workers that read intervals of some of the sources. What workers allocate counts twice, as in
// inline.Needs. It returns an error if not even one worker with the fewest rows fits into memory.
func (w workerMemory) plan(m inline.Memory, tiers int, read, sources []*Source) (plan, error) {
	left := m.Bytes()/10*memoryTenths - inline.Own() - tiers*tierMemory
	var rows int64
	files := 0
	for _, s := range read {
		rows += s.Rows()
		files += len(s.files)
	}
	for _, s := range sources {
		left -= len(s.files)*fileMemory + s.Cells()*cellMemory
	}
	beside := files * streamfmt.CellRows / 2 // excess rows of an interval, from cells that cross its borders
	least := max(leastRows, files*rowsOfFile)
	each, more := w.loaded+w.sent, w.more+aheadMemory
	missing := func(workers, outbox int) int { // how much memory is lacking
		over := int(min(int64(beside), rows)) * w.loaded
		return 2*workers*(outbox*each+over+more) - left
	}
	p := plan{Plan: inline.Plan{Workers: runtime.GOMAXPROCS(0), Ahead: intervalsAhead}}
	for {
		p.outbox = (left/(2*p.Workers) - more) / each
		p.outbox -= min(beside, p.outbox/2)
		if p.outbox >= least && missing(p.Workers, p.outbox) <= 0 || p.Workers == 1 {
			break
		}
		p.Workers--
	}
	p.outbox = min(max(p.outbox, leastRows), mostRows)
	if missing(p.Workers, p.outbox) > 0 {
		p.outbox = leastRows
	}
	p.interval = min(p.outbox, max(least, int(rows/int64(2*p.Workers))+1))
	if missing := missing(p.Workers, p.outbox); missing > 0 {
		return p, fmt.Errorf("the job needs %dM more memory: --resume with a larger --memory continues", (missing*10/memoryTenths-1)>>20+1)
	}
	return p, nil
}

// LeastInline estimates the minimum memory of Inline: what is known before the first job. The index of a large tier may
// need more.
func (m *Method) LeastInline(_ int, final bool) int {
	each := intervalMemory + sentRowMemory/2*3
	if final {
		each = max(each, finalRowMemory(m.g))
	}
	bytes := 2*(leastRows*each+outboxMemory+aheadMemory) + inline.Own() + game.LastTier(m.g)*tierMemory
	return (bytes/memoryTenths+1)*10 + runner.CodeMemory
}
