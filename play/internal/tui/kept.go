package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// settings are what is kept, besides an unfinished game, until the next start.
type settings struct {
	Level   string   `json:"level,omitempty"`  // that the user has chosen
	People  *[2]bool `json:"people,omitempty"` // whether First and Second were people in the last new game
	Analyse bool     `json:"analyse"`          // the mode
}

// readSettings reads a file of settings. A missing file has the settings s.
func readSettings(name string, s settings) (settings, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	read := s
	if err := json.Unmarshal(text, &read); err != nil {
		return s, fmt.Errorf("%s: expected settings as JSON: %w", name, err)
	}
	return read, nil
}

// recall applies the settings, and continues the unfinished game, that were kept. A file that
// cannot be read is ignored, and the message says so.
func (m *model) recall() {
	if m.o.Fresh {
		return
	}
	ignored := func(err error) {
		text := err.Error() + ": it is ignored"
		if m.message != "" {
			text = m.message + "; " + text
		}
		m.show("", errors.New(text))
	}
	if m.o.Settings != "" {
		s, err := readSettings(m.o.Settings, m.settings)
		at := slices.IndexFunc(m.levels, func(l player.Level) bool { return l.Name == s.Level })
		if err == nil && s.Level != "" && at < 0 {
			err = fmt.Errorf("%s: there is no level %q", m.o.Settings, s.Level)
		}
		if err != nil {
			ignored(err)
		} else {
			m.apply(s, at)
		}
	}
	if m.o.Unfinished == "" || m.o.Load != "" {
		return
	}
	last, err := lastOf(m.o.Unfinished, m.o.Parse)
	if err == nil {
		err = m.adopt(m.o.Unfinished, last)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		ignored(err)
	default:
		if m.o.Seats != nil {
			m.People = *m.o.Seats
		}
		m.Paused = !m.People[m.History().Turn()]
		if !m.bad {
			m.show("your unfinished game; N starts a new one", nil)
		}
	}
}

// apply applies settings. The options of the command line take precedence.
func (m *model) apply(s settings, level int) {
	m.settings = s
	m.Analysing = s.Analyse
	if s.Level != "" && m.o.Level.Name == "" && m.o.Level.Depth == 0 && m.o.Level.Time == 0 {
		m.level = level
	}
	if s.People != nil && m.o.Seats == nil {
		m.People = *s.People
		m.choice = choiceOf(m.People)
	}
}

// choiceOf returns the index of the choice with these seats.
func choiceOf(seats [2]bool) int {
	return slices.IndexFunc(choices, func(c choice) bool { return c.seats == seats })
}

// keep writes the settings and an unfinished game into their files. It deletes the file of an
// earlier unfinished game.
func (m *model) keep() error {
	var err error
	if m.o.Settings != "" {
		var text []byte
		if text, err = json.MarshalIndent(m.settings, "", "  "); err == nil {
			err = replace(m.o.Settings, append(text, '\n'))
		}
	}
	if m.o.Unfinished == "" {
		return err
	}
	if len(m.History().Names()) == 0 && m.saved == nil { // no game has begun
		return err
	}
	if m.over || len(m.History().Names()) == 0 {
		if gone := os.Remove(m.o.Unfinished); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return err
	}
	var text bytes.Buffer
	referee.WriteHeading(&text, "")
	played(m.History(), m.players()).Write(&text)
	return errors.Join(err, replace(m.o.Unfinished, text.Bytes()))
}

// replace replaces a file atomically, and makes its directory if necessary.
func replace(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return store.ReplaceFile(name, text)
}
