package referee

import (
	"maps"
	"math"
	"slices"
)

// A Rating is the strength of an entrant in Elo points: an entrant with 400 points more
// than another scores ten points for each point of the other.
type Rating struct {
	Elo   float64 // the mean over all entrants is 0
	Error float64 // its standard error
	// covariance is that of the rating with each rating.
	covariance []float64
}

// Superiority returns the likelihood that the entrant of rating i is stronger than that of
// rating j.
func Superiority(ratings []Rating, i, j int) float64 {
	a, b := ratings[i].covariance, ratings[j].covariance
	return normal((ratings[i].Elo - ratings[j].Elo) / math.Sqrt(max(1e-9, a[i]+b[j]-2*a[j])))
}

// Ratings stops its iteration when no logarithm of a strength changes by more than ratingPrecision, or after ratingRounds
// rounds; 20 are usual.
const (
	ratingPrecision = 1e-10
	ratingRounds    = 1000
)

// Ratings rates the entrants by the Bradley–Terry model: an entrant of strength p scores
// p/(p+q) of the points against one of strength q. The strengths are the maximum likelihood
// estimate, where a tie counts as half a win of each. Ratings computes their logarithms by Newton's
// method with steps of at most 1. One more tie is counted between every two entrants, so that an entrant that
// has won every game has a finite rating. The errors come from the information matrix of
// the games, inverted where the mean stays 0.
func (c Cross) Ratings() []Rating {
	n := len(c.Standings)
	points, games := make([]float64, n), make([][]float64, n)
	for i := range n {
		games[i] = make([]float64, n)
		for j := range n {
			if i != j {
				games[i][j]++
				points[i] += 0.5
				pairs := c.Between[i][j].Pairs
				for _, key := range slices.Sorted(maps.Keys(pairs)) { // so that rounding is the same each time
					x, n := pairs[key].counted()
					games[i][j], points[i] = games[i][j]+n, points[i]+x
				}
			}
		}
	}
	// The information matrix is singular: games do not determine a common shift of all ratings. Adding
	// the same number to all entries makes it invertible, and is subtracted from the
	// inverse.
	all := 1 / float64(n)
	strengths, covariance := make([]float64, n), [][]float64(nil) // the logarithms
	for range ratingRounds {
		missing, information := slices.Clone(points), make([][]float64, n) // points beyond those expected
		for i := range n {
			information[i] = slices.Repeat([]float64{all}, n)
			for j := range n {
				score := 1 / (1 + math.Exp(strengths[j]-strengths[i]))
				missing[i] -= games[i][j] * score
				information[i][j] -= games[i][j] * score * (1 - score)
				information[i][i] += games[i][j] * score * (1 - score)
			}
		}
		covariance = invert(information)
		steps, longest := make([]float64, n), 0.0
		for i := range n {
			for j := range n {
				steps[i] += covariance[i][j] * missing[j]
			}
			longest = max(longest, math.Abs(steps[i]))
		}
		if longest < ratingPrecision {
			break
		}
		for i := range n {
			strengths[i] += steps[i] / max(1, longest)
		}
	}
	// In Elo points, a strength is 10^(Elo/400).
	const perElo = math.Ln10 / 400
	ratings := make([]Rating, n)
	for i := range ratings {
		for j := range covariance[i] {
			covariance[i][j] = (covariance[i][j] - all) / (perElo * perElo)
		}
		ratings[i] = Rating{strengths[i] / perElo, math.Sqrt(max(0, covariance[i][i])), covariance[i]}
	}
	return ratings
}

// invert inverts a symmetric positive definite matrix by Gauss-Jordan elimination. It
// overwrites m.
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
