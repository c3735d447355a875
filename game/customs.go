package game

import "time"

// Customs are the defaults for games between players.
type Customs struct {
	// Time is the time limit per move of a machine or a program.
	Time time.Duration
	// NamedFirst means that the player who is named first on the command line plays first;
	// otherwise, a human is asked.
	NamedFirst bool
}

// Accustomed is a game with its own customs.
type Accustomed interface {
	Game
	Customs() Customs
}

// CustomsOf returns the customs of a game: its own, or one second per move.
func CustomsOf(g Game) Customs {
	if a, ok := g.(Accustomed); ok {
		return a.Customs()
	}
	return Customs{Time: time.Second}
}
