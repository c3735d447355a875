// Package tui is a terminal to play in: any game, drawn from its picture, against the
// machine, against one another, or watching the machine play itself. Every move is marked
// with what it leads to, as the table of the game says, or as a search finds while
// nobody has to wait for it.
//
// The model (model.go, keys.go) is told messages and knows no terminal; the drawing
// (view.go, screen.go) is a function of it. What is known of a position comes from an
// advisor (advice.go), the machine's moves from an opponent (opponent.go); both work
// in the background, and what comes too late is dropped. Where a move lies on the board is
// read off the pictures (geometry.go).
//
// The package knows no game: it asks package game, and plays by package referee.
package tui

import (
	"context"
	"errors"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// Options say what is played, and how.
type Options struct {
	Game game.Game
	// Table is the solved game; nil: there is none, and a search takes its place.
	// TableName is what it is called on the screen.
	Table     *table.Table
	TableName string
	// Search is for the searches; advisor and machine share the memory.
	Search search.Options
	// Depth or Time is the machine's level at first; neither: the table, or a second.
	Depth int
	Time  time.Duration
	// Pace is how long a move of the machine takes at least, so that it can be seen.
	Pace time.Duration
	// Seats says who sits where; nil: it is asked.
	Seats *[2]bool // whether First and Second are people
	// Parse makes the game of a spec that stands in a file of played games.
	Parse func(spec string) (game.Game, error)
	// Load is such a file, whose last game is gone on with; "": none.
	Load string
	// Notice is shown at first.
	Notice string
	// Colourless leaves colours out.
	Colourless bool
	// Seed is that of moves at random.
	Seed uint64
}

// Run plays in a terminal, which is in and out, until the player leaves; ctx, or Ctrl-C,
// ends it too, and is the error then: context.Canceled. The terminal is left as it was.
func Run(ctx context.Context, o Options, in, out *os.File) error {
	m := newModel(o)
	defer m.close()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil, m.interrupted:
		return context.Canceled
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the program has broken down: the lines above say where")
	}
	return err
}
