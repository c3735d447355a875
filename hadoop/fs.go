// Package hadoop is what treereduce has to do with a Hadoop cluster: files in
// HDFS, as a file system for package store, and a runner of jobs by Hadoop
// Streaming. It knows nothing of games, nor what a step does.
package hadoop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/treereduce/treereduce/store"
)

// Scheme begins the name of a directory in HDFS: hdfs://host:port/path,
// hdfs://nameservice/path, or hdfs:///path in the default file system of the
// configuration.
const Scheme = "hdfs://"

// closeWait bounds how long Close waits for the name node to have heard of the
// last block; the waits grow from closeFirst.
const (
	closeFirst = 20 * time.Millisecond
	closeWait  = 2 * time.Minute
)

// FS is an HDFS, a store.FS. Names are paths from its root.
type FS struct {
	options hdfs.ClientOptions
	client  *hdfs.Client // one lock for all: for what takes no time
	name    string
}

var _ store.FS = (*FS)(nil)

// Dial connects to the file system of a name (see Scheme) and returns the path
// within it. The configuration is that of HADOOP_CONF_DIR, or of HADOOP_HOME's
// etc/hadoop; the user that of HADOOP_USER_NAME, or of the process.
func Dial(name string) (f *FS, path string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	host, path, slash := strings.Cut(rest, "/")
	if !ok || !slash || path == "" {
		return nil, "", fmt.Errorf("%s: expected %shost:port/path, or %s/path", name, Scheme, Scheme)
	}
	conf, err := configuration()
	if err != nil {
		return nil, "", err
	}
	options := hdfs.ClientOptionsFromConf(conf)
	if options.KerberosClient != nil {
		return nil, "", fmt.Errorf("%s: the cluster wants Kerberos, which treereduce does not speak yet", name)
	}
	if options.Addresses, err = nameNodes(conf, host); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if options.User = os.Getenv("HADOOP_USER_NAME"); options.User == "" {
		u, err := user.Current()
		if err != nil {
			return nil, "", err
		}
		options.User = u.Username
	}
	client, err := newClient(options)
	if err != nil {
		return nil, "", fmt.Errorf("name node %s: %w", strings.Join(options.Addresses, ", "), err)
	}
	return &FS{options, client, Scheme + host}, "/" + path, nil
}

// configuration reads Hadoop's configuration; nil if there is none.
func configuration() (hadoopconf.HadoopConf, error) {
	if home := os.Getenv("HADOOP_HOME"); os.Getenv("HADOOP_CONF_DIR") == "" && home != "" {
		conf, err := hadoopconf.Load(home + "/etc/hadoop")
		if conf != nil || err != nil {
			return conf, err
		}
	}
	return hadoopconf.LoadFromEnvironment()
}

// Name is what stands before a path of the file system: hdfs://host:port.
func (f *FS) Name() string { return f.name }

// Close ends the connection.
func (f *FS) Close() error { return f.client.Close() }

// Stat describes a file.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.client.Stat(name) }

// ReadDir lists a directory in the order of names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	infos, err := f.client.ReadDir(name)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, nil
}

// Rename moves a file or a directory; a file that is there gives way.
func (f *FS) Rename(from, to string) error { return f.client.Rename(from, to) }

