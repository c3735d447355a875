package referee

import (
	"math"
	"time"

	"github.com/treereduce/treereduce/game"
)

// A Pair is the games of one opening between two entrants, usually two games, with both
// assignments of sides. It is the unit of the statistics: its games are not independent of
// each other, and more games of an opening say little that is new, nothing if the players are
// deterministic.
type Pair struct {
	Points float64 // of the entrant
	Games  int
}

// counted returns the points and the number of games with which the pair counts: more than two
// games count like two with the same share of the points.
func (p Pair) counted() (points, games float64) {
	games = min(2, float64(p.Games))
	return games * p.Points / float64(p.Games), games
}

// A Standing is the result of one entrant.
type Standing struct {
	Name               string
	Wins, Ties, Losses int
	Faults             int             // losses by a fault
	Moves              int             // number of moves that it was asked for
	Time               time.Duration   // of all these
	Longest            time.Duration   // the longest time of a move, including moves that came too late
	Pairs              map[string]Pair // by opening; without openings, by the moves of the games
}

// Games returns the number of games played.
func (s Standing) Games() int { return s.Wins + s.Ties + s.Losses }

// Score returns the fraction of the points that the entrant won: a win is one point, a tie
// or draw half a point. It is NaN if no game was played.
func (s Standing) Score() float64 {
	return (float64(s.Wins) + float64(s.Ties)/2) / float64(s.Games())
}

// estimate returns the mean of the score and its standard error over independent pairs. A pair
// that won both games and one that lost both are added, so that ten wins of ten do not give an
// error of 0. The error is that of a ratio, because a pair may have one game only.
func (s Standing) estimate() (mean, dev float64) {
	points, games := 2.0, 4.0
	for _, p := range s.Pairs {
		x, n := p.counted()
		points, games = points+x, games+n
	}
	mean = points / games
	squares := 4*(1-mean)*(1-mean) + 4*mean*mean
	for _, p := range s.Pairs {
		x, n := p.counted()
		squares += (x - n*mean) * (x - n*mean)
	}
	n := float64(len(s.Pairs) + 2)
	return mean, math.Sqrt(squares*n/(n-1)) / games
}

// Error returns the standard error of Score, computed over Pairs.
func (s Standing) Error() float64 {
	_, dev := s.estimate()
	return dev
}

// Interval returns the 95 % interval of Score.
func (s Standing) Interval() (low, high float64) {
	mean, dev := s.estimate()
	// The quantile of Student's distribution, by the expansion of Cornish and Fisher.
	const z = 1.959964
	n := float64(len(s.Pairs) + 1)
	t := z + (z*z*z+z)/(4*n) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*n*n)
	return max(0, mean-t*dev), min(1, mean+t*dev)
}

// Superiority returns the likelihood that the entrant is stronger than its opponents: that its
// score over all openings is above a half.
func (s Standing) Superiority() float64 {
	mean, dev := s.estimate()
	return normal((mean - 0.5) / dev)
}

// normal is the cumulative distribution function of the standard normal distribution.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// edge is the advantage that Decided looks for, in points per game: 70 Elo.
const edge = 0.1

// A Verdict is the result of Standing.Decided.
type Verdict string

// The verdicts.
const (
	Undecided Verdict = "undecided"
	Stronger  Verdict = "stronger"
	Weaker    Verdict = "weaker"
	Equal     Verdict = "equal" // to its opponent, but for an advantage of less than 70 Elo
)

// Decided applies two sequential probability ratio tests with this confidence, as the developers of
// chess programs use them: one compares the hypotheses that the entrant is equal to its opponent
// and that its score is edge above a half, the other one those that it is equal and that its score
// is edge below. The likelihoods are those of normally distributed pairs. Half a pair decides nothing.
func (s Standing) Decided(confidence float64) Verdict {
	wrong := 1 - confidence
	accept, reject := math.Log(confidence/(wrong/2)), math.Log(wrong/(1-wrong/2))
	mean, dev := s.estimate()
	ratio := func(lead float64) float64 { return edge * (lead - edge/2) / (dev * dev) }
	above, below := ratio(mean-0.5), ratio(0.5-mean)
	switch {
	case s.Games()%2 == 1:
	case above >= accept:
		return Stronger
	case below >= accept:
		return Weaker
	case above <= reject && below <= reject:
		return Equal
	}
	return Undecided
}

// Mean returns the mean time of a move, or 0 if there was none.
func (s Standing) Mean() time.Duration { return s.Time / time.Duration(max(1, s.Moves)) }

// Add adds the standing against one opponent to s.
func (s *Standing) Add(o Standing, opponent string) {
	s.Wins, s.Ties, s.Losses = s.Wins+o.Wins, s.Ties+o.Ties, s.Losses+o.Losses
	s.Faults, s.Moves, s.Time = s.Faults+o.Faults, s.Moves+o.Moves, s.Time+o.Time
	s.Longest = max(s.Longest, o.Longest)
	for key, p := range o.Pairs {
		s.Pairs[opponent+"\n"+key] = p
	}
}

// count adds a play, in which the entrant was side. pair is the key of its Pair.
func (s *Standing) count(p Played, side game.Player, pair string) {
	points := 0.0
	switch p.Outcome {
	case game.Tie, game.Undecided:
		s.Ties++
		points = 0.5
	case game.WinFor(side):
		s.Wins++
		points = 1
	default:
		s.Losses++
		if p.Fault() {
			s.Faults++
		}
	}
	of := s.Pairs[pair]
	s.Pairs[pair] = Pair{of.Points + points, of.Games + 1}
	for i, took := range p.Times {
		if p.History.Mover(p.Opening+i) == side {
			s.Moves, s.Time, s.Longest = s.Moves+1, s.Time+took, max(s.Longest, took)
		}
	}
}
