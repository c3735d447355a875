// Package tui is a terminal user interface for any game, drawn from its picture: to play
// against the machine or another person, or to watch the machine play itself. In an analysis, every move is
// marked with its value from the table of the game, or with what a search finds in the
// background.
//
// The model (model.go, keys.go) receives messages and does not know the terminal; the
// drawing (view.go, board.go) is a function of the model. Package analysis computes
// values, an opponent (opponent.go) chooses the machine's moves; both work in the
// background, and results that come too late are dropped. The place of a move on the board
// is derived from the pictures (package board).
//
// The package knows no particular game: it uses package game, and the rules of package
// referee.
package tui

import (
	"context"
	"errors"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// Options configure the user interface.
type Options struct {
	Game game.Game
	// Table is the solved game; nil: none, values come from a search. TableName is its name
	// on the screen.
	Table     *table.Table
	TableName string
	// Book is an opening book of the game; nil: none.
	Book *book.Book
	// Search configures the searches; analyzer and opponent share the memory.
	Search search.Options
	// Level is the initial level of the machine: one of player.Levels, or a Depth or Time
	// without a name. If it is empty, the machine plays from the table, or for one second.
	Level player.Level
	// Pace is the minimum time of a machine's move, so that it can be seen.
	Pace time.Duration
	// Seats lists which players are people; nil: the user is asked.
	Seats *[2]bool // whether First and Second are people
	// Parse makes the game of a spec in a file of played games.
	Parse func(spec string) (game.Game, error)
	// Load is the name of such a file, whose last game is continued; "": none.
	Load string
	// Settings and Unfinished are the names of files that keep the settings and an unfinished game
	// until the next start; "": they are not kept. With Fresh, they are written but not read.
	Settings, Unfinished string
	Fresh                bool
	// Notice is a message shown at the start.
	Notice string
	// ASCII replaces all other characters on the screen.
	ASCII bool
	// Colourless switches colours off.
	Colourless bool
	// Seed is the seed of random moves.
	Seed uint64
}

// Run plays in a terminal, with input in and output out, until the user quits. It also ends
// when ctx ends or Ctrl-C is pressed; then the error is or wraps context.Canceled. Run restores
// the terminal.
func Run(ctx context.Context, o Options, in, out *os.File) error {
	m := newModel(o)
	defer m.close()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	switch {
	case ctx.Err() != nil, m.interrupted:
		err = context.Canceled
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the program crashed: see the stack trace above")
	}
	return errors.Join(err, m.keep())
}
