package referee_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/internal/play/referee"
)

// entrant returns an entrant that always has the same player.
func entrant(name string, p player.Player) referee.Entrant {
	return referee.Entrant{Name: name, New: func(context.Context) (player.Player, error) { return p, nil }}
}

// random returns an entrant that plays random moves.
func random(name string, seed uint64) referee.Entrant {
	return referee.Entrant{Name: name, New: func(context.Context) (player.Player, error) { return player.NewRandom(seed), nil }}
}

// TestMatch checks that sides alternate, and that results are counted for the right
// entrant.
func TestMatch(t *testing.T) {
	var firsts []string
	m := referee.Match{
		Game: gameOf(t, three), Games: 5,
		Entrants: [2]referee.Entrant{entrant("A", plays("0")), entrant("B", plays("1"))},
		Report:   func(p referee.Played) error { firsts = append(firsts, p.Players[0]); return nil },
	}
	s, err := m.Play(t.Context())
	if err != nil || fmt.Sprint(firsts) != "[A B A B A]" {
		t.Fatal(firsts, err)
	}
	// The first player wins with the third stone.
	if s[0].Wins != 3 || s[0].Losses != 2 || s[1].Wins != 2 || s[0].Games() != 5 || s[0].Moves != 3*3+2*2 || s[1].Moves != 2*3+3*2 || s[0].Score() != 0.6 {
		t.Errorf("%+v", s)
	}
}

// TestOpenings checks that each opening is played with both assignments of sides, that the
// next one differs, and that a seed repeats them.
func TestOpenings(t *testing.T) {
	openings := func(seed uint64) (all []string) {
		m := referee.Match{
			Game: gameOf(t, "connectn width=7 height=6 connect=4"), Games: 6, Opening: 6, Seed: seed,
			Entrants: [2]referee.Entrant{random("A", 1), random("B", 2)},
			Report: func(p referee.Played) error {
				if p.Opening != 6 || len(p.Times) != len(p.Moves)-6 {
					t.Errorf("%+v", p)
				}
				all = append(all, strings.Join(p.Moves[:6], ""))
				return nil
			},
		}
		s, err := m.Play(t.Context())
		if err != nil || s[0].Moves+s[1].Moves == 0 {
			t.Fatal(err, s)
		}
		return all
	}
	one := openings(1)
	if one[0] != one[1] || one[2] != one[3] || one[4] != one[5] || one[0] == one[2] || one[2] == one[4] {
		t.Error(one)
	}
	if again, other := openings(1), openings(2); fmt.Sprint(one) != fmt.Sprint(again) || one[0] == other[0] {
		t.Error(one, again, other)
	}
	// The opening takes one of two squares: the second player makes the only other move.
	m := referee.Match{Game: gameOf(t, "mnk width=2 height=1 connect=2"), Games: 3, Opening: 1, Entrants: [2]referee.Entrant{random("A", 1), random("B", 2)}}
	if s, err := m.Play(t.Context()); err != nil || s[0].Moves != 1 || s[1].Moves != 2 {
		t.Error(s, err)
	}
	m = referee.Match{Game: gameOf(t, three), Games: 1, Opening: 9, Entrants: [2]referee.Entrant{random("A", 1), random("B", 2)}}
	if _, err := m.Play(t.Context()); err == nil || err.Error() != "openings: "+three+": 1000 random games, none of more than 9 moves" {
		t.Error(err)
	}
}

// TestMatchFaults checks that a player that fails is made again, that one that cannot be
// made again loses, and that it is an error if it cannot be made at first.
func TestMatchFaults(t *testing.T) {
	made, errNo := 0, errors.New("no more")
	m := referee.Match{
		Game: gameOf(t, three), Games: 4,
		Entrants: [2]referee.Entrant{{Name: "A", New: func(context.Context) (player.Player, error) {
			if made++; made > 2 {
				return nil, errNo
			}
			return plays("7"), nil
		}}, entrant("B", plays("1"))},
	}
	var output []string
	m.Report = func(p referee.Played) error {
		output = append(output, fmt.Sprint(p.Reason, strings.Contains(p.Detail, "no more")))
		return nil
	}
	s, err := m.Play(t.Context())
	if err != nil || s[0].Losses != 4 || s[0].Faults != 4 || s[1].Wins != 4 || fmt.Sprint(output) != "[illegal false illegal false failed true failed true]" {
		t.Error(s, err, output)
	}
	m.Entrants[0], m.Entrants[1] = m.Entrants[1], m.Entrants[0]
	if _, err := m.Play(t.Context()); err == nil || err.Error() != "A: no more" {
		t.Error(err)
	}
}

// TestMatchStops checks that the games played before a match is stopped count.
func TestMatchStops(t *testing.T) {
	games := 0
	m := referee.Match{Game: gameOf(t, three), Games: 9, Entrants: [2]referee.Entrant{entrant("A", plays("0")), entrant("B", does(
		func(_ context.Context, h *player.History, _ time.Duration) (string, error) {
			if games == 3 {
				return "", player.ErrLeft
			}
			return "1", nil
		}))},
		Report: func(referee.Played) error { games++; return nil },
	}
	if s, err := m.Play(t.Context()); !errors.Is(err, player.ErrLeft) || s[0].Games() != 3 || s[1].Games() != 3 {
		t.Error(s, err)
	}
	games = 0
	full := errors.New("full")
	m.Report = func(referee.Played) error { return full }
	if s, err := m.Play(t.Context()); !errors.Is(err, full) || s[0].Games() != 1 {
		t.Error(s, err)
	}
}

