package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// BuiltinName is the name of the rates in this package, in place of the name of a file.
const BuiltinName = "builtin"

// RatesFile returns the default file of calibrate.
func RatesFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "treereduce", "rates.json"), err
}

// RatesOf returns the rates that a name selects: of a file, BuiltinName, or "" for those of driver
// calibrate, if there are any. whose describes their source.
func RatesOf(name string) (r *Rates, whose string, err error) {
	if name == BuiltinName {
		r = Builtin()
		return r, fmt.Sprintf("built in, of %s, %s", r.Machine, r.Measured.Format(time.DateOnly)), nil
	}
	given := name != ""
	if !given {
		if name, err = RatesFile(); err != nil {
			name = "" // without a home directory there is no default file
		}
	}
	r, err = ReadRates(name)
	if errors.Is(err, fs.ErrNotExist) && !given {
		r = Builtin()
		return r, fmt.Sprintf("built in, of %s, %s (driver calibrate measures this one)", r.Machine, r.Measured.Format(time.DateOnly)), nil
	}
	if err != nil {
		return nil, "", err
	}
	return r, fmt.Sprintf("%s, of %s, %s", name, r.Machine, age(time.Since(r.Measured))), nil
}

// age describes how long ago a measurement was made.
func age(d time.Duration) string {
	switch days := int(d.Hours() / 24); {
	case days < 1:
		return "of today"
	case days == 1:
		return "a day old"
	default:
		return fmt.Sprintf("%d days old", days)
	}
}

// ReadRates reads a file of rates.
func ReadRates(name string) (*Rates, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := new(Rates)
	if err := store.UnmarshalSummed(name, text, r); err != nil {
		return nil, fmt.Errorf("%w: run driver calibrate to rebuild it", err)
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// MayWriteRates creates the directory for a file of rates, and returns an error if a file
// cannot be written there.
func MayWriteRates(name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory: expected the name of a file", name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	probe, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// WriteRates writes a file of rates atomically.
func WriteRates(name string, r *Rates) error {
	text, err := store.MarshalSummed(r)
	if err != nil {
		return err
	}
	return store.ReplaceFile(name, text)
}
