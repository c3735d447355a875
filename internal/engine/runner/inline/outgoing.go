package inline

import (
	"io"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/layers"
	"github.com/treereduce/treereduce/streamfmt"
)

// An outgoing collects the rows that the workers of a job send. Each worker has its own outbox.
type outgoing struct {
	runner *Runner
	g      game.Game
	kind   layers.Kind
	boxes  []*layers.OutboxWriter // by part

	mu   sync.Mutex
	outs []*sender
}

// newOutgoing returns the outgoing of a job.
func newOutgoing(j *job, g game.Game, kind layers.Kind) *outgoing {
	t := &outgoing{runner: j.runner, g: g, kind: kind}
	for i := range j.Reducers {
		t.boxes = append(t.boxes, layers.NewOutboxWriter(func() (io.WriteCloser, error) { return j.create(layers.OutboxName(i)) }, g, kind))
	}
	return t
}

// A sender is the outbox of a worker.
type sender struct {
	*layers.Outbox
	partition int // the part whose file gets the rows
}

// newSender returns the outbox of a worker, which buffers up to most rows.
func (t *outgoing) newSender(most int) *sender {
	w := new(sender)
	w.Outbox = layers.NewOutbox(t.g, t.kind, most, func(p *streamfmt.Packer) error { return t.boxes[w.partition].Append(p) })
	t.mu.Lock()
	defer t.mu.Unlock()
	if kept := &t.runner.outboxes; len(*kept) > 0 {
		w.Inherit(take(kept))
	}
	t.outs = append(t.outs, w)
	return w
}

// setPartition sets the part whose file gets all further rows.
func (w *sender) setPartition(part int) (err error) {
	if part != w.partition {
		err = w.Flush()
		w.partition = part
	}
	return err
}

// finish flushes the outboxes of all workers concurrently, unless err is set, and closes the
// files. The runner keeps the memory of the outboxes for the next job. A nil outgoing has none.
func (t *outgoing) finish(err error) error {
	if t == nil {
		return err
	}
	if err == nil {
		var all sync.WaitGroup
		for _, out := range t.outs {
			all.Go(func() { _ = out.Flush() }) // an error is that of a box
		}
		all.Wait()
		for _, out := range t.outs {
			t.runner.outboxes = append(t.runner.outboxes, out.Outbox)
		}
	}
	for _, box := range t.boxes {
		err = box.Finish(err)
	}
	return err
}
