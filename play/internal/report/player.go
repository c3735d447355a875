package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// pagePlayer is the section of a player.
type pagePlayer struct {
	Row
	Games [][2][]link // against each player, as first and second player
	Kinds []faults    // its faults
	// Judged and Mistakes are numbers of moves. Slowest is the game with the longest move.
	Judged, Mistakes int
	Median           time.Duration // of the times of moves
	Slowest          int
}

// A link leads to a game, from 1.
type link struct {
	Game int
	Text string
}

// faults are the faults of a player of one kind, with the board of the first of them.
type faults struct {
	*Fault
	Board string
}

// players returns the sections of all players, best first.
func (r Report) players(rows []Row, games []finished) []pagePlayer {
	all := make([]pagePlayer, len(rows))
	times := make([][]time.Duration, len(rows))
	var found Faults
	for i, row := range rows {
		all[i] = pagePlayer{Row: row, Games: make([][2][]link, len(rows))}
	}
	for n, f := range games {
		for side, i := range f.places {
			p, s := &all[i], game.Player(side)
			against := &p.Games[f.places[s.Other()]]
			against[side] = append(against[side], link{n + 1, outcome(f.Played, s)})
			if f.Fault() && f.Outcome == game.WinFor(s.Other()) {
				if fault := found.Add(f.Played, n+1); fault.Count == 1 {
					p.Kinds = append(p.Kinds, faults{fault, fmt.Sprint(f.History.Game().Picture(f.History.Position()))})
				}
			}
			for _, took := range f.timesOf(s) {
				if times[i] = append(times[i], took); p.Slowest == 0 && took == p.Longest {
					p.Slowest = n + 1
				}
			}
			tally := analysis.Tallies(f.History, f.judgments, f.Opening)[s]
			p.Judged, p.Mistakes = p.Judged+tally.Moves-tally.Unknown, p.Mistakes+tally.Mistakes
		}
	}
	for i := range all {
		if slices.Sort(times[i]); len(times[i]) > 0 {
			all[i].Median = times[i][(len(times[i])-1)/2]
		}
	}
	return all
}

// outcome returns the result of a game for a side: won, lost, fault, tie or draw.
func outcome(p referee.Played, side game.Player) string {
	switch {
	case p.Outcome == game.WinFor(side):
		return "won"
	case p.Outcome == game.WinFor(side.Other()) && p.Fault():
		return "fault"
	case p.Outcome == game.WinFor(side.Other()):
		return "lost"
	}
	return p.Result()
}

// timesOf returns the times of the moves of a side.
func (f finished) timesOf(side game.Player) (times []time.Duration) {
	for i, took := range f.Times {
		if f.History.Mover(f.Opening+i) == side {
			times = append(times, took)
		}
	}
	return times
}