func TestStanding(t *testing.T) {
	s := referee.Standing{Wins: 6, Ties: 2, Losses: 2, Moves: 4, Time: time.Second, Longest: 700 * time.Millisecond}
	s.Add(referee.Standing{Losses: 1, Faults: 1, Moves: 1, Time: time.Second, Longest: time.Second})
	if s.Games() != 11 || s.Score() != 7.0/11 || s.Mean() != 400*time.Millisecond || s.Longest != time.Second || s.Faults != 1 {
		t.Errorf("%+v", s)
	}
	// The error of n games, half of them won and half lost, is 1/(2·√n), where n includes
	// the two games added.
	if got, want := (referee.Standing{Wins: 49, Losses: 49}).Error(), 0.05; math.Abs(got-want) > 1e-12 {
		t.Errorf("error %v, want %v", got, want)
	}
	if won := (referee.Standing{Wins: 10}); won.Score() != 1 || won.Error() < 0.05 || won.Error() > 0.1 {
		t.Errorf("ten wins: %v ± %v", won.Score(), won.Error())
	}
	if tied := (referee.Standing{Ties: 1000}); tied.Error() > 0.001 {
		t.Errorf("ties vary by %v", tied.Error())
	}
}

// between returns the results of entrants with these numbers of wins against each other.
func between(wins [][]int) (c referee.Cross) {
	c.Standings = make([]referee.Standing, len(wins))
	for i, row := range wins {
		c.Between = append(c.Between, make([]referee.Standing, len(wins)))
		for j := range row {
			c.Between[i][j] = referee.Standing{Wins: wins[i][j], Losses: wins[j][i]}
		}
	}
	return c
}

func TestRatings(t *testing.T) {
	// Two entrants, in closed form: 400·log10 of the ratio of the points, half of it for
	// each. With the added tie, the first has 60.5 points of 81.
	r := between([][]int{{0, 60}, {20, 0}}).Ratings()
	if want := 200 * math.Log10(60.5/20.5); math.Abs(r[0].Elo-want) > 1e-6 || math.Abs(r[1].Elo+want) > 1e-6 {
		t.Errorf("%+v, want ±%v", r, want)
	}
	score := 60.5 / 81
	if want := 200 / math.Ln10 / math.Sqrt(81*score*(1-score)); math.Abs(r[0].Error-want) > 1e-6 {
		t.Errorf("error %v, want %v", r[0].Error, want)
	}
	// Four entrants: the expected scores equal the actual scores.
	wins := [][]int{{0, 7, 9, 10}, {3, 0, 6, 8}, {1, 4, 0, 5}, {0, 2, 5, 0}}
	r = between(wins).Ratings()
	sum := 0.0
	for i := range r {
		points, expected := 0.0, 0.0
		for j := range r {
			if i != j {
				points += float64(wins[i][j]) + 0.5
				expected += 11 / (1 + math.Pow(10, (r[j].Elo-r[i].Elo)/400))
			}
		}
		sum += r[i].Elo
		if math.Abs(points-expected) > 1e-6 || r[i].Error < 50 || r[i].Error > 150 {
			t.Errorf("%d scores %v, is expected to score %v ± %v", i, points, expected, r[i].Error)
		}
	}
	if math.Abs(sum) > 1e-6 {
		t.Errorf("the mean is %v", sum/4)
	}
	// Without games all ratings are equal, and the errors are large.
	if r := between([][]int{{0, 0}, {0, 0}}).Ratings(); r[0].Elo != 0 || r[0].Error < 150 {
		t.Errorf("%+v", r)
	}
	if r := between([][]int{{0}}).Ratings(); r[0] != (referee.Rating{}) {
		t.Errorf("alone: %+v", r)
	}
}

// TestTournament checks that every two entrants play, and that the table adds up.
func TestTournament(t *testing.T) {
	tour := referee.Tournament{
		Entrants: []referee.Entrant{random("A", 1), random("B", 2), entrant("C", plays("9"))},
		Match:    referee.Match{Game: gameOf(t, three), Games: 4, Opening: 1, Seed: 5},
	}
	c, err := tour.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range c.Standings {
		points, games := 0.0, 0
		for j, b := range c.Between[i] {
			if b.Wins != c.Between[j][i].Losses || i != j && b.Games() != 4 {
				t.Errorf("%d against %d: %+v", i, j, b)
			}
			if games += b.Games(); b.Games() > 0 {
				points += b.Score() * 4
			}
		}
		if s.Games() != 8 || games != 8 || math.Abs(s.Score()*8-points) > 1e-9 {
			t.Errorf("%+v: %v points", s, points)
		}
	}
	if c.Standings[2].Faults != 8 || c.Standings[0].Name != "A" {
		t.Errorf("%+v", c.Standings)
	}
	if r := c.Ratings(); r[2].Elo > r[0].Elo || r[2].Elo > r[1].Elo {
		t.Error(r)
	}
}

// TestTournamentWithout checks that an entrant that cannot be made loses each game, and
// that the others go on.
func TestTournamentWithout(t *testing.T) {
	gone := referee.Entrant{Name: "C", New: func(context.Context) (player.Player, error) { return nil, errors.New("not there") }}
	tour := referee.Tournament{
		Entrants: []referee.Entrant{gone, random("A", 1), random("B", 2)},
		Match:    referee.Match{Game: gameOf(t, three), Games: 2},
	}
	c, err := tour.Play(t.Context())
	if err != nil || c.Standings[0].Losses != 4 || c.Standings[0].Faults != 4 || c.Between[1][2].Games() != 2 {
		t.Errorf("%+v, %v", c.Standings, err)
	}
}