// RemoveAll removes a file, or a directory with all in it; nothing there is
// no error.
func (f *FS) RemoveAll(name string) error {
	if err := f.client.RemoveAll(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MkdirAll makes a directory and those above it.
func (f *FS) MkdirAll(name string) error { return f.client.MkdirAll(name, 0o777) }

// Create makes a file, or replaces one that is there. It writes through a
// connection of its own.
func (f *FS) Create(name string) (io.WriteCloser, error) {
	return f.write(func(client *hdfs.Client) (*hdfs.FileWriter, error) {
		w, err := client.Create(name)
		if errors.Is(err, fs.ErrExist) {
			if err := f.RemoveAll(name); err != nil {
				return nil, err
			}
			return client.Create(name)
		}
		return w, err
	})
}

// write returns the file that open opens for writing with a connection of its own.
func (f *FS) write(open func(*hdfs.Client) (*hdfs.FileWriter, error)) (*writer, error) {
	client, err := newClient(f.options)
	if err != nil {
		return nil, err
	}
	w, err := open(client)
	if err != nil {
		client.Close()
		return nil, err
	}
	return &writer{w, client}, nil
}

// A writer is a file that is being written, and its connection.
type writer struct {
	*hdfs.FileWriter
	client *hdfs.Client
}

// Write writes b. Nothing is not written: the client would begin a block for it,
// which never becomes complete.
func (w *writer) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	return w.FileWriter.Write(b)
}

// Close waits until the name node has heard of the last block: until then it
// answers that the file is still being replicated.
func (w *writer) Close() error {
	err := w.FileWriter.Close()
	for wait, all := closeFirst, time.Duration(0); hdfs.IsErrReplicating(err) && all < closeWait; wait *= 2 {
		time.Sleep(wait)
		all += wait
		err = w.FileWriter.Close()
	}
	return errors.Join(err, w.client.Close())
}

// Lock takes a lock: a file that is held open for writing, whose lease the name
// node gives to one client. The lease of a dead one ends after a minute.
func (f *FS) Lock(name string) (io.Closer, error) {
	w, err := f.write(func(client *hdfs.Client) (*hdfs.FileWriter, error) {
		w, err := client.Create(name)
		if errors.Is(err, fs.ErrExist) {
			return client.Append(name) // which nobody can who has not its lease
		}
		return w, err
	})
	var remote hdfs.Error
	if errors.As(err, &remote) && slices.Contains(leaseExceptions, remote.Exception()) {
		return nil, store.ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// leaseExceptions are what the name node answers to one who wants to write what
// another holds, or held a moment ago.
var leaseExceptions = []string{
	"org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException",
	"org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
}

// Open opens a file for reading. It may be read at several places at once.
func (f *FS) Open(name string) (store.File, error) {
	r, err := f.client.Open(name)
	if err != nil {
		return nil, err
	}
	return &file{fs: f, name: name, info: r.Stat(), idle: []*reader{{FileReader: r}}}, nil
}

// A file is open readers of a file, each at a place of its own: a reader goes on
// cheaply where it stands, and at a price elsewhere.
type file struct {
	fs   *FS
	name string
	info fs.FileInfo
	at   int64 // of Read

	mu   sync.Mutex
	idle []*reader
}

type reader struct {
	*hdfs.FileReader
	client *hdfs.Client // its own; nil for the first, which has the FS's
	at     int64
}

// maxIdle is how many readers of a file are kept.
const maxIdle = 16

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// take returns an idle reader, best one that stands at a place, or a new one.
func (f *file) take(at int64) (*reader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range f.idle {
		if r.at == at || i == maxIdle-1 {
			f.idle = append(f.idle[:i], f.idle[i+1:]...)
			return r, nil
		}
	}
	client, err := newClient(f.fs.options)
	if err != nil {
		return nil, err
	}
	r, err := client.Open(f.name)
	if err != nil {
		client.Close()
		return nil, err
	}
	return &reader{FileReader: r, client: client}, nil
}

// ReadAt reads at a place.
func (f *file) ReadAt(b []byte, at int64) (int, error) {
	if at >= f.info.Size() {
		return 0, io.EOF
	}
	r, err := f.take(at)
	if err != nil {
		return 0, err
	}
	n, err := r.ReadAt(b, at)
	r.at = at + int64(n)
	f.mu.Lock()
	defer f.mu.Unlock()
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
		errs = append(errs, r.FileReader.Close())
		if r.client != nil {
			errs = append(errs, r.client.Close())
		}
	}
	f.idle = nil
	return errors.Join(errs...)
}
