// Package table has no tables in a browser: they would make the program that it loads a quarter larger.
package table

import (
	"errors"

	"github.com/treereduce/treereduce/game"
)

// A Table is a solved game. None can be opened.
type Table struct{ g game.Game }

// Game returns the game.
func (t *Table) Game() game.Game { return t.g }

// Tiers returns the number of the last tier.
func (t *Table) Tiers() int { return game.LastTier(t.g) }

// Lookup fails.
func (t *Table) Lookup(game.Position) (game.Value, bool, error) {
	return 0, false, errors.ErrUnsupported
}

// A Choice is a move with the value of the position it leads to.
type Choice struct {
	game.Move
	Value game.Value
}

// Choices fails.
func (t *Table) Choices(game.Position) ([]Choice, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (t *Table) Close() error { return nil }
