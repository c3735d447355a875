// Package hadoop connects the program to a Hadoop installation: HDFS as a file system for
// package store, and the installed commands, jars and configuration. It knows nothing of jobs, nor of what a step does.
package hadoop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// closeWait bounds how long Close waits for the name node to learn of the last block. After
// that, recoverWait bounds how long it waits for the recovery of the file. The pauses between
// tries grow from closeFirst, which is enough for an idle data node, to closeMost.
const (
	closeFirst  = time.Millisecond
	closeMost   = time.Second
	closeWait   = 30 * time.Second
	recoverWait = 3 * time.Minute
)

// pipelineWait bounds how long Write looks for data nodes that can be reached. The pauses between
// tries grow from pipelineFirst to pipelineMost.
const (
	pipelineFirst = 10 * time.Millisecond
	pipelineMost  = time.Second
	pipelineWait  = time.Minute
)

const (
	// maxIdleClients is the number of idle connections that are kept. Each of them renews leases every second.
	maxIdleClients = 2
	// pieceSize is the number of bytes that Write passes on at a time: four packets of the client.
	pieceSize = 256 << 10
	// maxNewClients is the number of new connections that are tried for one call.
	maxNewClients = 3
)

// FS is an HDFS file system. It implements store.FS. Names are paths from its root. It is safe
// for concurrent use.
type FS struct {
	options  hdfs.ClientOptions
	identity identity
	name     string
	limits   limits

	received atomic.Int64 // bytes from data nodes

	umask fs.FileMode

	mu   sync.Mutex
	idle []*nameClient
}

var _ store.FS = (*FS)(nil)

// Dial connects to the file system that a name refers to (see Scheme), and returns the path
// within it. The configuration comes from ConfDir. The user is that of the Kerberos principal or,
// without Kerberos, HADOOP_USER_NAME or the user of the process.
func Dial(name string) (f *FS, path string, err error) {
	if there, err := InHDFS(name); err != nil || !there {
		return nil, "", &NameError{name}
	}
	host, path, _ := strings.Cut(name[len(Scheme):], "/")
	properties, err := configuration()
	if err != nil {
		return nil, "", err
	}
	if err := checkTransfer(properties); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	addresses, err := nameNodes(properties, host)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if f, err = connect(properties, addresses, Scheme+host, userName); err != nil {
		return nil, "", err
	}
	// That it accepts a connection is not enough: it may hang, or be another service.
	limit := f.limits.call.Load()
	f.limits.call.Store(min(limit, int64(dialTimeout)))
	if _, err := f.Stat("/"); err != nil {
		f.Close()
		return nil, "", unreachable(addresses, err)
	}
	f.limits.call.Store(limit)
	return f, "/" + path, nil
}

// EndWith makes all calls fail that a node does not answer within two seconds after ctx ends.
func (f *FS) EndWith(ctx context.Context) { context.AfterFunc(ctx, f.limits.interrupt) }

// unreachable returns the error for name nodes that cannot be reached.
func unreachable(addresses []string, err error) error {
	what := ""
	if strings.Contains(err.Error(), syscall.ECONNREFUSED.Error()) { // the client does not wrap errors
		what = ": is it running? make cluster-up starts one on this machine"
	}
	return fmt.Errorf("name node %s: %w%s", strings.Join(addresses, ", "), err, what)
}

// connect connects to the name nodes with these addresses. user returns the user of a cluster without Kerberos.
func connect(properties hadoopconf.HadoopConf, addresses []string, name string, user func() (string, error)) (*FS, error) {
	f := newFS(properties, name)
	f.options.Addresses = addresses
	var err error
	if f.umask, err = parseUmask(properties); err != nil {
		return nil, err
	}
	if secure(properties) {
		f.identity, f.options.User, err = identify(name, addresses)
	} else {
		f.options.User, err = user()
	}
	if err != nil {
		return nil, fmt.Errorf("name node %s: %w", strings.Join(addresses, ", "), err)
	}
	client, err := f.newClient()
	if err != nil {
		f.Close()
		return nil, unreachable(addresses, err)
	}
	return f, f.give(client)
}

// Received returns the number of bytes that were received from data nodes.
func (f *FS) Received() int64 { return f.received.Load() }

