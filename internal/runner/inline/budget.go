package inline

import (
	"runtime"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/lists"
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
	// where it lies in a few files; placeMemory is what a state takes that is read.
	boxMemory   = 256
	placeMemory = 32
	// taskMemory is what a task takes, done or not: its place and its channel.
	taskMemory = 160
)

// What lists take, in bytes; see package lists.
const (
	rowMemory    = 16        // a row that is loaded, and as much while rows are sorted
	toldMemory   = 34        // a row that waits in an outbox
	outboxMemory = 1 << 20   // an outbox with none
	cellMemory   = 40 + 16   // a cell in the index of a file, and while shares are cut
	fileMemory   = 4 << 10   // a file of a source
	tierMemory   = 4 << 10   // a tier: what the loop knows of its jobs
	aheadMemory  = 128 << 10 // what a worker reads ahead
	listsAhead   = 2         // how many shares a worker may be ahead of the writer

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

// plan has as many workers as cores, or as many as there is memory for. The
// collector needs a tenth of it to move in.
func (r *Runner) plan(n needs) plan {
	left := r.memory()/10*9 - ownMemory - coreMemory*runtime.GOMAXPROCS(0)
	for workers := runtime.GOMAXPROCS(0); workers > 0; workers-- {
		for _, f := range frugalities {
			if n.of(workers, f) <= left {
				return plan{workers, f}
			}
		}
	}
	return plan{1, frugalities[len(frugalities)-1]}
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
func (r *Runner) planLists(tiers int, sources []*lists.Source) listPlan {
	const each = (listsAhead+2)*rowMemory + toldMemory/2*3 // of a row; an outbox that grows is there twice
	return r.planRows(tiers, sources, each, outboxMemory)
}

// planListsFinal has shares such that the lines of all that workers have in their hands
// fit in.
func (r *Runner) planListsFinal(g game.Acyclic, all *lists.Source) listPlan {
	line := len(g.AppendText(nil, g.Start())) + len("''\t65535\n")
	p := r.planRows(g.Tiers(), []*lists.Source{all}, 3*rowMemory+listsAhead*line/4*5, 0)
	p.share = min(p.share, mostRows/4)
	return p
}

// planRows is a plan of workers that each hold so many bytes for a row, and some more.
// What they hold counts twice, as in needs.
func (r *Runner) planRows(tiers int, sources []*lists.Source, each, more int) listPlan {
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
	p := listPlan{plan: plan{workers: runtime.GOMAXPROCS(0), frugality: frugality{ahead: listsAhead}}}
	for {
		p.outbox = (left/(2*p.workers) - more - aheadMemory) / each
		p.outbox -= min(beside, p.outbox/2)
		if p.outbox >= least || p.workers == 1 {
			break
		}
		p.workers--
	}
	p.outbox = min(max(p.outbox, leastRows), mostRows)
	p.share = min(p.outbox, max(least, int(rows/int64(2*p.workers))+1))
	return p
}

// Least is about how much memory a game takes at least: until a tier, -1 for all,
// and with the text of all positions or without. A game with cycles is content
// with little, and so is one of which only the rules are known.
func Least(g game.Game, until int, final bool) int {
	t, ok := g.(game.Tiered)
	if !ok {
		return 0
	}
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
