package referee_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
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
		Game: solved.Game(t, three), Games: 5,
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

// TestMatchFaults checks that a player that fails is made again, and that one that cannot be made
// loses, whether at first or later. It is not tried for ever.
func TestMatchFaults(t *testing.T) {
	made, errNo := 0, errors.New("no more")
	m := referee.Match{
		Game: solved.Game(t, three), Games: 8,
		Entrants: [2]referee.Entrant{{Name: "A", New: func(context.Context) (player.Player, error) {
			if made++; made > 2 {
				return nil, errNo
			}
			return plays("7"), nil
		}}, entrant("B", plays("1"))},
	}
	var output []string
	m.Report = func(p referee.Played) error {
		output = append(output, fmt.Sprint(p.Reason, strings.Contains(p.Detail(), "no more")))
		return nil
	}
	const want = "[illegal false illegal false failed true failed true failed true failed true failed true failed true]"
	s, err := m.Play(t.Context())
	if err != nil || s[0].Losses != 8 || s[0].Faults != 8 || s[1].Wins != 8 || fmt.Sprint(output) != want || made != 5 {
		t.Error(s, err, output, made)
	}
	m.Entrants[0], m.Entrants[1] = m.Entrants[1], m.Entrants[0]
	if s, err := m.Play(t.Context()); err != nil || s[1].Faults != 8 {
		t.Error(s, err)
	}
}