// configuration reads Hadoop's configuration. It is nil if there is none.
// In a task, it includes the properties of the job that concern HDFS.
func configuration() (hadoopconf.HadoopConf, error) {
	var c hadoopconf.HadoopConf
	if dir := ConfDir(); dir != "" {
		var err error
		if c, err = conf.Load(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for name, value := range c {
		c[name] = strings.TrimSpace(value) // as Hadoop does with each of those that are read here
	}
	return jobProperties(c), nil
}

// HasDefault reports whether Hadoop's configuration names HDFS as the default file system. The
// configuration of a Hadoop that was only unpacked does not.
func HasDefault() (bool, error) {
	properties, err := configuration()
	return strings.HasPrefix(properties["fs.defaultFS"], Scheme), err
}

// NameNodes returns the addresses of the name nodes, as host:port.
func (f *FS) NameNodes() []string { return f.options.Addresses }

// User returns the user that reads and writes files.
func (f *FS) User() string { return f.options.User }

// DialTask connects a task to the file system with the given name (see FS.Name). addresses are those of
// its name nodes, separated by commas. The user is that of the task's job.
func DialTask(name, addresses string) (*FS, error) {
	properties, err := configuration()
	if err != nil {
		return nil, err
	}
	return connect(properties, strings.Split(addresses, ","), name, func() (string, error) { return os.Getenv("mapreduce_job_user_name"), nil })
}

// Name returns the prefix of the names in the file system: hdfs://host:port.
func (f *FS) Name() string { return f.name }

// Transport returns a transport for requests to other services of the cluster, which
// authenticates as f does.
func (f *FS) Transport(base http.RoundTripper) http.RoundTripper {
	if f.identity.login == nil {
		return base
	}
	return f.identity.login.Transport(base)
}

// Close closes the idle connections.
func (f *FS) Close() error {
	if f.identity.login != nil {
		f.identity.login.Close()
	}
	f.mu.Lock()
	idle := f.idle
	f.idle = nil
	f.mu.Unlock()
	var errs []error
	for _, client := range idle {
		errs = append(errs, client.Close())
	}
	return errors.Join(errs...)
}

// take returns a client for exclusive use, because a client does one thing at a time. It is an
// idle client or a new one.
func (f *FS) take() (client *nameClient, reused bool, err error) {
	f.mu.Lock()
	if n := len(f.idle); n > 0 {
		client, f.idle = f.idle[n-1], f.idle[:n-1]
	}
	f.mu.Unlock()
	if client != nil {
		return client, true, nil
	}
	client, err = f.newClient()
	return client, false, err
}

// give returns a client to the idle ones. The client must not have a file open for writing.
func (f *FS) give(client *nameClient) error {
	f.mu.Lock()
	kept := len(f.idle) < maxIdleClients
	if kept {
		f.idle = append(f.idle, client)
	}
	f.mu.Unlock()
	if kept {
		return nil
	}
	return client.Close()
}

// open calls do with a client, and returns the client if do succeeds. If the connection fails,
// open tries again with another client, because the name node may have been restarted. It
// tries up to maxNewClients new clients. If a name node is silent, the client calls the next one.
func (f *FS) open(do func(*nameClient) error) (*nameClient, error) {
	for tried := 0; ; {
		client, reused, err := f.take()
		if err != nil {
			return nil, plain(err)
		}
		err = do(client)
		for range f.options.Addresses[1:] {
			if isSilent(err) && f.limits.ctx.Err() == nil {
				err = do(client)
			}
		}
		if err == nil {
			return client, nil
		}
		if refusedByServer(err) {
			f.give(client)
			return nil, plain(err)
		}
		client.Close()
		if isSilent(err) {
			return nil, err
		}
		if reused {
			continue
		}
		if tried++; tried == maxNewClients {
			return nil, plain(err)
		}
	}
}

// do calls a function with a client.
func (f *FS) do(do func(*nameClient) error) error {
	client, err := f.open(do)
	if err != nil {
		return err
	}
	return f.give(client)
}

// Stat returns the FileInfo of a file.
func (f *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = f.do(func(client *nameClient) (err error) {
		info, err = client.Stat(name)
		return err
	})
	return info, err
}

// ReadDir returns the entries of a directory, sorted by name.
func (f *FS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do(func(client *nameClient) error {
		infos, err := client.ReadDir(name)
		entries = make([]fs.DirEntry, len(infos))
		for i, info := range infos {
			entries[i] = fs.FileInfoToDirEntry(info)
		}
		return err
	})
	return entries, err
}

// Rename renames a file or a directory; it replaces a file that exists. If the answer to a
// call is lost, the call is repeated. The repeated call succeeds if the first one has already
// renamed the file.
func (f *FS) Rename(from, to string) error {
	repeated := false
	return f.do(func(client *nameClient) error {
		err := client.Rename(from, to)
		if repeated && errors.Is(err, fs.ErrNotExist) {
			if _, there := client.Stat(to); there == nil {
				return nil
			}
		}
		repeated = true
		return err
	})
}

// RemoveAll deletes a file, or a directory with its contents. It returns nil if there is none.
func (f *FS) RemoveAll(name string) error {
	return f.do(func(client *nameClient) error { return client.RemoveAll(name) })
}

// MkdirAll creates a directory and its parents, with the modes that the umask allows.
func (f *FS) MkdirAll(name string) error {
	return f.do(func(client *nameClient) error { return client.MkdirAll(name, 0o777&^f.umask) })
}

// Sync does nothing, because files in HDFS are durable when they are closed. To close a file,
// the name node writes to its journal, which it syncs before it answers, and all data nodes of
// the pipeline, on different machines, acknowledge each block. Renames are in the journal too.
// A power failure of all machines at once may still lose a block, because data nodes do not
// sync blocks unless dfs.datanode.synconclose is set. That is for the configuration of the
// cluster to decide, not for its clients.
func (f *FS) Sync(string) error { return nil }

// Create creates a file, or replaces one that exists, even if another client has it open for
// writing: a process that has just died still has the lease of its file.
func (f *FS) Create(name string) (io.WriteCloser, error) {
	w, err := f.write(name, func(client *nameClient) (*hdfs.FileWriter, error) {
		w, err := f.create(client, name)
		if errors.Is(err, fs.ErrExist) || leased(err) {
			if err := client.Remove(name); err != nil {
				return nil, err
			}
			return f.create(client, name)
		}
		return w, err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// create creates a file that does not exist, with the mode that the umask allows.
func (f *FS) create(client *nameClient, name string) (*hdfs.FileWriter, error) {
	defaults, err := client.ServerDefaults()
	if err != nil {
		return nil, err
	}
	return client.CreateFile(name, defaults.Replication, defaults.BlockSize, 0o666&^f.umask)
}

// write opens a file for writing with open, and returns it. It keeps the client until the file
// is closed, because a client has one lease for all files that it writes.
func (f *FS) write(name string, open func(*nameClient) (*hdfs.FileWriter, error)) (*writer, error) {
	w := &writer{fs: f, name: name, open: open}
	var err error
	w.client, err = f.open(func(client *nameClient) (err error) {
		w.out, err = open(client)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// A writer is a file that is open for writing.
type writer struct {
	fs     *FS
	client *nameClient
	out    *hdfs.FileWriter
	name   string
	open   func(*nameClient) (*hdfs.FileWriter, error)
	size   int64
	failed bool // A Write failed.
}

// Write writes b, in pieces, since the client copies each. It skips empty writes: the client would begin a block for
// them, and that block would never become complete.
func (w *writer) Write(b []byte) (n int, err error) {
	for piece := range slices.Chunk(b, pieceSize) {
		written, err := w.writePiece(piece)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// writePiece writes a piece. If a data node for the first block of the file cannot be
// reached, it opens the file again, so that the name node chooses others: until it finds out
// that a data node has stopped, it continues to choose it.
func (w *writer) writePiece(b []byte) (int, error) {
	n, err := w.out.Write(b)
	wait, limit := pipelineFirst, time.Now().Add(pipelineWait)
	for err != nil && n == 0 && w.size == 0 && !refusedByServer(err) {
		if !time.Now().Before(limit) || !w.fs.limits.sleep(wait) {
			break
		}
		wait = min(2*wait, pipelineMost)
		var out *hdfs.FileWriter
		if out, err = w.open(w.client); err == nil {
			w.out = out
			n, err = out.Write(b)
		}
	}
	w.size += int64(n)
	w.failed = w.failed || err != nil
	return n, w.failure(err)
}

// failure returns the error of a failed write, with the name of the file.
func (w *writer) failure(err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write", Path: w.name, Err: pathless(plain(err))}
}

// errLastBytes is the error of a file whose last data nodes were lost before the name node knew
// their block.
var errLastBytes = errors.New("the last bytes are lost: no data node has them")

// Close waits until the name node has learned of the last block. If it does not learn of it, or
// an answer is lost, Close has the file recovered. A file that cannot be written completely, also
// because a Write has failed, is deleted.
func (w *writer) Close() error {
	if w.failed {
		w.delete()
		return w.client.Close()
	}
	err := w.fs.limits.untilReady(closeWait, hdfs.IsErrReplicating, w.out.Close)
	if err == nil {
		return w.fs.give(w.client)
	}
	if hdfs.IsErrReplicating(err) || answerLost(err) {
		w.client.Close() // this also ends the lease of the file, after a minute
		err = w.fs.recoverFile(w.name, w.size)
		if w.size > 0 && (errors.Is(err, fs.ErrInvalid) || leased(err)) { // there are fewer bytes, or no data node to ask
			err = errLastBytes
			_ = w.fs.RemoveAll(w.name)
		}
		return w.failure(err)
	}
	w.delete()
	w.client.Close()
	return w.failure(err)
}

// delete deletes an incomplete file, if the name node can be reached: nothing reads the file, but
// it takes space. A file that was never written may be a lock that another client has taken.
func (w *writer) delete() {
	if w.failed || w.size > 0 {
		_ = w.client.Remove(w.name)
	}
}

// recoverFile closes a file of size bytes that has no writer any more. A client reports the
// last block of a file only once, and the name node does not pass this on before the file is
// complete. If another name node takes over in between, it waits for the last block forever.
// Truncating the file to its present length changes no bytes, but makes the name node recover
// the lease first. It does so when the lease has not been renewed for a minute, and asks the
// data nodes for the lengths of their blocks.
func (f *FS) recoverFile(name string, size int64) error {
	notReady := func(err error) bool { return leased(err) || is(err, startingExceptions) }
	return f.limits.untilReady(recoverWait, notReady, func() error {
		return f.do(func(client *nameClient) error {
			_, err := client.Truncate(name, size)
			return err
		})
	})
}

// untilReady calls close until notReady is false for its error, or the time most is over. A
// data node may acknowledge a block to the writer a moment before it reports the block to the
// name node. It ends at an interrupt.
func (l *limits) untilReady(most time.Duration, notReady func(error) bool, close func() error) error {
	err := close()
	for wait, all := closeFirst, time.Duration(0); notReady(err) && all < most && l.sleep(wait); wait = min(2*wait, closeMost) {
		all += wait
		err = close()
	}
	return err
}

// LeaseTime is how long the name node keeps the lease of a client that has died.
const LeaseTime = time.Minute

// Lock takes a lock: a file that stays open for writing. The name node gives its lease to only
// one client. The lease of a client that has died ends after LeaseTime.
func (f *FS) Lock(name string) (io.Closer, error) {
	w, err := f.write(name, func(client *nameClient) (*hdfs.FileWriter, error) {
		w, err := f.create(client, name)
		if errors.Is(err, fs.ErrExist) {
			return client.Append(name) // fails unless we have the lease
		}
		return w, err
	})
	if leased(err) {
		return nil, store.ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// leased reports whether an error means that another client has the lease of a file, or had it
// a moment ago.
func leased(err error) bool { return is(err, leaseExceptions) }

// is reports whether an error is one of these exceptions of a name node.
func is(err error, exceptions []string) bool {
	var remote hdfs.Error
	return errors.As(err, &remote) && slices.Contains(exceptions, remote.Exception())
}

// startingExceptions are the answers of a name node that has just started: it is in safe mode.
var startingExceptions = []string{
	"org.apache.hadoop.hdfs.server.namenode.SafeModeException",
	"org.apache.hadoop.ipc.RetriableException",
}

// leaseExceptions are the name node's answers to a client that opens a file for writing while
// another client has its lease.
var leaseExceptions = []string{
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
	"org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
}
