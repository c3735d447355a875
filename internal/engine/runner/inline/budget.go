package inline

import (
	"fmt"
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// defaultMemory is Runner.Memory where it is 0.
const defaultMemory = 2 << 30

const (
	// ownMemory is what the process takes without a job.
	ownMemory = 6 << 20
	// coreMemory is what Go's runtime takes for each core.
	coreMemory = 64 << 10
	// entryMemory is what a range of a tier takes, twice while its index is read:
	// jobdir has 32 bytes for it, streamfmt 24.
	entryMemory = 56
	// boxMemory is what a range takes in a pass: its box, its place in lists, and
	// where it lies in a few files; emptyBoxMemory if it receives nothing; placeMemory is
	// what a state takes that is read.
	boxMemory      = 256
	emptyBoxMemory = 40
	placeMemory    = 32
	// taskMemory is what a task takes, done or not: its place and its channel.
	taskMemory = 160
)

// What lists take, in bytes; see package lists.
const (
	rowMemory = 16 // a row that is loaded, and as much while rows are sorted
	// shareRowMemory is a row of a share, with those of the shares that wait.
	shareRowMemory = (listsAhead + 2) * rowMemory
	toldMemory     = 34        // a row that waits in an outbox
	outboxMemory   = 1 << 20   // an outbox with none
	cellMemory     = 40 + 16   // a cell in the index of a file, and while shares are cut
	fileMemory     = 4 << 10   // a file of a source
	tierMemory     = 4 << 10   // a tier: what the loop knows of its jobs
	aheadMemory    = 128 << 10 // what a worker reads ahead
	listsAhead     = 2         // how many shares a worker may be ahead of the writer

	// heardShare is what part of memory is for what ranges have heard in a pass, and
	// passPercent what then is left for all else, a tenth being the collector's.
	heardShare  = 4
	passPercent = 90 - 100/heardShare

	// toldShare is what part of memory rows may take that wait in the outboxes of a pass
	// over a game with cycles.
	toldShare = 16

	// listsTenths is how much of memory lists are planned with. Rows and runs of all sizes
	// come and go in every worker, in whose gaps the collector finds less room than
	// elsewhere: of nine tenths all of --memory was resident on many cores, and more.
	listsTenths = 6
)

// The rows of a share, and of an outbox, of a worker: fewer are slow, as a share reads
// rows of those beside it, and an outbox that is emptied often makes many short runs; of
// more the processor's caches hold too little.
const (
	leastRows = 1 << 12
	mostRows  = 1 << 20
	// rowsOfFile is how many rows a share has for each file, that to open the file for
	// it is no great part of the work.
	rowsOfFile = 64
)

// A frugality is how a job is cut to measure: it costs the less memory the later
// it stands in frugalities, and the more time.
type frugality struct {
	slots  int // how many a worker takes at a time: enough to make a hand-over cheap, few enough that all workers end together
	ahead  int // how many chunks a worker may be ahead of the writer
	window int // how many bytes of a file are read at a time
}

var frugalities = [...]frugality{
	{1 << 17, 8, 64 << 10},
	{1 << 16, 4, 32 << 10},
	{1 << 15, 2, 16 << 10},
	{1 << 13, 2, 8 << 10},
}

// Needs are what a job holds in memory, in bytes.
type needs struct {
	shared  int                 // by all workers together
	worker  int                 // by each
	windows int                 // into how many files each worker looks at a time
	record  int                 // the largest that is read
	chunk   func(slots int) int // what becomes of so many slots
}

// of is what the job takes with so many workers: what they hold twice, as what a
// job or a worker lets go lies about until the collector comes.
func (n *needs) of(workers int, f frugality) int {
	each := n.worker + n.windows*(max(f.window, n.record)+2*n.record) + f.ahead*n.chunk(f.slots)
	return n.shared + 2*workers*each
}

// A plan is how a job keeps within the memory that is asked for.
type plan struct {
	workers int
	frugality
}

// left is what a job may take. The collector needs a tenth of memory to move in.
func (r *Runner) left() int {
	return r.memory()/10*9 - ownMemory - coreMemory*runtime.GOMAXPROCS(0)
}

// plan has as many workers as cores, or as many as there is memory for.
func (r *Runner) plan(n needs) plan {
	left := r.left()
	for workers := runtime.GOMAXPROCS(0); workers > 0; workers-- {
		for _, f := range frugalities {
			if n.of(workers, f) <= left {
				return plan{workers, f}
			}
		}
	}
	return plan{1, frugalities[len(frugalities)-1]}
}

// planPass is the plan of a pass over a game with cycles; it is an error if the least that
// the pass takes does not fit into memory.
func (r *Runner) planPass(g game.Cyclic, n needs) (plan, error) {
	p := r.plan(n)
	n.shared -= int(game.Ranges(g)) * (boxMemory - emptyBoxMemory) // ranges that receive nothing
	if missing := n.of(1, frugalities[len(frugalities)-1]) - r.left(); missing > 0 {
		return p, tooLittle(missing * 100 / passPercent)
	}
	return p, nil
}

// tooLittle is the error of a job for which so many bytes of memory are missing.
func tooLittle(missing int) error {
	return fmt.Errorf("the job needs %dM more memory: --resume with a larger --memory continues", (missing-1)>>20+1)
}

// heardMemory is how many bytes what ranges have heard in a pass may take.
func (r *Runner) heardMemory() int {
	if r.Heard > 0 {
		return r.Heard
	}
	return r.memory() / heardShare
}

func (r *Runner) memory() int {
	if r.Memory > 0 {
		return r.Memory
	}
	return defaultMemory
}

// A listPlan is how a job by lists keeps within memory, in rows.
type listPlan struct {
	plan
	share, outbox int
}

// planLists has shares and outboxes of the same size, and as many workers as there is
// memory for; of a tier that is small, shares such that all workers have some.
func (r *Runner) planLists(tiers int, sources []*lists.Source) (listPlan, error) {
	return r.planRows(tiers, sources, shareRowMemory, toldMemory/2*3, outboxMemory) // an outbox that grows is there twice
}

// planListsFinal has shares such that the lines of all that workers have in their hands
// fit in.
func (r *Runner) planListsFinal(g game.Acyclic, all *lists.Source) (listPlan, error) {
	p, err := r.planRows(g.Tiers(), []*lists.Source{all}, finalRowMemory(g), 0, 0)
	p.share = min(p.share, mostRows/4)
	return p, err
}

// finalRowMemory is what a row of a share takes in final: it is loaded, and becomes a line.
func finalRowMemory(g game.Acyclic) int {
	line := len(g.AppendText(nil, g.Start())) + len("''\t65535\n")
	return 3*rowMemory + listsAhead*line/4*5
}

// planRows is a plan of workers that hold so many bytes for a row of a share, for a row of
// an outbox, and some more. What they hold counts twice, as in needs. It is an error if not
// even one worker with the fewest rows fits into memory.
func (r *Runner) planRows(tiers int, sources []*lists.Source, loaded, told, more int) (listPlan, error) {
	left := r.memory()/10*listsTenths - ownMemory - coreMemory*runtime.GOMAXPROCS(0) - tiers*tierMemory
	var rows int64
	files := 0
	for _, s := range sources {
		rows += s.Rows()
		files += s.Files()
		left -= s.Files()*fileMemory + s.Cells()*cellMemory
	}
	beside := files * streamfmt.CellRows / 2 // rows that a share has more than it should, of cells across its borders
	least := max(leastRows, files*rowsOfFile)
	each, more := loaded+told, more+aheadMemory
	missing := func(workers, outbox int) int { // how much too little memory is
		over := int(min(int64(beside), rows)) * loaded
		return 2*workers*(outbox*each+over+more) - left
	}
	p := listPlan{plan: plan{workers: runtime.GOMAXPROCS(0), frugality: frugality{ahead: listsAhead}}}
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
	p.share = min(p.outbox, max(least, int(rows/int64(2*p.workers))+1))
	if missing := missing(p.workers, p.outbox); missing > 0 {
		return p, tooLittle(missing * 10 / listsTenths)
	}
	return p, nil
}

// Least is about how much memory a game takes at least: until a tier, -1 for all,
// and with the text of all positions or without. Of a game by lists or with cycles it is what
// is known before the first job; a job that needs more, as for the index of a large tier, is
// refused when it begins.
func Least(g game.Game, until int, final bool) int {
	switch g := game.ByMethod(g).(type) {
	case game.Tiered:
		return leastBlocks(g, until, final)
	case game.Cyclic:
		n := passNeeds(g, jobdir.Blocks)
		n.shared = int(min(game.Ranges(g), game.MaxRanges)) * emptyBoxMemory
		if step.Tells(g, step.Mark) {
			n.worker += outboxMemory + leastRows*toldMemory
		}
		bytes := n.of(1, frugalities[len(frugalities)-1]) + ownMemory + coreMemory*runtime.GOMAXPROCS(0)
		return (bytes/passPercent+1)*100 + runner.CodeMemory
	case game.Acyclic:
		each := shareRowMemory + toldMemory/2*3
		if final {
			each = max(each, finalRowMemory(g))
		}
		bytes := 2*(leastRows*each+outboxMemory+aheadMemory) + ownMemory + coreMemory*runtime.GOMAXPROCS(0) + g.Tiers()*tierMemory
		return (bytes/listsTenths+1)*10 + runner.CodeMemory
	}
	return 0
}

func leastBlocks(t game.Tiered, until int, final bool) int {
	if until < 0 || until > t.Tiers() {
		until = t.Tiers()
	}
	var all, most, slots float64
	for tier := range until + 1 {
		n := t.Ranges(tier)
		all += n
		most = max(most, n)
		slots = max(slots, min(t.Slots(tier)/n, float64(uint64(1)<<t.LowBits())))
	}
	entries := 4 * most // a job's input and output, and the table's
	if final {
		entries = max(entries, all)
	}
	near := min(jobdir.MostNear, most)
	bytes := entries*entryMemory + 3*near*slots + float64(t.Tables()+ownMemory+coreMemory*runtime.GOMAXPROCS(0)+1<<20)
	return int(min(bytes/9*10, 1<<62))
}

// blockMemory is what a block of so many slots takes: two bits and a value each.
func blockMemory(slots int) int { return slots + slots/4 }

// openMemory is what the list of the open ones among so many slots takes.
func openMemory(slots int) int { return 4 * slots }

// stateMemory is what a state takes: nine bits a hash.
func stateMemory(g game.Cyclic) int { return block.StatePlanes * 8 * block.Words(g.RangeSize()) }

// lineMemory is what a record takes as text.
func lineMemory(g game.Game) int { return streamfmt.KeyWidth(g.KeyBits()) + len("\t255\n") }

// chunkMemory is what becomes of so many slots and a block's: packed, with the
// memory of the encoder, or lines; and a quarter, as slices grow.
func chunkMemory(g game.Game, c jobdir.Codec, slots, largest int) int {
	each := lineMemory(g)
	if c == jobdir.Blocks {
		each = 1
	}
	return ((slots+largest)*each + 2*largest) / 4 * 5
}
