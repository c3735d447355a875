package game

import "time"

// Customs are how a game is played at a table where nothing else is said.
type Customs struct {
	// Time is what a move of a machine or a program may take.
	Time time.Duration
	// NamedFirst says that whoever is named first begins; otherwise a human is asked.
	NamedFirst bool
}

// Accustomed is a game with customs of its own.
type Accustomed interface {
	Game
	Customs() Customs
}

// CustomsOf are the customs of a game: its own, or a second for a move.
func CustomsOf(g Game) Customs {
	if a, ok := g.(Accustomed); ok {
		return a.Customs()
	}
	return Customs{Time: time.Second}
}
