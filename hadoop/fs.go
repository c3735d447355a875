// Package hadoop is where the files of a cluster are, and its programs: HDFS as a
// file system for package store, what is installed of Hadoop, and the file of ranges
// for its partitioner. It knows nothing of jobs, nor what a step does.
package hadoop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/treereduce/treereduce/hadoop/conf"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// closeWait bounds how long Close waits for the name node to have heard of the
// last block, and recoverWait how long for the file to be recovered then. The waits
// grow from closeFirst, which is what a data node that has little to do needs, to
// closeMost.
const (
	closeFirst  = time.Millisecond
	closeMost   = time.Second
	closeWait   = 30 * time.Second
	recoverWait = 3 * time.Minute
)

const (
	// maxIdleClients is how many connections are kept: a job reads one or two
	// files and writes one, while another is put into the table.
	maxIdleClients = 6
	// wholeFile is the size up to which a file is read whole when it is opened:
	// a connection to a data node costs more.
	wholeFile = 1 << 20
	// windowSize is how much of a larger file is read at a time; twice what a
	// cursor of a tier asks for.
	windowSize = 128 << 10
	// maxNewClients is how many new connections are tried for one call.
	maxNewClients = 3
	// maxIdleReaders is how many places of a file are kept.
	maxIdleReaders = 16
)

// FS is an HDFS, a store.FS. Names are paths from its root. It is safe for
// concurrent use.
type FS struct {
	options hdfs.ClientOptions
	name    string

	mu   sync.Mutex
	idle []*hdfs.Client
}

var _ store.FS = (*FS)(nil)

// Dial connects to the file system of a name (see Scheme) and returns the path
// within it. The configuration is that of ConfDir, the user that of
// HADOOP_USER_NAME, or of the process.
func Dial(name string) (f *FS, path string, err error) {
	if there, err := InHDFS(name); err != nil || !there {
		return nil, "", &NameError{name}
	}
	host, path, _ := strings.Cut(name[len(Scheme):], "/")
	properties, err := configuration()
	if err != nil {
		return nil, "", err
	}
	options := hdfs.ClientOptionsFromConf(properties)
	if options.KerberosClient != nil {
		return nil, "", fmt.Errorf("%s: the cluster wants Kerberos, which treereduce does not speak yet", name)
	}
	if options.Addresses, err = nameNodes(properties, host); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if options.User, err = userName(); err != nil {
		return nil, "", err
	}
	if f, err = connect(options, Scheme+host); err != nil {
		return nil, "", err
	}
	if err := f.answers(); err != nil {
		f.Close()
		return nil, "", err
	}
	return f, "/" + path, nil
}

// answers wants the name node to answer, which a connection does not show: it may
// hang, or be something else that listens there.
func (f *FS) answers() error {
	wait := dialTimeout
	if len(f.options.Addresses) > 1 {
		wait += failoverWait
	}
	done := make(chan error, 1)
	go func() {
		_, err := f.Stat("/")
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-time.After(wait):
		err = fmt.Errorf("no answer within %v", wait)
	}
	if err != nil {
		return unreachable(f.options.Addresses, err)
	}
	return nil
}

// unreachable is the error of name nodes that cannot be reached.
func unreachable(addresses []string, err error) error {
	what := ""
	if strings.Contains(err.Error(), syscall.ECONNREFUSED.Error()) { // the client wraps no errors
		what = ": is it running? make cluster-up starts one on this machine"
	}
	return fmt.Errorf("name node %s: %w%s", strings.Join(addresses, ", "), err, what)
}

// connect connects to the name nodes of options.
func connect(options hdfs.ClientOptions, name string) (*FS, error) {
	client, err := newClient(options)
	if err != nil {
		return nil, unreachable(options.Addresses, err)
	}
	return &FS{options: options, name: name, idle: []*hdfs.Client{client}}, nil
}

// configuration reads Hadoop's configuration; nil if there is none.
func configuration() (hadoopconf.HadoopConf, error) {
	dir := ConfDir()
	if dir == "" {
		return nil, nil
	}
	c, err := conf.Load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return c, err
}

