package tui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
)

// humanName is the name of a person in a file of played games. The name of a machine is its level.
const humanName = "human"

// played returns the record of the game.
func (m *model) played() referee.Played {
	var names [2]string
	for i, person := range m.People {
		if names[i] = m.levels[m.level].String(); person {
			names[i] = humanName
		}
	}
	return m.Played(names)
}

// save appends the game to a file of played games.
func (m *model) save(name string) tea.Cmd {
	m.show("saved in "+name, m.played().AppendTo(name, m.o.Parse))
	return nil
}

// open continues the last game of a file of played games.
func (m *model) open(name string) tea.Cmd {
	m.show("the last game of "+name, m.load(name))
	return m.arrive()
}

// load continues the last game of a file, with its sides and, unless the command line has one, its level. The machine
// waits if it is its turn.
func (m *model) load(name string) error {
	p, err := referee.LastOf(name, m.o.Parse)
	if err != nil {
		return err
	}
	if found := p.History.Game().Spec(); found != m.g.Spec() {
		return fmt.Errorf("%s: expected %s, found %s", name, m.g.Spec(), found)
	}
	s := session.Continue(p, [2]bool{p.Players[0] == humanName, p.Players[1] == humanName})
	m.Session, s.Paused = s, !s.People[s.History().Turn()]
	level := slices.IndexFunc(m.levels, func(l player.Level) bool { return slices.Contains(p.Players[:], l.String()) })
	if level >= 0 && m.o.Level == "" {
		m.level = level
	}
	return nil
}

// keep writes a game that has begun into the file that keeps it. A practice ends.
func (m *model) keep() error {
	if m.Do("stop"); m.o.Kept == "" || len(m.History().Names()) == 0 {
		return nil
	}
	var text bytes.Buffer
	m.played().Record(0).Write(&text)
	if err := os.MkdirAll(filepath.Dir(m.o.Kept), 0o777); err != nil {
		return err
	}
	return store.ReplaceFile(m.o.Kept, text.Bytes())
}
