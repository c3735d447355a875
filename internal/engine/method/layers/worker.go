package layers

import (
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
)

// A worker does the work of a job on intervals of the keys, one after the other. It is used by one goroutine.
type worker struct {
	writes Writes
	stored storedRows
	kernel Kernel
	loader Loader
	rows   Rows // those that were received for the next interval, and what the kernel makes of them

	absorbed, looked, union []Row // states of the interval
}

// do does the work on an interval. out gets what the job writes.
func (w *worker) do(in Interval, out *chunk) (err error) {
	r := &w.rows
	if w.absorbed, err = w.loader.LoadRuns(w.absorbed, w.stored.absorbed, in); err != nil {
		return err
	}
	r.Known = w.absorbed
	if len(w.stored.runs) > 0 {
		if w.looked, err = w.loader.Newest(w.looked, w.stored.runs, *r.of(w.writes.Sent)); err != nil {
			return err
		}
		w.union = unionOf(w.union[:0], w.looked, w.absorbed)
		r.Known = w.union
	}
	r.Edges = func(decided []Row, do func(i int, row Row) error) error {
		return w.loader.Pick(w.stored.edges, decided, do)
	}
	if err := w.kernel.Do(r); err != nil {
		return err
	}
	out.rows, out.states = out.rows[:0], out.states[:0]
	if w.writes.Shards {
		made := r.of(w.writes.Shard)
		out.rows, *made = *made, out.rows
	}
	if w.writes.States {
		out.states = unionOf(out.states, w.absorbed, r.States)
	}
	return nil
}

// A chunk is what a job writes for an interval: rows of its shard, and states.
type chunk struct{ rows, states []Row }

// records returns the number of records that a chunk has: states only if the job writes no shards.
func (c *chunk) records(w Writes) int64 {
	if w.Shards {
		return int64(len(c.rows))
	}
	return int64(len(c.states))
}

// A shard is the files that a reducer writes, beside messages.
type shard []*PartWriter

// forms are the forms in which a reducer writes the rows of its shard: as a part of the directory, and for the table.
type forms struct{ part, table bool }

// newShard creates the files of reducer i: of its rows in some forms, and of states, as far as the job writes them.
func newShard(create createFunc, g game.Game, tier int, writes Writes, i int, of forms) (s shard, err error) {
	for _, f := range []struct {
		wanted, table bool
		name          string
		kind          Kind
	}{
		{wanted: writes.Shards && of.part, name: jobdir.PartName(i), kind: writes.Shard},
		{wanted: writes.Shards && of.table && writes.Shard == Values, table: true, name: jobdir.ShardName(jobdir.TablePart, i), kind: Values},
		{wanted: writes.States, name: statesName(i), kind: States},
	} {
		if !f.wanted {
			continue
		}
		out, err := create(f.name)
		if err != nil {
			return nil, s.Finish(err)
		}
		w := NewPartWriter(out, g, tier, f.kind)
		if f.table {
			w.chunk.SetCoded()
		}
		s = append(s, w)
	}
	return s, nil
}

// Append writes a chunk, which must come after all written before.
func (s shard) Append(c *chunk) error {
	for _, w := range s {
		rows := c.rows
		if w.kind == States {
			rows = c.states
		}
		if err := w.Append(rows); err != nil {
			return err
		}
	}
	return nil
}

// Finish completes the files unless err is not nil, and closes them in any case. It returns the first error.
func (s shard) Finish(err error) error {
	for _, w := range s {
		err = w.Finish(err)
	}
	return err
}
