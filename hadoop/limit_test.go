package hadoop

import (
	"context"
	"errors"
	"io/fs"
	"strings"
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
	<-n.calls
	accepted := n.accepted.Load()
	// The node is not called again.
	if _, err := f.Create("/x"); err == nil || !strings.Contains(err.Error(), "no answer from name node "+n.Addr().String()) {
		t.Error(err)
	}
	if again := n.accepted.Load() - accepted; again != 0 {
		t.Errorf("%d connections after it was silent, want none", again)
	}
}

// TestSecondNameNode calls a name node that is silent, and then another one, with the same client and
// with others.
func TestSecondNameNode(t *testing.T) {
	first, second := newFakeNode(t, nil), newFakeNode(t, func(string, message) ([]byte, exception) { return nil, missing })
	f := connectTo(t, hour, first, second)
	client, _, err := f.take()
	must.OK(t, err)
	defer client.Close()
	idle, err := f.newClient()
	must.OK(t, err)
	f.give(idle) // also connected to the first node
	f.limits.call.Store(int64(50 * time.Millisecond))
	_, err = client.Stat("/x")
	if silent := new(silentError); !errors.As(err, &silent) || silent.address != first.Addr().String() {
		t.Fatal(err)
	}
	f.limits.call.Store(int64(time.Hour))
	if _, err := client.Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the answer of the second node", err)
	}
	if _, err := f.Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the answer of the second node", err)
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
