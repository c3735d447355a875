package inline

import (
	"cmp"
	"io"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
)

// A telling collects the rows that the workers of a job send. Each worker has its own outbox.
type telling struct {
	boxes []*lists.OutboxWriter // by part

	mu   sync.Mutex
	outs []*sender
}

// newTelling returns a telling for a job with the given number of parts. create creates their
// files.
func newTelling(create func(name string) (io.WriteCloser, error), parts int, g game.Game, kind lists.Kind, c jobdir.Codec) *telling {
	t := new(telling)
	for i := range parts {
		t.boxes = append(t.boxes, lists.NewOutboxWriter(create, i, g, kind, c))
	}
	return t
}

// A sender is the outbox of a worker.
type sender struct {
	*lists.Outbox
	part int // the part whose file gets the rows
}

// newTeller creates the outbox of a worker: it calls make with the function that writes a
// chunk.
func (t *telling) newTeller(make func(emit func(*lists.Chunk) error) *lists.Outbox) *sender {
	w := new(sender)
	w.Outbox = make(func(c *lists.Chunk) error { return t.boxes[w.part].Append(c) })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outs = append(t.outs, w)
	return w
}

// goOn sets the part whose file gets all further rows.
func (w *sender) goOn(part int) (err error) {
	if part != w.part {
		err = w.Flush()
		w.part = part
	}
	return err
}

// finish flushes the outboxes of all workers concurrently, unless err is set, and closes the
// files.
func (t *telling) finish(err error) error {
	if err == nil {
		var all sync.WaitGroup
		errs := make([]error, len(t.outs))
		for i, out := range t.outs {
			all.Go(func() { errs[i] = out.Flush() })
		}
		all.Wait()
		err = cmp.Or(errs...)
	}
	for _, box := range t.boxes {
		err = box.Finish(err)
	}
	return err
}
