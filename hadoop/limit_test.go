package hadoop

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2/hadoopconf"
	"google.golang.org/protobuf/encoding/protowire"
)

// A fakeNode is a name node that answers each call with an exception, or is silent.
type fakeNode struct {
	net.Listener
	calls     chan string  // the methods that were called
	exception string       // "": it is silent
	accepted  atomic.Int64 // connections
}

// newFakeNode starts a fakeNode, which ends with the test.
func newFakeNode(t *testing.T, exception string) *fakeNode {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{Listener: l, calls: make(chan string, 1000), exception: exception}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.accepted.Add(1)
			go n.serve(conn)
		}
	}()
	return n
}

// serve reads the header and the packet with the user, and then calls.
func (n *fakeNode) serve(conn net.Conn) {
	defer conn.Close()
	io.CopyN(io.Discard, conn, int64(len(rpcHeader)))
	for first := true; ; first = false {
		var length uint32
		if binary.Read(conn, binary.BigEndian, &length) != nil {
			return
		}
		packet := make([]byte, length)
		if _, err := io.ReadFull(conn, packet); err != nil {
			return
		}
		if first {
			continue
		}
		raw, size := protowire.ConsumeBytes(packet)
		request, _ := parseMessage(raw)
		raw, _ = protowire.ConsumeBytes(packet[size:])
		call, _ := parseMessage(raw)
		n.calls <- string(call.last(1))
		if n.exception == "" {
			continue
		}
		header := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(protowire.DecodeZigZag(request.number(requestCall))))
		header = protowire.AppendVarint(protowire.AppendTag(header, answerStatus, protowire.VarintType), 1)
		header = protowire.AppendString(protowire.AppendTag(header, answerException, protowire.BytesType), n.exception)
		answer := protowire.AppendBytes(nil, header)
		conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(answer))), answer...))
	}
}

// connectTo connects to the nodes, which have a time limit for each answer.
func connectTo(t *testing.T, limit string, nodes ...*fakeNode) *FS {
	t.Helper()
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.Addr().String())
	}
	f, err := connect(hadoopconf.HadoopConf{"ipc.client.rpc-timeout.ms": limit}, addresses, "", func() (string, error) { return "me", nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const hour = "3600000"

// TestSilentNameNode calls a name node that accepts connections and does not answer.
func TestSilentNameNode(t *testing.T) {
	n := newFakeNode(t, "")
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
	first, second := newFakeNode(t, ""), newFakeNode(t, "java.io.FileNotFoundException")
	f := connectTo(t, hour, first, second)
	client, _, err := f.take()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	idle, err := f.newClient()
	if err != nil {
		t.Fatal(err)
	}
	f.give(idle) // also connected to the first node
	f.limits.setCall(50 * time.Millisecond)
	_, err = client.Stat("/x")
	if silent := new(silentError); !errors.As(err, &silent) || silent.address != first.Addr().String() {
		t.Fatal(err)
	}
	f.limits.setCall(time.Hour)
	if _, err := client.Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the answer of the second node", err)
	}
	if _, err := f.Stat("/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want the answer of the second node", err)
	}
}

// TestCloseSilent closes a file system while a name node does not answer to a renewal of leases.
func TestCloseSilent(t *testing.T) {
	n := newFakeNode(t, "")
	f := connectTo(t, hour, n)
	if method := <-n.calls; method != "renewLease" {
		t.Fatalf("%s was called", method)
	}
	f.Close() // while the client waits for the answer
}

// TestInterrupt interrupts calls to a name node and to a data node that are silent.
func TestInterrupt(t *testing.T) {
	n := newFakeNode(t, "")
	f := connectTo(t, hour, n, newFakeNode(t, ""))
	ctx, interrupt := context.WithCancel(t.Context())
	f.EndWith(ctx)
	calls := make(chan error, 2)
	go func() {
		_, err := f.Stat("/x")
		calls <- err
	}()
	<-n.calls
	conn, err := f.options.DatanodeDialFunc(t.Context(), "tcp", n.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
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
	if f.limits.sleep(time.Hour) {
		t.Error("slept for an hour")
	}
}