// TestMatchStops checks that the games played before a match is stopped count.
func TestMatchStops(t *testing.T) {
	games := 0
	m := referee.Match{Game: solved.Game(t, three), Games: 9, Entrants: [2]referee.Entrant{entrant("A", plays("0")), entrant("B", does(
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

// TestKnockout checks the pairs of the rounds, that level matches are continued, and that the entrant that
// is named first wins one that stays level.
func TestKnockout(t *testing.T) {
	var games []string
	tour := referee.Tournament{
		Knockout: true, Parallel: 1,
		Entrants: []referee.Entrant{random("A", 1), entrant("B", plays("7")), entrant("C", plays("0")), entrant("D", plays("7")), entrant("E", plays("7"))},
		Match: referee.Match{Game: solved.Game(t, three), Games: 2, Decide: 4, Report: func(p referee.Played) error {
			games = append(games, strings.Join(p.Players[:], ""))
			return nil
		}},
	}
	c, err := tour.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Both D and E make illegal moves, so that Second wins each game.
	const rounds = "[[{[0 -1] 0} {[1 -1] 1} {[2 -1] 2} {[3 4] 3}] [{[0 3] 0} {[1 2] 2}]"
	if got := fmt.Sprint(c.Rounds); !strings.HasPrefix(got, rounds) || len(c.Rounds) != 3 {
		t.Errorf("%s, want %s", got, rounds)
	}
	if got := strings.Join(games[:10], " "); got != "DE ED DE ED DE ED AD DA BC CB" || tour.Games() != 8 {
		t.Errorf("%s; %d games", got, tour.Games())
	}
}

func TestStanding(t *testing.T) {
	s := referee.Standing{Pairs: map[string]referee.Pair{}, Wins: 6, Ties: 2, Losses: 2, Moves: 4, Time: time.Second, Longest: 700 * time.Millisecond}
	s.Add(referee.Standing{Losses: 1, Faults: 1, Moves: 1, Time: time.Second, Longest: time.Second}, "B")
	if s.Games() != 11 || s.Score() != 7.0/11 || s.Mean() != 400*time.Millisecond || s.Longest != time.Second || s.Faults != 1 {
		t.Errorf("%+v", s)
	}
}

// between returns the results of entrants with these numbers of wins against each other.
func between(wins [][]int) (c referee.Cross) {
	c.Standings = make([]referee.Standing, len(wins))
	for i, row := range wins {
		c.Between = append(c.Between, make([]referee.Standing, len(wins)))
		for j := range row {
			pairs := make(map[string]referee.Pair)
			for n := range wins[i][j] {
				pairs[fmt.Sprint("won ", n)] = referee.Pair{Points: 1, Games: 1}
			}
			for n := range wins[j][i] {
				pairs[fmt.Sprint("lost ", n)] = referee.Pair{Games: 1}
			}
			c.Between[i][j] = referee.Standing{Wins: wins[i][j], Losses: wins[j][i], Pairs: pairs}
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
	// In any tournament, the expected scores equal the actual scores: here of entrants who win all or no games against others.
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 20 {
		wins := make([][]int, 2+random.IntN(11))
		for i := range wins {
			for range wins {
				wins[i] = append(wins[i], []int{0, 1, 30, 1000}[random.IntN(4)])
			}
			wins[i][i] = 0
		}
		if n == 0 { // Newton's method diverges without a limit of its steps
			wins = [][]int{{0, 0, 10000, 1, 0, 0}, {1, 0, 0, 1, 0, 10}, {10, 10000, 0, 10000, 0, 1}, {1, 0, 1, 0, 10, 0}, {1, 10, 1, 0, 0, 1}, {10000, 10, 10, 10, 10000, 0}}
		}
		r := between(wins).Ratings()
		for i := range r {
			missing := 0.0
			for j := range r {
				if i != j {
					missing += float64(wins[i][j]) + 0.5 - float64(wins[i][j]+wins[j][i]+1)/(1+math.Pow(10, (r[j].Elo-r[i].Elo)/400))
				}
			}
			if !(math.Abs(missing) < 1e-6) {
				t.Errorf("%v: %d scores %v more than expected", wins, i, missing)
			}
		}
	}
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
	// Copies of the games of an opening do not make the errors smaller.
	one, many := between([][]int{{0, 1}, {0, 0}}), between([][]int{{0, 1}, {0, 0}})
	for i, pair := range []referee.Pair{{Points: 2, Games: 2}, {Points: 100, Games: 100}} {
		c := []referee.Cross{one, many}[i]
		c.Between[0][1].Pairs["won 0"], c.Between[1][0].Pairs["lost 0"] = pair, referee.Pair{Games: pair.Games}
	}
	if a, b := one.Ratings(), many.Ratings(); a[0].Elo != b[0].Elo || a[0].Error != b[0].Error {
		t.Errorf("%+v for a pair, %+v for copies", a, b)
	}
	if p, q := referee.Superiority(one.Ratings(), 0, 1), referee.Superiority(one.Ratings(), 1, 0); p < 0.6 || p > 0.95 || math.Abs(p+q-1) > 1e-9 {
		t.Errorf("superiority %v and %v", p, q)
	}
	// Without games all ratings are equal, and the errors are large.
	if r := between([][]int{{0, 0}, {0, 0}}).Ratings(); r[0].Elo != 0 || r[0].Error < 150 {
		t.Errorf("%+v", r)
	}
	if r := between([][]int{{0}}).Ratings(); r[0].Elo != 0 || r[0].Error != 0 {
		t.Errorf("alone: %+v", r)
	}
}

// TestTournament checks that every two entrants play, and that the table adds up.
func TestTournament(t *testing.T) {
	tour := referee.Tournament{
		Entrants: []referee.Entrant{random("A", 1), random("B", 2), entrant("C", plays("9"))},
		Match:    referee.Match{Game: solved.Game(t, three), Games: 4, Openings: referee.NewOpenings(solved.Game(t, three), 1, 5, nil)},
		Parallel: 3,
	}
	c := must.Get(tour.Play(t.Context()))(t)
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
		Match:    referee.Match{Game: solved.Game(t, three), Games: 2},
	}
	c, err := tour.Play(t.Context())
	if err != nil || c.Standings[0].Losses != 4 || c.Standings[0].Faults != 4 || c.Between[1][2].Games() != 2 {
		t.Errorf("%+v, %v", c.Standings, err)
	}
}