// NameNodes are the addresses of the name nodes, host:port.
func (f *FS) NameNodes() []string { return f.options.Addresses }

// User is as whom files are read and written.
func (f *FS) User() string { return f.options.User }

// DialTask connects a task to the file system of the name nodes with these
// addresses, with commas between them, as the user of its job.
func DialTask(addresses string) (*FS, error) {
	properties, err := configuration()
	if err != nil {
		return nil, err
	}
	options := hdfs.ClientOptionsFromConf(properties)
	options.Addresses = strings.Split(addresses, ",")
	options.User = os.Getenv("mapreduce_job_user_name")
	return connect(options, Scheme+options.Addresses[0])
}

// Name is what stands before a path of the file system: hdfs://host:port.
func (f *FS) Name() string { return f.name }

// Close ends the connections.
func (f *FS) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, client := range f.idle {
		errs = append(errs, client.Close())
	}
	f.idle = nil
	return errors.Join(errs...)
}

// take returns a client for its caller alone, since a client does one thing at a
// time: an idle one, or a new one.
func (f *FS) take() (client *hdfs.Client, reused bool, err error) {
	f.mu.Lock()
	if n := len(f.idle); n > 0 {
		client, f.idle = f.idle[n-1], f.idle[:n-1]
	}
	f.mu.Unlock()
	if client != nil {
		return client, true, nil
	}
	client, err = newClient(f.options)
	return client, false, err
}

// give returns a client that was taken, which has no file open for writing.
func (f *FS) give(client *hdfs.Client) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) >= maxIdleClients {
		return client.Close()
	}
	f.idle = append(f.idle, client)
	return nil
}

// open has a client do something, and returns the client if that went well. What
// fails for want of a connection is done again with another client: the name node may
// have been started anew. Of new clients maxNewClients are tried.
func (f *FS) open(do func(*hdfs.Client) error) (*hdfs.Client, error) {
	for tried := 0; ; {
		client, reused, err := f.take()
		if err != nil {
			return nil, plain(err)
		}
		if err = do(client); err == nil {
			return client, nil
		}
		if answered(err) {
			f.give(client)
			return nil, plain(err)
		}
		client.Close()
		if reused {
			continue
		}
		if tried++; tried == maxNewClients {
			return nil, plain(err)
		}
	}
}

// do has a client do something.
func (f *FS) do(do func(*hdfs.Client) error) error {
	client, err := f.open(do)
	if err != nil {
		return err
	}
	return f.give(client)
}

// Stat describes a file.
func (f *FS) Stat(name string) (info fs.FileInfo, err error) {
	err = f.do(func(client *hdfs.Client) (err error) {
		info, err = client.Stat(name)
		return err
	})
	return info, err
}

// ReadDir lists a directory in the order of names.
func (f *FS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	err = f.do(func(client *hdfs.Client) error {
		infos, err := client.ReadDir(name)
		entries = make([]fs.DirEntry, len(infos))
		for i, info := range infos {
			entries[i] = fs.FileInfoToDirEntry(info)
		}
		return err
	})
	return entries, err
}

