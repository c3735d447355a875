package inline

import (
	"cmp"
	"io"
	"sync"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/lists"
)

// A telling is what the workers of a job tell in rows, each into an outbox of its own.
type telling struct {
	boxes []*lists.OutboxWriter // by part

	mu   sync.Mutex
	outs []*teller
}

// newTelling is of a job with so many parts; create makes their files.
func newTelling(create func(name string) (io.WriteCloser, error), parts int, g game.Game, kind lists.Kind, c jobdir.Codec) *telling {
	t := new(telling)
	for i := range parts {
		t.boxes = append(t.boxes, lists.NewOutboxWriter(create, i, g, kind, c))
	}
	return t
}

// A teller is the outbox of a worker.
type teller struct {
	*lists.Outbox
	part int // for which it tells
}

// newTeller gives a worker the outbox that is made with what emits its chunks.
func (t *telling) newTeller(make func(emit func(*lists.Chunk) error) *lists.Outbox) *teller {
	w := new(teller)
	w.Outbox = make(func(c *lists.Chunk) error { return t.boxes[w.part].Append(c) })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outs = append(t.outs, w)
	return w
}

// goOn has the teller tell for a part from now on.
func (w *teller) goOn(part int) (err error) {
	if part != w.part {
		err = w.Flush()
		w.part = part
	}
	return err
}

// finish has the workers tell what they still have to tell, all at a time, if the others
// had no error, and ends the outboxes.
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
