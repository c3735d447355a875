package play

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A logDir keeps what programs write to stderr, in a file for each player. Only the user who runs play
// can read it.
type logDir struct {
	path   string // absolute, without symbolic links
	resume bool   // files are continued
	warn   func(v ...any)
}

// openLogs makes the directory of --logs, or returns nil if there is none.
func openLogs(name string, resume bool, warn func(v ...any)) (*logDir, error) {
	if name == "" {
		return nil, nil
	}
	err := os.MkdirAll(name, 0o700)
	if err == nil {
		name, err = directory(name)
	}
	if err != nil {
		return nil, fmt.Errorf("--logs: %w", err)
	}
	return &logDir{path: name, resume: resume, warn: warn}, nil
}

// begin creates or empties the file of a player, which stays open, and returns a function that appends to it; nil if d is nil.
// number is that of the player, from 0.
func (d *logDir) begin(number int, player string) (func(text []byte), error) {
	if d == nil {
		return nil, nil
	}
	player = strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\<>:"|?*`, c) {
			return '_' // the name of a file cannot have it
		}
		return c
	}, player)
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !d.resume {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(filepath.Join(d.path, fmt.Sprintf("%d-%s.log", number+1, player)), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--logs: %w", err)
	}
	return func(text []byte) {
		if _, err := f.Write(text); err != nil {
			d.warn(fmt.Errorf("--logs: %w", err))
		}
	}, nil
}
