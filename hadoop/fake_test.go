package hadoop

import (
	"encoding/binary"
	"io"
	"maps"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/colinmarc/hdfs/v2/hadoopconf"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// A fakeNode is a name node that answers calls by a function, or is silent.
type fakeNode struct {
	net.Listener
	calls  chan string                                              // the methods that were called
	answer func(method string, request message) ([]byte, exception) // nil: it is silent
}

// An exception is the class of an exception. If it is cut, the node closes the connection.
type exception string

const (
	cut        exception = "cut"
	missing    exception = "java.io.FileNotFoundException"
	exists     exception = "org.apache.hadoop.fs.FileAlreadyExistsException"
	beingMade  exception = "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"
	inRecovery exception = "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException"
)

// newFakeNode starts a fakeNode, which ends with the test.
func newFakeNode(t *testing.T, answer func(string, message) ([]byte, exception)) *fakeNode {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	n := &fakeNode{Listener: l, calls: make(chan string, 1000), answer: answer}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
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
		var parts [3]message // the header, the name of the method, and its arguments
		for i := range parts {
			raw, size := protowire.ConsumeBytes(packet)
			packet = packet[size:]
			parts[i], _ = parseMessage(raw)
		}
		method := string(parts[1].last(1))
		n.calls <- method
		if n.answer == nil {
			continue
		}
		body, failure := n.answer(method, parts[2])
		if failure == cut {
			return
		}
		header := field(1, protowire.DecodeZigZag(parts[0].number(requestCall)))
		if failure == "" {
			header = append(header, field(answerStatus, 0)...)
		} else {
			header = slices.Concat(header, field(answerStatus, 1), field(answerException, string(failure)))
		}
		all := protowire.AppendBytes(nil, header)
		if failure == "" {
			all = protowire.AppendBytes(all, body)
		}
		conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(all))), all...))
	}
}

// field returns a field of a message.
func field[T int | int64 | string | []byte](number protowire.Number, value T) []byte {
	switch value := any(value).(type) {
	case int:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(value))
	case int64:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(value))
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	return nil
}

// connectTo connects to the nodes, which have a time limit for each answer.
func connectTo(t *testing.T, limit string, nodes ...*fakeNode) *FS {
	t.Helper()
	var addresses []string
	for _, n := range nodes {
		addresses = append(addresses, n.Addr().String())
	}
	f, err := connect(hadoopconf.HadoopConf{"ipc.client.rpc-timeout.ms": limit, "dfs.client.socket-timeout": limit}, addresses, "hdfs://fake", func() (string, error) { return "me", nil })
	must.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

const hour = "3600000"

// A fakeHDFS is a name node with files that are empty.
type fakeHDFS struct {
	mu    sync.Mutex
	files map[string]*fakeFile
	// before may answer a call instead: it returns whether it did.
	before func(method string, request message) (exception, bool)
}

type fakeFile struct {
	dir    bool
	mode   int
	owner  string
	writer string // the client that has its lease
}

// newFakeHDFS starts a fakeHDFS, and connects to it.
func newFakeHDFS(t *testing.T) (*fakeHDFS, *FS) {
	t.Helper()
	h := &fakeHDFS{files: map[string]*fakeFile{"/": {dir: true, mode: 0o755, owner: "super"}}}
	return h, connectTo(t, hour, newFakeNode(t, h.answer))
}

func (h *fakeHDFS) answer(method string, request message) ([]byte, exception) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.before != nil {
		if failure, ok := h.before(method, request); ok {
			return nil, failure
		}
	}
	name := string(request.last(1))
	file := h.files[name]
	mode := func() int {
		m, _ := parseMessage(request.last(2))
		return int(m.number(1))
	}
	switch method {
	case "getFileInfo":
		if file == nil {
			return nil, ""
		}
		return field(1, file.status(name)), ""
	case "getListing":
		var list []byte
		for _, child := range slices.Sorted(maps.Keys(h.files)) {
			if path.Dir(child) == name && child != name {
				list = append(list, field(1, h.files[child].status(path.Base(child)))...)
			}
		}
		return field(1, append(list, field(2, 0)...)), ""
	case "mkdirs":
		for dir := name; h.files[dir] == nil; dir = path.Dir(dir) {
			h.files[dir] = &fakeFile{dir: true, mode: mode(), owner: "me"}
		}
		return field(1, 1), ""
	case "getServerDefaults":
		return field(1, slices.Concat(field(1, 1<<27), field(2, 512), field(3, 1<<16), field(4, 1), field(5, 4096))), ""
	case "create":
		switch {
		case file == nil:
			file = &fakeFile{mode: mode(), owner: "me", writer: string(request.last(3))}
			h.files[name] = file
			return field(1, file.status(name)), ""
		case file.writer != "":
			return nil, beingMade
		}
		return nil, exists
	case "append":
		switch {
		case file == nil:
			return nil, missing
		case file.writer != "":
			return nil, beingMade
		}
		file.writer = string(request.last(2))
		return field(2, file.status(name)), ""
	case "complete", "truncate":
		file.writer = ""
		return field(1, 1), ""
	case "setPermission":
		file.mode = mode()
	case "delete":
		maps.DeleteFunc(h.files, func(other string, _ *fakeFile) bool { return other == name || strings.HasPrefix(other, name+"/") })
		return field(1, 1), ""
	case "rename2":
		if file == nil {
			return nil, missing
		}
		h.files[string(request.last(2))] = file
		delete(h.files, name)
	}
	return nil, ""
}

// status returns the message about a file.
func (f *fakeFile) status(name string) []byte {
	kind := 2
	if f.dir {
		kind = 1
	}
	return slices.Concat(field(1, kind), field(2, path.Base(name)), field(3, 0), field(4, field(1, f.mode)), field(5, f.owner), field(6, "group"), field(7, 0), field(8, 0))
}
