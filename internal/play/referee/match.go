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

// An Entrant takes part in matches.
type Entrant struct {
	Name  string
	Limit time.Duration // of each move; 0: no limit
	// New makes the player. It is called again after every fault.
	New func(ctx context.Context) (player.Player, error)
}

// A Match is a number of games between two entrants. The first entrant is First in games 1,
// 3, …, and Second in the others.
type Match struct {
	Game     game.Game
	Entrants [2]Entrant
	Games    int // number of games to play
	Rules    Rules
	// Opening is the number of random moves made before the players choose. Each opening is
	// played twice, with the sides exchanged.
	Opening int
	Seed    uint64 // of the openings
	// Begin is called before each game with the names of First and Second, Report after it
	// with the result; either may be nil. An error of Report ends the match.
	Begin  func(players [2]string)
	Report func(p Played) error
}

// A Standing is the result of one entrant.
type Standing struct {
	Name               string
	Wins, Ties, Losses int
	Faults             int           // losses by a fault
	Moves              int           // number of chosen moves
	Time               time.Duration // of all chosen moves
	Longest            time.Duration // the longest time of a move
}

// Games returns the number of games played.
func (s Standing) Games() int { return s.Wins + s.Ties + s.Losses }

// Score returns the fraction of the points that the entrant won: a win is one point, a tie
// or draw half a point. It is NaN if no game was played.
func (s Standing) Score() float64 {
	return (float64(s.Wins) + float64(s.Ties)/2) / float64(s.Games())
}

// Error returns the standard error of Score, for as many independent games with the same
// frequencies of results. One win and one loss are added to the counts, so that ten wins of
// ten do not give an error of 0.
func (s Standing) Error() float64 {
	n := float64(s.Games() + 2)
	mean := (s.Score()*float64(s.Games()) + 1) / n
	square := (float64(s.Wins+1) + float64(s.Ties)/4) / n
	return math.Sqrt(max(0, square-mean*mean) / n)
}

// Mean returns the mean time of a move, or 0 if there was none.
func (s Standing) Mean() time.Duration {
	if s.Moves == 0 {
		return 0
	}
	return s.Time / time.Duration(s.Moves)
}

// Add adds another standing to s.
func (s *Standing) Add(o Standing) {
	s.Wins, s.Ties, s.Losses = s.Wins+o.Wins, s.Ties+o.Ties, s.Losses+o.Losses
	s.Faults, s.Moves, s.Time = s.Faults+o.Faults, s.Moves+o.Moves, s.Time+o.Time
	s.Longest = max(s.Longest, o.Longest)
}

// count adds a play, in which the entrant was side, and whose history is h.
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

// Play plays the match. When ctx ends, or a human leaves, it returns the error and the
// standings of all complete games. It is an error if an entrant cannot be made at first; an
// entrant that cannot be made again, after a fault, loses.
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

// orBroken returns e with a New that returns a losing player instead of an error, so that
// the other entrants can go on.
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

// broken replaces a player that could not be made.
type broken struct{ err error }

func (b broken) Move(context.Context, *player.History, time.Duration) (string, error) {
	return "", b.err
}
func (broken) Close() error { return nil }

// openingTries is the number of attempts to find an opening in which play does not end.
const openingTries = 1000

// opening returns the opening of that number.
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
	return nil, fmt.Errorf("openings: %s: %d random games, none of more than %d moves", m.Game.Spec(), openingTries, m.Opening)
}
