package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Manifest describes a data directory: its format, game, options and needs.
type Manifest struct {
	Format   int               `json:"format"`
	Game     string            `json:"game"`               // the game's spec
	Options  map[string]string `json:"options,omitempty"`  // of the run, by name; a resumed run keeps them
	Needs    []string          `json:"needs,omitempty"`    // what a reader must know, in order; see known
	Clearing bool              `json:"clearing,omitempty"` // an older run is being deleted
}

// overwriteAdvice is for a data directory that cannot be used any more.
const overwriteAdvice = "driver solve --overwrite starts over"

// ErrClearing is returned by ReadManifest for a directory in which a driver deletes an older run, or died while it
// did. Each directory of that run is either complete or missing.
var ErrClearing = errors.New("a driver ended while it removed an old run: " + overwriteAdvice)

// A clearingError is ErrClearing with the text of another error, because the driver is at work.
type clearingError struct{ error }

func (clearingError) Is(target error) bool { return target == ErrClearing }

// ErrNewer is returned by ReadManifest and Create for a directory in the format of a later version of
// this program. In no Mode does Create change anything there.
var ErrNewer = errors.New("use the program that wrote it, or name another directory (nothing was changed)")

// ReadManifest reads the manifest of a data directory. It returns an error if the manifest is
// damaged or of another format version, if it lists a need that this program does not know, if the table of
// the run lacks every second tier, as earlier versions could make it, or if an old run was being deleted.
//
// A later format must keep the manifest's name, and its number and its needs as the fields format and needs of a
// JSON object.
func ReadManifest(fsys FS, dir string) (*Manifest, error) {
	m, err := readManifest(fsys, dir)
	if errors.Is(err, ErrClearing) {
		if working, _ := AtWork(fsys, dir); working {
			err = clearingError{fmt.Errorf("data directory %s: %w: it removes an old run", dir, ErrLocked)}
		}
	}
	return m, err
}

// readManifest is ReadManifest for a driver that may have the lock itself.
func readManifest(fsys FS, dir string) (*Manifest, error) {
	name := path.Join(dir, ManifestFile)
	text, err := ReadFile(fsys, name)
	if damage := (*DamageError)(nil); errors.As(err, &damage) {
		return nil, fmt.Errorf("%w: %s", err, overwriteAdvice)
	}
	if err != nil {
		return nil, err
	}
	return ParseManifest(dir, text)
}

// ParseManifest is ReadManifest for the text of the manifest of a directory, which it does not read.
func ParseManifest(dir string, text []byte) (*Manifest, error) {
	name := path.Join(dir, ManifestFile)
	m := new(Manifest)
	err := UnmarshalSummed(name, text, m)
	var other struct {
		Format int
		Needs  []string
	}
	if err != nil && json.Unmarshal(text, &other) == nil {
		m.Format, m.Needs = other.Format, other.Needs // version 1 has no checksum, a later one may have another form
	}
	unknown := slices.DeleteFunc(slices.Clone(m.Needs), func(need string) bool { return slices.Contains(known, need) })
	switch {
	case len(unknown) > 0:
		return nil, fmt.Errorf("data directory %s: it needs %s, which this program does not know, written by a later version of this program: %w", dir, strings.Join(unknown, ", "), ErrNewer)
	case m.Format > FormatVersion:
		return nil, fmt.Errorf("data directory %s: of format version %d, written by a later version of this program; this program reads version %d: %w", dir, m.Format, FormatVersion, ErrNewer)
	case err == nil && m.Format == 0:
		return nil, fmt.Errorf("%w: %s", &DamageError{name, "damaged: it has no format version"}, overwriteAdvice)
	case m.Format < FormatVersion && m.Format != 0:
		return nil, fmt.Errorf("data directory %s: of format version %d, this program reads version %d: %s", dir, m.Format, FormatVersion, overwriteAdvice)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, overwriteAdvice)
	case m.Clearing:
		return nil, fmt.Errorf("data directory %s: %w", dir, ErrClearing)
	}
	return m, nil
}

func (d *Data) writeManifest(clearing bool) error {
	text, err := MarshalSummed(Manifest{FormatVersion, d.Game, d.Options, d.needs, clearing})
	if err != nil {
		return err
	}
	// The manifest of a long run may be replaced: the new one must be on disk before the old
	// one is replaced.
	err = replace(d.FS, d.Dir(ManifestFile), text, d.fence.FS.Sync)
	sync := d.FS.Sync
	if len(d.needs) > 0 { // no file that a reader may misunderstand may be on disk before them
		sync = d.fence.FS.Sync
	}
	if err == nil {
		err = sync(d.Path)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

// Remember saves the options of the run, and what a reader of its files needs, in the manifest. The needs of an
// earlier run stay, because its files may. A run passes its needs before it writes the first file.
func (d *Data) Remember(options map[string]string, needs ...string) error {
	for _, need := range needs {
		if !slices.Contains(known, need) {
			return fmt.Errorf("data directory %s: a need %q is not known", d.Path, need)
		}
	}
	all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(needs, d.needs))))
	if maps.Equal(options, d.Options) && slices.Equal(all, d.needs) {
		return nil
	}
	d.Options, d.needs = options, all
	return d.writeManifest(false)
}
