package step

// Counts are the counts of a job or of one of its tasks.
type Counts struct {
	Records  int64 `json:"records,omitempty"`  // records written
	Finished int64 `json:"finished,omitempty"` // of these, positions with a value; of a job possible, terminal positions

	// Positions is the number of positions, if a position may have several records: in the
	// rows of possible, one for each predecessor. 0 means the same as Records.
	Positions int64 `json:"positions,omitempty"`
	// Messages is the number of moves for which messages were sent by a job by layers, where moves from a position to the
	// same successor count as one.
	Messages int64 `json:"messages,omitempty"`
	// Inner is the number of messages that a job on a tier with inner moves sent within the tier, retrograde; Received
	// the number of those that it received.
	Inner    int64 `json:"-"`
	Received int64 `json:"-"`
}

// Counters are the counts of a stream or a kernel, with the number of records read.
type Counters struct {
	In int64
	Counts
	Read int64 // bytes that a task has received from data nodes
}

// The names of the counters of a task: of records, of messages and positions where these are
// not records (see Counts), of bytes, and of the task itself.
const (
	RecordsIn   = "records in"
	RecordsOut  = "records out"
	RecordsDone = "records with a value"
	Messages    = "messages"
	Positions   = "positions"
	BytesRead   = "bytes from data nodes"

	Tasks = "tasks"
	Wall  = "milliseconds"
	CPU   = "CPU milliseconds"
)

// CounterGroup returns the name of the group of the counters of a side, map or reduce.
func CounterGroup(side string) string { return "treereduce " + side }

// each calls do with the name and the value of each counter.
func (n *Counters) each(do func(name string, value *int64)) {
	do(RecordsIn, &n.In)
	do(RecordsOut, &n.Records)
	do(RecordsDone, &n.Finished)
	do(Messages, &n.Messages)
	do(Positions, &n.Positions)
	do("inner messages", &n.Inner)
	do("inner messages received", &n.Received)
	do(BytesRead, &n.Read)
}

// Each calls do with the name and value of each counter that a task reports: always those
// of records, and the others if they are not 0.
func (n *Counters) Each(do func(name string, value int64)) {
	n.each(func(name string, value *int64) {
		if *value > 0 || name == RecordsIn || name == RecordsOut || name == RecordsDone {
			do(name, *value)
		}
	})
}

// Named returns the counters with these values, by name.
func Named(values map[string]int64) (n Counters) {
	n.each(func(name string, value *int64) { *value = values[name] })
	return n
}
