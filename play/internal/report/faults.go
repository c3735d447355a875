package report

import (
	"fmt"
	"slices"

	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// A Fault describes the faults of a player of one kind, with the first of them as an example.
type Fault struct {
	Player, Kind, did string
	Count             int
	Game              int // the number of the first, from 1
	Sentence, Message string
}

// String returns the fault in one line, without the player.
func (f *Fault) String() string {
	return fmt.Sprintf("%s, %s, first in game %d: %s (%s)", f.Kind, numfmt.Count(f.Count, "time"), f.Game, f.Sentence, f.Message)
}

// Faults are the faults of all players, in the order of their first games.
type Faults []*Fault

// kinds are the kinds of faults for people.
var kinds = map[referee.Reason]string{referee.Illegal: "Illegal move", referee.Late: "Too slow", referee.Failed: "Failed"}

// Add adds a game with this number that was lost by a fault, and returns its Fault.
func (all *Faults) Add(p referee.Played, number int) *Fault {
	f := &Fault{Player: p.Players[p.Outcome.Winner().Other()], Kind: kinds[p.Reason], Game: number, Sentence: p.Explain(), Message: short(p.Message)}
	if p.Reason == referee.Failed {
		f.did = p.Did
	}
	at := slices.IndexFunc(*all, func(of *Fault) bool { return of.Player == f.Player && of.Kind == f.Kind && of.did == f.did })
	if at < 0 {
		at = len(*all)
		*all = append(*all, f)
	}
	(*all)[at].Count++
	return (*all)[at]
}
