package referee

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/player"
)

// An Entrant takes part in matches.
type Entrant struct {
	Name  string
	Limit time.Duration // of each move; 0: no limit
	// New makes the player. It is called again after every fault. An entrant whose New fails
	// loses the game.
	New func(ctx context.Context) (player.Player, error)
}

// A Match is a number of games between two entrants. The first entrant is First in games 1,
// 3, …, and Second in the others.
type Match struct {
	Game     game.Game
	Entrants [2]Entrant
	Games    int // maximum number of games to play
	Rules    Rules
	// Openings are the moves made before the players choose. Each opening is played twice, with
	// the sides exchanged. nil: games begin at the initial position.
	Openings *Openings
	// Decide is the maximum number of games that are added, in pairs, while the match is level.
	Decide int
	// Until ends the match when Standing.Decided has a Verdict with this confidence; 0: it does not.
	Until float64
	// Recorded returns a game of these players with this opening that was played before, so that
	// it is not played again. It may be nil.
	Recorded func(players [2]string, opening []string) (Played, bool)
	// Report is called after each game with the result; it may be nil. Its error ends the match.
	Report func(p Played) error
}

// Play plays the match. When ctx ends, or a human leaves, it returns the error and the
// standings of all complete games.
func (m *Match) Play(ctx context.Context) (standings [2]Standing, err error) {
	both := &Pairing{Entrants: [2]Entrant{m.Entrants[0].GiveUp(), m.Entrants[1].GiveUp()}}
	defer both.Close()
	for i, e := range m.Entrants {
		standings[i] = Standing{Name: e.Name, Pairs: make(map[string]Pair)}
	}
	for n := 0; m.goesOn(n, standings[0]); n++ {
		var opening []string
		if m.Openings != nil {
			if opening, err = m.Openings.At(n / 2); err != nil {
				return standings, err
			}
		}
		p, recorded := Played{}, false
		if m.Recorded != nil {
			names := [2]string{m.Entrants[n%2].Name, m.Entrants[(n+1)%2].Name}
			p, recorded = m.Recorded(names, opening)
		}
		if !recorded {
			both.game = n + 1
			if p, err = both.Play(ctx, m.Game, m.Rules, n%2, opening); err != nil {
				return standings, err
			}
		}
		pair := fmt.Sprint(opening)
		if len(opening) == 0 { // then copies of a game are one
			pair = fmt.Sprint(n%2, p.History.Names(), p.Result())
		}
		for i := range standings {
			standings[i].count(p, game.Player((i+n)%2), pair)
		}
		if m.Report != nil && !recorded {
			if err = m.Report(p); err != nil {
				return standings, err
			}
		}
	}
	return standings, nil
}

// goesOn reports whether the match has another game after n games.
func (m *Match) goesOn(n int, s Standing) bool {
	if m.Until > 0 && s.Decided(m.Until) != Undecided {
		return false
	}
	added := n - m.Games
	return added < 0 || added < m.Decide && (added%2 == 1 || s.Wins == s.Losses)
}

// A header is a player that keeps what it writes, under a heading for each game.
type header interface{ Head(line string) }

// A Pairing is two entrants that play one game after the other. They keep their players, unless these fail.
type Pairing struct {
	Entrants [2]Entrant

	game    int              // its number in a match
	players [2]player.Player // nil: to be made
}

// Play plays a game, in which the entrant of the index first is First.
func (t *Pairing) Play(ctx context.Context, g game.Game, r Rules, first int, opening []string) (Played, error) {
	var seats [2]Seat
	for side := range seats {
		e := t.Entrants[side^first]
		if t.players[side^first] == nil {
			p, err := e.New(ctx)
			if err != nil {
				return Played{}, cmp.Or(context.Cause(ctx), err)
			}
			t.players[side^first] = p
		}
		seats[side] = Seat{Name: e.Name, Player: t.players[side^first], Limit: e.Limit}
	}
	for _, s := range seats {
		if h, ok := s.Player.(header); ok {
			h.Head(fmt.Sprintf("== %s - %s, game %d of the match", seats[0].Name, seats[1].Name, t.game))
		}
	}
	p, err := r.Play(ctx, g, seats, opening)
	for side, s := range seats {
		if p.Dismiss(game.Player(side), s.Player) {
			t.players[side^first] = nil
		}
	}
	return p, err
}

// Close closes the players.
func (t *Pairing) Close() {
	for _, p := range t.players {
		if p != nil {
			p.Close()
		}
	}
}

// maxStarts is how often in a row an entrant may fail to start before it is not started any more.
const maxStarts = 3

// GiveUp returns e with a New that is safe for concurrent use, and makes a player that fails if the player cannot be made; after maxStarts
// errors in a row at once: a program may take 30 s to fail.
func (e Entrant) GiveUp() Entrant {
	var mu sync.Mutex
	failures, last, begin := 0, error(nil), e.New
	e.New = func(ctx context.Context) (player.Player, error) {
		mu.Lock()
		if failures >= maxStarts {
			defer mu.Unlock()
			return broken{last}, nil
		}
		mu.Unlock()
		p, err := begin(ctx)
		mu.Lock()
		defer mu.Unlock()
		if failures++; err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			p, last, err = broken{err}, err, nil
		}
		return p, err
	}
	return e
}

// broken replaces a player that could not be made.
type broken struct{ err error }

func (b broken) Move(context.Context, *player.History, time.Duration) (string, error) {
	return "", b.err
}
func (broken) Close() error { return nil }