// Rename moves a file or a directory; a file that is there gives way. If the answer to a
// call is lost, the call is repeated, and finds what the first one did.
func (f *FS) Rename(from, to string) error {
	repeated := false
	return f.do(func(client *hdfs.Client) error {
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

// RemoveAll removes a file, or a directory with all in it; nothing there is
// no error.
func (f *FS) RemoveAll(name string) error {
	return f.do(func(client *hdfs.Client) error { return client.RemoveAll(name) })
}

// MkdirAll makes a directory and those above it.
func (f *FS) MkdirAll(name string) error {
	return f.do(func(client *hdfs.Client) error { return client.MkdirAll(name, 0o777) })
}

// Sync does nothing: what is closed is in HDFS. A file is closed when the name node has
// written so into its journal, which it syncs before it answers, and each block has been
// acknowledged by all data nodes of its pipeline, on machines of their own; renames are
// in the journal likewise. A power cut of all machines at once may still take a block,
// as data nodes leave it to their kernels unless dfs.datanode.synconclose says otherwise:
// that is for a cluster to decide, not for its client.
func (f *FS) Sync(string) error { return nil }

// Create makes a file, or replaces one that is there, even one that somebody has open
// for writing: whoever died a moment ago holds its lease.
func (f *FS) Create(name string) (io.WriteCloser, error) {
	w, err := f.write(name, func(client *hdfs.Client) (*hdfs.FileWriter, error) {
		defaults, err := client.ServerDefaults()
		if err != nil {
			return nil, err
		}
		create := func() (*hdfs.FileWriter, error) {
			return client.CreateFile(name, defaults.Replication, defaults.BlockSize, 0o644)
		}
		w, err := create()
		if errors.Is(err, fs.ErrExist) || leased(err) {
			if err := client.Remove(name); err != nil {
				return nil, err
			}
			return create()
		}
		return w, err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// write returns the file of that name that open opens for writing. It keeps a client
// as long as it is open: the lease of a client is that of all that it writes.
func (f *FS) write(name string, open func(*hdfs.Client) (*hdfs.FileWriter, error)) (*writer, error) {
	w := &writer{fs: f, name: name}
	var err error
	w.client, err = f.open(func(client *hdfs.Client) (err error) {
		w.out, err = open(client)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// A writer is a file that is being written.
type writer struct {
	fs     *FS
	client *hdfs.Client
	out    *hdfs.FileWriter
	name   string
	size   int64
	failed bool // a Write
}

// Write writes b. Nothing is not written: the client would begin a block for it,
// which never becomes complete.
func (w *writer) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := w.out.Write(b)
	w.size += int64(n)
	w.failed = w.failed || err != nil
	return n, plain(err)
}

// Close waits until the name node has heard of the last block, and has the file
// recovered where it never does, or where its answer is lost. After a Write that failed the file is left as it is.
func (w *writer) Close() error {
	if w.failed {
		return w.client.Close()
	}
	err := untilReady(closeWait, hdfs.IsErrReplicating, w.out.Close)
	if err == nil {
		return w.fs.give(w.client)
	}
	w.client.Close() // and the lease of the file with it, in a minute
	if hdfs.IsErrReplicating(err) || unanswered(err) {
		return w.fs.recoverFile(w.name, w.size)
	}
	return plain(err)
}

// recoverFile closes a file of so many bytes whose writer is gone. A name node tells nobody
// which block is a file's last before it is whole, and a client tells it once: if
// another takes over in between, it waits for ever. Truncating a file to the length
// that it has changes nothing, but has its lease recovered first: when that has not
// been renewed for a minute, the data nodes say what they hold.
func (f *FS) recoverFile(name string, size int64) error {
	return untilReady(recoverWait, leased, func() error {
		return f.do(func(client *hdfs.Client) error {
			_, err := client.Truncate(name, size)
			return err
		})
	})
}

// untilReady closes a file until the name node no longer answers that it is not ready, or
// for so long: a data node tells it of a block a moment after it has told the
// writer.
func untilReady(most time.Duration, notReady func(error) bool, close func() error) error {
	err := close()
	for wait, all := closeFirst, time.Duration(0); notReady(err) && all < most; wait = min(2*wait, closeMost) {
		time.Sleep(wait)
		all += wait
		err = close()
	}
	return err
}

// Lock takes a lock: a file that is held open for writing, whose lease the name
// node gives to one client. The lease of a dead one ends after a minute.
func (f *FS) Lock(name string) (io.Closer, error) {
	w, err := f.write(name, func(client *hdfs.Client) (*hdfs.FileWriter, error) {
		w, err := client.Create(name)
		if errors.Is(err, fs.ErrExist) {
			return client.Append(name) // which nobody can who has not its lease
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

// leased says whether an error is that another holds the lease of a file, or held it
// a moment ago.
func leased(err error) bool {
	var remote hdfs.Error
	return errors.As(err, &remote) && slices.Contains(leaseExceptions, remote.Exception())
}

// leaseExceptions are what the name node answers to one who wants to write what
// another has the lease of.
var leaseExceptions = []string{
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
	"org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
}

// Open opens a file for reading. It may be read at several places at once.
func (f *FS) Open(name string) (store.File, error) {
	var in *hdfs.FileReader
	r := new(reader)
	client, err := f.open(func(client *hdfs.Client) (err error) {
		if in, err = client.Open(name); err != nil {
			return err
		}
		size := in.Stat().Size()
		*r = reader{in: in, size: size}
		if size <= wholeFile {
			r.window = make([]byte, 0, size)
		}
		// A client reads what it must know before its first read only, so that
		// other readers of a large file may share it from then on.
		if err = r.fill(0); err != nil || size <= wholeFile {
			in.Close()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.size <= wholeFile {
		return &smallFile{bytes.NewReader(r.window), in.Stat()}, f.give(client)
	}
	return &file{fs: f, client: client, name: name, info: in.Stat(), idle: []*reader{r}}, nil
}

// A smallFile is the content of a file.
type smallFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *smallFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *smallFile) Close() error               { return nil }

// A reader reads a file on from a place, and keeps what it has read last. To go
// on is cheap, to go elsewhere takes a new connection to a data node.
type reader struct {
	in     *hdfs.FileReader // stands where the window ends
	size   int64
	window []byte
	start  int64
}

func (r *reader) end() int64 { return r.start + int64(len(r.window)) }

// fill reads the window that begins at a place.
func (r *reader) fill(at int64) error {
	// Not ReadAt, nor Seek to where it stands: both connect anew.
	if at != r.end() {
		if _, err := r.in.Seek(at, io.SeekStart); err != nil {
			return err
		}
	}
	if r.window == nil {
		r.window = make([]byte, 0, windowSize)
	}
	r.start = at
	r.window = r.window[:min(int64(cap(r.window)), r.size-at)]
	n, err := io.ReadFull(r.in, r.window)
	r.window = r.window[:n]
	return err
}

// readAt reads at a place.
func (r *reader) readAt(b []byte, at int64) (n int, err error) {
	for n < len(b) {
		place := at + int64(n)
		if place >= r.size {
			return n, io.EOF
		}
		if place < r.start || place >= r.end() {
			if err := r.fill(place); err != nil {
				return n, err
			}
		}
		n += copy(b[n:], r.window[place-r.start:])
	}
	return n, nil
}

// A file is open readers of a large file, each at a place of its own.
type file struct {
	fs     *FS
	client *hdfs.Client
	name   string
	info   fs.FileInfo
	at     int64 // of Read

	mu     sync.Mutex
	idle   []*reader // the one that was used last comes last
	failed bool
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// take returns an idle reader, best one that stands at a place, or a new one.
func (f *file) take(at int64) (*reader, error) {
	f.mu.Lock()
	i := slices.IndexFunc(f.idle, func(r *reader) bool { return r.start <= at && at <= r.end() })
	if i < 0 && len(f.idle) >= maxIdleReaders {
		i = 0
	}
	if i >= 0 {
		r := f.idle[i]
		f.idle = slices.Delete(f.idle, i, i+1)
		f.mu.Unlock()
		return r, nil
	}
	f.mu.Unlock()
	in, err := f.client.Open(f.name)
	if err != nil {
		return nil, err
	}
	return &reader{in: in, size: f.info.Size()}, nil
}

// ReadAt reads at a place.
func (f *file) ReadAt(b []byte, at int64) (n int, err error) {
	r, err := f.take(at)
	if err == nil {
		n, err = r.readAt(b, at)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && err != io.EOF {
		f.failed = true
		if r != nil {
			r.in.Close()
		}
		return n, plain(err)
	}
	f.idle = append(f.idle, r)
	return n, err
}

// Read reads on from where the last Read ended.
func (f *file) Read(b []byte) (int, error) {
	b = b[:min(int64(len(b)), f.info.Size()-f.at)]
	if len(b) == 0 {
		return 0, io.EOF
	}
	n, err := f.ReadAt(b, f.at)
	f.at += int64(n)
	return n, err
}

// Close closes all readers.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, r := range f.idle {
		errs = append(errs, r.in.Close())
	}
	f.idle = nil
	if f.failed {
		return errors.Join(append(errs, f.client.Close())...)
	}
	return errors.Join(append(errs, f.fs.give(f.client))...)
}
