package runner

import (
	"context"
	"io"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Method is a game and how its jobs are executed: what they read, compute and write. See package method for the choice
// of one.
type Method interface {
	// Name returns the name of the method, and Game the game.
	Name() string
	Game() game.Game
	// Map and Reduce run one side of a step of the game (step.NamesOf) from in to out. The input of Reduce is sorted by key.
	Map(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error)
	Reduce(name string, in io.Reader, out io.Writer, o step.Options) (step.Counters, error)
	// Properties returns the properties of the tasks of a job, in addition to those of all games, except for Init and
	// Final. borders are the first keys of all parts except the first, as lines have them.
	Properties(j *Job, borders [][]byte) []step.Property

	// Borders returns the first keys of all parts of a job except the first, ascending. By blocks they are the first keys of
	// ranges.
	Borders(j *Job) ([]game.Position, error)
	// Splits divides the input of a job among mappers that read packed records, and returns the splits of each. tasks returns
	// the desired number of mappers for a number of records. Splits also returns the number of records.
	Splits(j *Job, tasks func(records int64) int) (maps [][]step.Split, records int64, err error)
	// Partitions divides the pairs of a job among at most the given number of reducers. It returns the first keys of all
	// partitions except the first, strictly ascending and as the pairs have them, and the properties of the tasks.
	Partitions(j *Job, reducers int) (keys []uint64, properties []step.Property, err error)

	// Ranges returns the first keys of all parts of a tier except the first, strictly ascending and as lines have them, for a job
	// that is started by hand. It fails if they depend on what earlier jobs have written.
	Ranges(tier, parts int) ([][]byte, error)

	// AddInput adds the lines that the maps of a job read, except for Init.
	AddInput(j *Job, in *Input) error
	// WriteShard is Job.WriteShard, except for Final. source describes the lines.
	WriteShard(j *Job, i int, lines io.Reader, source string) error
	// WriteLines writes the records in the directory of a job that has run as lines, too: shards, and messages to other jobs.
	// No job reads them.
	WriteLines(j *Job) error
	// WriteTable is Job.WriteTable, for the parts of the output.
	WriteTable(ctx context.Context, j *Job, parts []jobdir.File) error

	// Needs returns the needs of a run for its manifest.
	Needs() []string
	// Whole reports whether the parts in a sealed directory have all positions of their tier, not only those that the table
	// stores.
	Whole(fsys store.FS, dir string, seal *store.Seal) (bool, error)
	// ValuedFirst reports whether the forward job of a tier gives all its positions values.
	ValuedFirst(tier int) bool
	// OpenSender opens the directory of a job that sends messages.
	OpenSender(fsys store.FS, dir string) (Sender, error)

	// Inline returns a runner that executes jobs in this process, with this many bytes of memory; 0 means 2 GiB.
	Inline(memory int) Runner
	// LeastInline estimates the minimum memory with which Inline can solve the game up to the tier until, -1 for all
	// tiers, and with or without the text of all positions. A job that needs more fails when it begins.
	LeastInline(until int, final bool) int
	// Tables returns the memory of the game's tables, in bytes, which every process has.
	Tables() int
	// Sends reports whether reducers send messages to other jobs, for which they need as much memory as a mapper. Otherwise a
	// job reads the tier beside its own.
	Sends() bool
	// Slots returns upper bounds for the numbers of positions and ranges of a tier; 0: none is known.
	Slots(tier int) (slots, ranges float64)
	// CountRanges sets the numbers of ranges and slots of a tier with these positions, which ascend.
	CountRanges(t *Tier, positions []game.Position)
	// Costs estimates the costs of all tiers, whose sum is given. stored says whether jobs have Stored.
	Costs(tiers []Tier, sum Tier, stored bool) []Cost
	// MostRecords returns an upper bound for the number of records that a job reads.
	MostRecords() float64
}
