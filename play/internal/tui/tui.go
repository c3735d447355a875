// Package tui is a terminal user interface for any game, drawn from its picture: to play
// against the machine or another person, or to watch the machine play itself. In an analysis, every move is
// marked with its value from the table of the game, or with what a search finds in the
// background.
//
// The model (model.go, keys.go) receives messages and does not know the terminal; the
// drawing (view.go, board.go) is a function of the model. Package session has the rules of a game
// in progress, package analysis computes values, and package player chooses the machine's moves.
// Both work in the background, and results that come too late are dropped. The place of a move on
// the board is derived from the pictures (package board).
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
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// usual is a level that answers at once, and that people can beat.
const usual = "club"

// Options configure the user interface.
type Options struct {
	Game   game.Game
	Table  *table.Table   // the solved game; nil: none, values come from a search
	Book   *book.Book     // an opening book of the game; nil: none
	Search search.Options // of the advice and of the machine's moves, which share the memory
	// Level is the name of the initial level of the machine, one of player.Opponents. If it is empty, it is that of
	// the kept game, or else perfect with a table, and usual without one.
	Level string
	Pace  time.Duration // the minimum time of a machine's move, so that it can be seen
	Seats *[2]bool      // whether First and Second are people; nil: the user is asked

	Parse func(spec string) (game.Game, error) // makes the game of a spec in a file of played games
	Kept  string                               // the name of one that keeps the game until the next start; "": it is not kept
	Fresh bool                                 // Kept is written, but not read

	Notice     string // a message shown at the start
	Colourless bool
}

// Run plays in a terminal, with input in and output out, until the user quits. It also ends
// when ctx ends or Ctrl-C is pressed; then the error is or wraps context.Canceled. Run restores
// the terminal.
func Run(ctx context.Context, o Options, in, out *os.File) error {
	m := newModel(o)
	defer m.close()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	m.send = p.Send
	_, err := p.Run()
	switch {
	case ctx.Err() != nil, errors.Is(err, tea.ErrInterrupted):
		err = context.Canceled
	case errors.Is(err, tea.ErrProgramPanic):
		return errors.New("the program crashed: see the stack trace above")
	}
	return errors.Join(err, m.keep())
}
