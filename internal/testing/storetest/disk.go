// Package storetest has file systems for tests: one that records what is not durable yet, and so what a
// power cut would leave; one in memory, whose calls can fail; two that count open files and reads; and one
// whose files cannot be closed. It also names the files in which two directories differ. It knows no games
// and no jobs.
package storetest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// A Disk is the local file system. It records which files have been written since they were
// synced, and which names have been created since their directory was synced: a power cut
// may lose each of them, independently of later writes. A Disk checks that its users keep
// an order that makes such a loss harmless:
//
//   - when _SUCCESS is created, no other file of its directory is at risk;
//   - when a directory or a file is renamed to its final name, neither it nor its content is at
//     risk;
//   - when something is removed, its replacement is not at risk: the table, if a tier's directory
//     is removed, otherwise everything that has a final name.
//
// Attempts, and directories that are being removed, have no final name. The journal is
// exempt, because nothing depends on it.
type Disk struct {
	store.Local
	Skip int // the number of a Sync call to skip, from 1, to test whether it is missed

	mu     sync.Mutex
	syncs  int
	bytes  map[string]bool // files at risk
	names  map[string]bool // names at risk
	faults []string
}

// Syncs returns the number of calls of Sync that were necessary: something was at risk.
func (d *Disk) Syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

// Faults returns the violations of the order so far.
func (d *Disk) Faults() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.faults)
}

// AtRisk returns the paths that have a final name and may be lost.
func (d *Disk) AtRisk() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.atRisk("")
}

// atRisk returns the paths of AtRisk that contain a text.
func (d *Disk) atRisk(with string) (paths []string) {
	all := maps.Clone(d.bytes)
	if all == nil {
		all = make(map[string]bool)
	}
	maps.Copy(all, d.names)
	for path := range all {
		if !passing(path) && strings.Contains(path, with) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// passing reports whether a path is temporary, or one that nothing depends on.
func passing(path string) bool {
	base := filepath.Base(path)
	return strings.Contains(path, "/_attempt-") || strings.Contains(path, "/_removed-") || strings.Contains(path, "/_driver-") ||
		base == store.JournalFile || base == "_lock"
}

func (d *Disk) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

func put(set *map[string]bool, path string) {
	if *set == nil {
		*set = make(map[string]bool)
	}
	(*set)[path] = true
}

// below reports whether a path is dir, or below it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Create creates a file.
func (d *Disk) Create(name string) (io.WriteCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if dir := filepath.Dir(name); filepath.Base(name) == store.Success {
		for path := range d.bytes {
			if below(path, dir) {
				d.fault("%s is begun while %s is at risk", name, path)
			}
		}
	}
	f, err := d.Local.Create(name)
	if err != nil {
		return nil, err
	}
	put(&d.bytes, name)
	put(&d.names, name)
	return f, nil
}

// MkdirAll creates directories.
func (d *Disk) MkdirAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		put(&d.names, dir)
	}
	return d.Local.MkdirAll(name)
}

// Rename renames a file or a directory.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	if err := d.Local.Rename(from, to); err != nil {
		return err
	}
	delete(d.bytes, to) // of a file that is replaced
	for _, set := range []map[string]bool{d.bytes, d.names} {
		for path := range maps.Clone(set) {
			if below(path, from) {
				delete(set, path)
				set[to+path[len(from):]] = true
			}
		}
	}
	delete(d.names, to)
	if strings.HasPrefix(filepath.Base(to), "_removed-") {
		d.removed(from)
	} else if !passing(to) {
		for _, path := range d.atRisk("") {
			if below(path, to) {
				d.fault("%s gets its name while %s is at risk", to, path)
			}
		}
	}
	put(&d.names, to)
	return nil
}

// removed records a fault if the replacement of a name that is removed is at risk.
func (d *Disk) removed(name string) {
	with := ""
	if strings.HasPrefix(filepath.Base(name), "data_") {
		with = "/table"
	}
	for _, path := range d.atRisk(with) {
		if !below(path, name) && !below(name, path) {
			d.fault("%s goes while %s is at risk", name, path)
		}
	}
}

// RemoveAll removes a file or a directory.
func (d *Disk) RemoveAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if !passing(name) {
		d.removed(name)
	}
	for _, set := range []map[string]bool{d.bytes, d.names} {
		maps.DeleteFunc(set, func(path string, _ bool) bool { return below(path, name) })
	}
	return d.Local.RemoveAll(name)
}

// Sync makes a file, or the names in a directory, durable.
func (d *Disk) Sync(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name = filepath.Clean(name)
	if _, err := os.Stat(name); err != nil {
		return err
	}
	var taken []string
	for path := range d.names {
		if filepath.Dir(path) == name {
			taken = append(taken, path)
		}
	}
	if len(taken) == 0 && !d.bytes[name] {
		return nil
	}
	if d.syncs++; d.syncs == d.Skip {
		return nil
	}
	delete(d.bytes, name)
	for _, path := range taken {
		delete(d.names, path)
	}
	return nil
}

// Cut simulates a power cut: files at risk keep their names and lose their content, which
// is the worst case.
func (d *Disk) Cut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path := range d.bytes {
		if err := os.Truncate(path, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
