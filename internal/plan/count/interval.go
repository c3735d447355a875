package count

import "math"

// normal is how many standard errors an interval of 95 % reaches to either side.
const normal = 1.959964

// wider is by how much an interval of many draws is wider than the normal one: the variance
// is an estimate too, and which tier is drawn next has been chosen by those before.
const wider = 1.1

// enough is how many draws of equal weight must have hit, and must have missed, for the
// mean of all to be taken as normally distributed.
const enough = 40

// sums are of estimates that are not negative.
type sums struct {
	sum, squares, most float64
}

func (s *sums) add(x float64) {
	s.sum += x
	s.squares += x * x
	s.most = max(s.most, x)
}

func (s *sums) merge(other sums) {
	s.sum += other.sum
	s.squares += other.squares
	s.most = max(s.most, other.most)
}

// weight is how many estimates of equal size are as good as these.
func (s sums) weight() float64 {
	if s.squares == 0 {
		return 0
	}
	return s.sum * s.sum / s.squares
}

// variance is that of one of n estimates.
func (s sums) variance(n float64) float64 {
	return max(0, s.squares-s.sum*s.sum/n) / max(1, n-1)
}

// An interval is a mean, and between which numbers the true one is, in 95 of 100 cases.
type interval struct{ mean, low, high float64 }

// of is the interval of the mean of n estimates, none of which can be more than most.
//
// If many have hit and many have missed, it is the normal one. If few have hit, it is the
// gamma interval of Fay and Feuer (Confidence intervals for directly standardized rates,
// Statistics in Medicine 16, 1997), which for estimates of equal size is the exact one of
// Poisson's distribution. If few have missed, it is the same of what they missed by.
func (s sums) of(n, most float64) interval {
	mean := s.sum / n
	missed := sums{sum: n*most - s.sum, squares: max(0, n*most*most-2*most*s.sum+s.squares), most: most}
	switch {
	case n == 0 || most == 0:
		return interval{0, 0, most}
	case s.weight() < enough:
		low, high := s.gamma(most)
		return interval{mean, low / n, min(most, high/n)}
	case missed.sum <= n*most*1e-12 || missed.weight() < enough:
		low, high := missed.gamma(most)
		return interval{mean, max(0, most-high/n), min(most, most-low/n)}
	}
	reach := wider * normal * math.Sqrt(s.variance(n)/n)
	return interval{mean, max(0, mean-reach), min(most, mean+reach)}
}

// gamma is the interval of Fay and Feuer of a sum of weights.
func (s sums) gamma(most float64) (low, high float64) {
	if s.sum > 0 {
		if s.most > 0 {
			most = s.most
		}
		low = s.squares / (2 * s.sum) * chiSquare(-normal, 2*s.weight())
	}
	sum, squares := s.sum+most, s.squares+most*most
	return low, squares / (2 * sum) * chiSquare(normal, 2*sum*sum/squares)
}

// chiSquare is about the quantile of the chi-square distribution that lies so many
// standard errors from the middle of the normal one (Wilson and Hilferty, 1931). Of two
// degrees of freedom, the upper one is exact.
func chiSquare(z, freedom float64) float64 {
	if freedom <= 2 && z > 0 {
		return -2 * math.Log(math.Erfc(z/math.Sqrt2)/2)
	}
	root := 1 - 2/(9*freedom) + z*math.Sqrt(2/(9*freedom))
	return freedom * max(0, root*root*root)
}

// plus is the interval of a sum of two that do not depend on one another (the method of
// variance estimates recovery: Zou and Donner, Statistics in Medicine 27, 2008).
func (i interval) plus(other interval) interval {
	mean := i.mean + other.mean
	return interval{
		mean,
		mean - math.Hypot(i.mean-i.low, other.mean-other.low),
		mean + math.Hypot(i.high-i.mean, other.high-other.mean),
	}
}
