package count

import "math"

// normal is the number of standard errors to either side in a 95 % interval.
const normal = 1.959964

// wider is the factor by which intervals of many samples are wider than normal ones: the
// variance is an estimate, too, and the choice of the next tier depends on earlier samples.
const wider = 1.1

// enough is the number of samples of equal weight that must have hit, and that must have
// missed, for the mean to be treated as normally distributed.
const enough = 40

// sums are the sums of estimates, which are not negative.
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

// weight returns the number of estimates of equal size that have the same precision.
func (s sums) weight() float64 {
	if s.squares == 0 {
		return 0
	}
	return s.sum * s.sum / s.squares
}

// variance returns the variance of one of n estimates.
func (s sums) variance(n float64) float64 {
	return max(0, s.squares-s.sum*s.sum/n) / max(1, n-1)
}

// An interval is a mean and its 95 % confidence interval.
type interval struct{ mean, low, high float64 }

// of returns the interval of the mean of n estimates, none of which can exceed most.
//
// If there are many hits and many misses, it is the normal interval. If there are few hits, it
// is the gamma interval of Fay and Feuer (Confidence intervals for directly standardized
// rates, Statistics in Medicine 16, 1997), which for estimates of equal size is the exact
// interval of the Poisson distribution. If there are few misses, it is the same interval for
// the misses.
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

// gamma returns the interval of Fay and Feuer for a sum of weights.
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

// chiSquare approximates a quantile of the chi-square distribution: the one with the same
// probability as z standard errors from the mean of a normal distribution (Wilson and
// Hilferty, 1931). For two degrees of freedom, the upper quantile is exact.
func chiSquare(z, freedom float64) float64 {
	if freedom <= 2 && z > 0 {
		return -2 * math.Log(math.Erfc(z/math.Sqrt2)/2)
	}
	root := 1 - 2/(9*freedom) + z*math.Sqrt(2/(9*freedom))
	return freedom * max(0, root*root*root)
}

// plus returns the interval of the sum of two independent numbers (the method of variance
// estimates recovery: Zou and Donner, Statistics in Medicine 27, 2008).
func (i interval) plus(other interval) interval {
	mean := i.mean + other.mean
	return interval{
		mean,
		mean - math.Hypot(i.mean-i.low, other.mean-other.low),
		mean + math.Hypot(i.high-i.mean, other.high-other.mean),
	}
}
