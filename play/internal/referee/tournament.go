package referee

import (
	"context"
	"sync"
)

// A Tournament is a number of matches between entrants: by default a round robin, in which every two
// entrants play one.
type Tournament struct {
	Entrants []Entrant
	// Against is the entrant who plays a match against each other one, in place of the round robin;
	// nil: there is none.
	Against *int
	// Knockout makes the tournament one of rounds: the loser of a match plays no more. The entrants
	// that are named first meet last, and have no opponent in the first round if the number of entrants is
	// no power of two. A level match is continued by Decide; if it stays level, the entrant named first
	// wins.
	Knockout bool
	// Match contains the settings of all matches; its Entrants are ignored. Its functions are called by all matches that
	// are played at the same time.
	Match    Match
	Parallel int // matches that are played at the same time; 0 is 1
}

// Games returns the number of games of a complete tournament, without those that decide level matches.
func (t *Tournament) Games() int {
	if t.Knockout {
		return (len(t.Entrants) - 1) * t.Match.Games
	}
	return len(t.pairs()) * t.Match.Games
}

// pairs returns the entrants of the matches, unless the tournament is a Knockout.
func (t *Tournament) pairs() (all [][2]int) {
	for i := range t.Entrants {
		for j := i + 1; j < len(t.Entrants) && t.Against == nil; j++ {
			all = append(all, [2]int{i, j})
		}
		if t.Against != nil && i != *t.Against {
			all = append(all, [2]int{*t.Against, i})
		}
	}
	return all
}

// A Cross is the table of results of a tournament.
type Cross struct {
	Standings []Standing   // of all games, in the order of the entrants
	Between   [][]Standing // of entrant i against entrant j; zero for i = j
	Rounds    [][]Bout     // the complete rounds of a knockout tournament
}

// A Bout is a match in a round of a knockout tournament.
type Bout struct {
	Entrants [2]int // the second is -1 if the first has no opponent
	Winner   int
}

// Loser returns the entrant that plays no more; -1 if the winner has no opponent.
func (b Bout) Loser() int { return b.Entrants[0] + b.Entrants[1] - b.Winner }

// NewCross makes the table of these entrants without games.
func NewCross(entrants []Entrant) Cross {
	n := len(entrants)
	c := Cross{Standings: make([]Standing, n), Between: make([][]Standing, n)}
	for i, e := range entrants {
		c.Standings[i] = Standing{Name: e.Name, Pairs: make(map[string]Pair)}
		c.Between[i] = make([]Standing, n)
	}
	return c
}

// Add adds the result of a match between entrants i and j.
func (c *Cross) Add(i, j int, s [2]Standing) {
	c.Between[i][j], c.Between[j][i] = s[0], s[1]
	c.Standings[i].Add(s[0], c.Standings[j].Name)
	c.Standings[j].Add(s[1], c.Standings[i].Name)
}

// Play plays the tournament. When ctx ends, it returns the error and the results of all
// complete games.
func (t *Tournament) Play(parent context.Context) (Cross, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	c := NewCross(t.Entrants)
	var entrants []Entrant
	for _, e := range t.Entrants {
		entrants = append(entrants, e.GiveUp())
	}
	var mu sync.Mutex // guards c
	play := func(pairs [][2]int) {
		slots := make(chan bool, max(1, t.Parallel))
		var matches sync.WaitGroup
		for _, pair := range pairs {
			select {
			case slots <- true:
			case <-ctx.Done():
				continue
			}
			matches.Go(func() {
				defer func() { <-slots }()
				m := t.Match
				m.Entrants = [2]Entrant{entrants[pair[0]], entrants[pair[1]]}
				s, err := m.Play(ctx)
				mu.Lock()
				defer mu.Unlock()
				c.Add(pair[0], pair[1], s)
				if err != nil {
					cancel(err)
				}
			})
		}
		matches.Wait()
	}
	if t.Knockout {
		c.knockout(ctx, play)
	} else {
		play(t.pairs())
	}
	return c, context.Cause(ctx)
}

// knockout plays the rounds of a knockout tournament. In each, the first place plays against the last, the
// second against the last but one, and so on; the winner has the better place in the next round.
func (c *Cross) knockout(ctx context.Context, play func(pairs [][2]int)) {
	size := 1
	for size < len(c.Standings) {
		size *= 2
	}
	places := make([]int, size)
	for i := range places {
		if places[i] = i; i >= len(c.Standings) {
			places[i] = -1
		}
	}
	for ; len(places) > 1; places = places[:len(places)/2] {
		var bouts []Bout
		var pairs [][2]int
		for i := range len(places) / 2 {
			b := Bout{Entrants: [2]int{places[i], places[len(places)-1-i]}}
			if bouts = append(bouts, b); b.Entrants[1] >= 0 {
				pairs = append(pairs, b.Entrants)
			}
		}
		if play(pairs); ctx.Err() != nil {
			return
		}
		for i := range bouts {
			bouts[i].Winner = c.winner(bouts[i].Entrants)
			places[i] = bouts[i].Winner
		}
		c.Rounds = append(c.Rounds, bouts)
	}
}

// winner returns the winner of a match of a knockout tournament.
func (c *Cross) winner(pair [2]int) int {
	i, j := pair[0], pair[1]
	if j < 0 {
		return i
	}
	switch s := c.Between[i][j]; {
	case s.Wins > s.Losses:
		return i
	case s.Wins < s.Losses:
		return j
	}
	return min(i, j)
}
