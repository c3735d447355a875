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

// Ratings stops its iteration when no strength changes by more than the fraction
// ratingPrecision, or after ratingRounds rounds.
const (
	ratingPrecision = 1e-10
	ratingRounds    = 100_000
)

// Ratings rates the entrants by the Bradley–Terry model: an entrant of strength p scores
// p/(p+q) of the points against one of strength q. The strengths are the maximum likelihood
// estimate, where a tie counts as half a win of each. Ratings computes them by Zermelo's
// iteration (D. Hunter, «MM algorithms for generalized Bradley–Terry models», 2004, proves
// that it converges): it divides the points of an entrant by the points expected per unit
// of strength. One more tie is counted between every two entrants, so that an entrant that
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
	strength := make([]float64, n)
	for i := range strength {
		strength[i] = 1
	}
	for range ratingRounds {
		if zermelo(strength, points, games) < ratingPrecision {
			break
		}
	}
	// In Elo points, a strength is 10^(Elo/400).
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
	// The matrix is singular: games do not determine a common shift of all ratings. Adding
	// the same number to all entries makes it invertible, and is subtracted from the
	// inverse.
	all := 1 / float64(n)
	for i := range n {
		for j := range n {
			information[i][j] += all
		}
	}
	inverse := invert(information)
	ratings := make([]Rating, n)
	for i := range ratings {
		for j := range inverse[i] {
			inverse[i][j] = (inverse[i][j] - all) / (perElo * perElo)
		}
		ratings[i] = Rating{math.Log(strength[i]) / perElo, math.Sqrt(max(0, inverse[i][i])), inverse[i]}
	}
	return ratings
}

// zermelo performs one round of the iteration, and returns the largest relative change of a
// strength. The mean of the logarithms of the strengths stays 0.
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
