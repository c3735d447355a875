package referee

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/play/player"
)

// An Entrant is who takes part in matches.
type Entrant struct {
	Name  string
	Limit time.Duration // of each move; 0: none
	// New makes the player, again after every fault.
	New func(ctx context.Context) (player.Player, error)
}

// A Match is two entrants who play a game some times. The first named is First in the
// first, third, … play, Second in the others.
type Match struct {
	Game     game.Game
	Entrants [2]Entrant
	Games    int // to be played
	Rules    Rules
	// Opening is how many moves are made at random before the players choose. Each
	// opening is played twice, by both colours.
	Opening int
	Seed    uint64 // of the openings
	// Begin is told who plays First and Second before each play, Report how it has ended;
	// either may be nil. An error of Report ends the match.
	Begin  func(players [2]string)
	Report func(p Played) error
}

// A Standing is how somebody has fared.
type Standing struct {
	Name               string
	Wins, Ties, Losses int
	Faults             int           // of the losses
	Moves              int           // that were chosen
	Time               time.Duration // of all of them
	Longest            time.Duration // of one
}

// Games is how many were played.
func (s Standing) Games() int { return s.Wins + s.Ties + s.Losses }

// Score is the share of the points: a win is one, a tie and a draw are half a one each.
// It is NaN if nothing was played.
func (s Standing) Score() float64 {
	return (float64(s.Wins) + float64(s.Ties)/2) / float64(s.Games())
}

// Error is the standard error of Score: of so many plays, each apart from the others, if
// they ended as often in each way as these did. So that ten wins of ten are not certain
// to go on, a win and a loss more are counted.
func (s Standing) Error() float64 {
	n := float64(s.Games() + 2)
	mean := (s.Score()*float64(s.Games()) + 1) / n
	square := (float64(s.Wins+1) + float64(s.Ties)/4) / n
	return math.Sqrt(max(0, square-mean*mean) / n)
}

// Mean is the mean time of a move; 0 of none.
func (s Standing) Mean() time.Duration {
	if s.Moves == 0 {
		return 0
	}
	return s.Time / time.Duration(s.Moves)
}

// Add adds what somebody has done elsewhere.
func (s *Standing) Add(o Standing) {
	s.Wins, s.Ties, s.Losses = s.Wins+o.Wins, s.Ties+o.Ties, s.Losses+o.Losses
	s.Faults, s.Moves, s.Time = s.Faults+o.Faults, s.Moves+o.Moves, s.Time+o.Time
	s.Longest = max(s.Longest, o.Longest)
}

// count adds a play, in which it was side, and whose moves h tells.
func (s *Standing) count(p Played, side game.Player, h *player.History) {
	switch p.Outcome {
	case game.Tie, game.Undecided:
		s.Ties++
	case game.WinFor(side):
		s.Wins++
	default:
		s.Losses++
		if p.Fault() {
			s.Faults++
		}
	}
	for i, took := range p.Times {
		if h.Mover(p.Opening+i) == side {
			s.Moves, s.Time, s.Longest = s.Moves+1, s.Time+took, max(s.Longest, took)
		}
	}
}

// Play plays the match. When ctx ends, or a human leaves, it returns the standings of
// what has been played to its end, and the error. An entrant who cannot be made at first
// is an error; one who cannot be made again, after a fault, loses.
func (m *Match) Play(ctx context.Context) (standings [2]Standing, err error) {
	var players [2]player.Player
	defer func() {
		for _, p := range players {
			if p != nil {
				p.Close()
			}
		}
	}()
	for i, e := range m.Entrants {
		standings[i].Name = e.Name
		p, err := e.New(ctx)
		if err != nil {
			return standings, fmt.Errorf("%s: %w", e.Name, err)
		}
		players[i] = p
	}
	for n := range m.Games {
		opening, err := m.opening(n / 2)
		if err != nil {
			return standings, err
		}
		var seats [2]Seat
		for side := range seats {
			i := (side + n) % 2
			e := m.Entrants[i]
			if players[i] == nil {
				players[i], _ = e.orBroken().New(ctx)
			}
			seats[side] = Seat{Name: e.Name, Player: players[i], Limit: e.Limit}
		}
		if m.Begin != nil {
			m.Begin([2]string{seats[0].Name, seats[1].Name})
		}
		p, err := m.Rules.Play(ctx, m.Game, seats, opening)
		for side := range seats {
			if i := (side + n) % 2; p.Dismiss(game.Player(side), players[i]) {
				players[i] = nil
			}
		}
		if err != nil {
			return standings, err
		}
		h := player.NewHistory(m.Game)
		for _, name := range p.Moves {
			if err := h.Play(name); err != nil {
				return standings, err
			}
		}
		for i := range standings {
			standings[i].count(p, game.Player((i+n)%2), h)
		}
		if m.Report != nil {
			if err := m.Report(p); err != nil {
				return standings, err
			}
		}
	}
	return standings, nil
}

// orBroken is e, but if it cannot be made there is a player that loses: the others go on.
func (e Entrant) orBroken() Entrant {
	begin := e.New
	e.New = func(ctx context.Context) (player.Player, error) {
		p, err := begin(ctx)
		if err != nil {
			return broken{err}, nil
		}
		return p, nil
	}
	return e
}

// broken is a player that could not be made.
type broken struct{ err error }

func (b broken) Move(context.Context, *player.History, time.Duration) (string, error) {
	return "", b.err
}
func (broken) Close() error { return nil }

// openingTries is how often an opening is begun anew when play has ended in it.
const openingTries = 1000

// opening is the opening of that number.
func (m *Match) opening(number int) ([]string, error) {
	random, rule := rand.New(rand.NewPCG(m.Seed, uint64(number))), game.DrawRuleOf(m.Game)
	for range openingTries {
		h := player.NewHistory(m.Game)
		for _, _, over := Ended(h, rule); len(h.Names()) < m.Opening && !over; _, _, over = Ended(h, rule) {
			moves := h.Moves()
			if err := h.Play(moves[random.IntN(len(moves))].Name); err != nil {
				return nil, err
			}
		}
		if _, _, over := Ended(h, rule); !over {
			return h.Names(), nil
		}
	}
	return nil, fmt.Errorf("openings: %s: of %d plays at random none lasts more than %d moves", m.Game.Spec(), openingTries, m.Opening)
}
