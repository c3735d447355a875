package referee

import (
	"context"
	"math"
)

// A Tournament is entrants of whom every two play a Match.
type Tournament struct {
	Entrants []Entrant
	// Match is what all matches have in common; its Entrants are not read.
	Match Match
}

// A Cross is the table of a tournament: whose row, against whose column.
type Cross struct {
	Standings []Standing   // of all plays, in the order of the entrants
	Between   [][]Standing // of row i against column j; of nobody against himself
}

// Play plays the tournament. When ctx ends it returns the table of what has been played to
// its end, and the error.
func (t *Tournament) Play(ctx context.Context) (Cross, error) {
	n := len(t.Entrants)
	c := Cross{Standings: make([]Standing, n), Between: make([][]Standing, n)}
	for i, e := range t.Entrants {
		c.Standings[i].Name = e.Name
		c.Between[i] = make([]Standing, n)
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			m := t.Match
			m.Entrants = [2]Entrant{t.Entrants[i].orBroken(), t.Entrants[j].orBroken()}
			s, err := m.Play(ctx)
			c.Between[i][j], c.Between[j][i] = s[0], s[1]
			c.Standings[i].Add(s[0])
			c.Standings[j].Add(s[1])
			if err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// A Rating is how strong somebody is, in points of Elo: who is 400 above another scores
// ten points for each of his.
type Rating struct {
	Elo   float64 // the mean of all entrants is 0
	Error float64 // its standard error
}

// Limits of the iteration of Ratings: it ends when no strength changes by more than this
// share, or after so many rounds.
const (
	ratingPrecision = 1e-10
	ratingRounds    = 100_000
)

// Ratings rates the entrants by the model of Bradley and Terry: of two with the strengths
// p and q, the first scores p/(p+q) of the points. The strengths are those that make the
// scores most likely, a tie counted as half a win of each, found by Zermelo's iteration
// (the one that D. Hunter, «MM algorithms for generalized Bradley–Terry models», 2004,
// proves to converge): the points of a player are divided by what he would have scored
// for each unit of strength. So that who has won everything has a rating as well, every
// two count as having tied once more. The errors are by the information of the plays
// (the inverse of its matrix where the mean stays 0).
func (c Cross) Ratings() []Rating {
	n := len(c.Standings)
	points, games := make([]float64, n), make([][]float64, n)
	for i := range n {
		games[i] = make([]float64, n)
		for j := range n {
			if i != j {
				b := c.Between[i][j]
				games[i][j] = float64(b.Games()) + 1
				points[i] += float64(b.Wins) + float64(b.Ties)/2 + 0.5
			}
		}
	}
	strength := make([]float64, n)
	for i := range strength {
		strength[i] = 1
	}
	for range ratingRounds {
		if zermelo(strength, points, games) < ratingPrecision {
			break
		}
	}
	// In Elo's units a strength is 10^(Elo/400).
	const perElo = math.Ln10 / 400
	information := make([][]float64, n)
	for i := range information {
		information[i] = make([]float64, n)
		for j := range n {
			sum := strength[i] + strength[j]
			if i != j {
				information[i][j] -= games[i][j] * strength[i] * strength[j] / (sum * sum)
				information[i][i] -= information[i][j]
			}
		}
	}
	// Adding the same to all entries bounds the one direction of which games say
	// nothing, all ratings up or down, and is taken away again.
	all := 1 / float64(n)
	for i := range n {
		for j := range n {
			information[i][j] += all
		}
	}
	inverse := invert(information)
	ratings := make([]Rating, n)
	for i := range ratings {
		ratings[i] = Rating{Elo: math.Log(strength[i]) / perElo, Error: math.Sqrt(max(0, inverse[i][i]-all)) / perElo}
	}
	return ratings
}

// zermelo is a round of the iteration; it returns by which share a strength has changed
// most. The mean of their logarithms stays 0.
func zermelo(strength, points []float64, games [][]float64) (most float64) {
	next, logs := make([]float64, len(strength)), 0.0
	for i := range strength {
		unit := 0.0
		for j := range strength {
			if i != j {
				unit += games[i][j] / (strength[i] + strength[j])
			}
		}
		next[i] = strength[i]
		if unit > 0 {
			next[i] = points[i] / unit
		}
		logs += math.Log(next[i])
	}
	scale := math.Exp(-logs / float64(len(strength)))
	for i := range strength {
		next[i] *= scale
		most = max(most, math.Abs(next[i]/strength[i]-1))
	}
	copy(strength, next)
	return most
}

// invert inverts a symmetric positive matrix, by Gauss and Jordan; it overwrites it.
func invert(m [][]float64) [][]float64 {
	n := len(m)
	inverse := make([][]float64, n)
	for i := range inverse {
		inverse[i] = make([]float64, n)
		inverse[i][i] = 1
	}
	for k := range n {
		pivot := m[k][k]
		for j := range n {
			m[k][j] /= pivot
			inverse[k][j] /= pivot
		}
		for i := range n {
			if f := m[i][k]; i != k {
				for j := range n {
					m[i][j] -= f * m[k][j]
					inverse[i][j] -= f * inverse[k][j]
				}
			}
		}
	}
	return inverse
}
