package hadoop

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSilentNameNode calls a name node that accepts connections and does not answer.
func TestSilentNameNode(t *testing.T) {
	n := newFakeNode(t, nil)
	f := connectTo(t, "50", n)
	want := "stat /x: no answer from name node " + n.Addr().String() + " within 50ms"
	if _, err := f.Stat("/x"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestSecondNameNode calls a name node that is silent, and then another one.
func TestSecondNameNode(t *testing.T) {
	first, second := newFakeNode(t, nil), newFakeNode(t, func(string, message) ([]byte, exception) { return nil, missing })
	f := connectTo(t, "2000", first, second)
	for range 2 { // with a new client, and with the idle one
		if _, err := f.Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, want the answer of the second node", err)
		}
	}
}

// TestCloseSilent closes a file system while a name node does not answer to a renewal of leases.
func TestCloseSilent(t *testing.T) {
	n := newFakeNode(t, nil)
	f := connectTo(t, hour, n)
	client, _, err := f.take()
	must.OK(t, err)
	if method := <-n.calls; method != "renewLease" {
		t.Fatalf("%s was called", method)
	}
	f.give(client)
	f.Close() // while the client waits for the answer
}

// TestInterrupt interrupts calls to a name node and to a data node that are silent.
func TestInterrupt(t *testing.T) {
	n := newFakeNode(t, nil)
	f := connectTo(t, hour, n, newFakeNode(t, nil))
	ctx, interrupt := context.WithCancel(t.Context())
	f.EndWith(ctx)
	calls := make(chan error, 2)
	go func() {
		_, err := f.Stat("/x")
		calls <- err
	}()
	<-n.calls
	conn, err := f.options.DatanodeDialFunc(t.Context(), "tcp", n.Addr().String())
	must.OK(t, err)
	defer conn.Close()
	go func() {
		_, err := conn.Read(make([]byte, 1))
		calls <- err
	}()
	interrupt()
	for range 2 {
		if err := <-calls; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a later call: %v, want %v", err, context.Canceled)
	}
	if f.limits.sleep(time.Hour) {
		t.Error("slept for an hour")
	}
}
