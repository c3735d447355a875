// Package storetest is for tests of what a power cut leaves: a file system that knows
// what is not on the disk yet.
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

// A Disk is the file system of this machine. It notes which files have been written
// since they were synced, and which names have been given since their directory was: a
// power cut may take each of them, whatever it leaves of what came later. It holds those
// who use it to an order in which that does no harm:
//
//   - when _SUCCESS is begun, no other file of its directory is at risk;
//   - when a directory or a file gets its name, neither it nor what is in it is;
//   - when something is removed, what is there in its place is not: the table, if it is
//     the directory of a tier, otherwise all that has a name.
//
// Attempts and what is being removed have no names yet or any more; of the journal and
// the seed nothing depends.
type Disk struct {
	store.Local
	Skip int // the number of a Sync that is left out, from 1, to see whether it is missed

	mu     sync.Mutex
	syncs  int
	bytes  map[string]bool // files at risk
	names  map[string]bool // names at risk
	faults []string
}

// Syncs is how many calls of Sync there were that were needed: something was at risk.
func (d *Disk) Syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

// Faults are the breaches of the order so far.
func (d *Disk) Faults() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.faults)
}

// AtRisk is what has a name and may be lost, by path.
func (d *Disk) AtRisk() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.atRisk("")
}

// atRisk is AtRisk of paths that have a part of that text.
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

// passing reports whether a path is one that nobody counts on.
func passing(path string) bool {
	base := filepath.Base(path)
	return strings.Contains(path, "/_attempt-") || strings.Contains(path, "/_removed-") || strings.Contains(path, "/_driver-") ||
		base == store.JournalFile || base == "temp" || base == "_lock"
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

// below reports whether a path is another, or lies below it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Create makes a file.
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

// MkdirAll makes directories.
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

// Rename gives a file or a directory another name.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	if err := d.Local.Rename(from, to); err != nil {
		return err
	}
	delete(d.bytes, to) // of a file that it replaces
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

// removed wants what is in the place of a name that goes not to be at risk.
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

// Sync takes the risk from a file, or from the names of a directory.
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

// Cut cuts the power: files at risk keep their names and lose their bytes, which is the
// worst that can come of them.
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
