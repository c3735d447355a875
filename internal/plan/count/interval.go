package count

import "math"

// normal is the number of standard errors to either side in a 95 % interval.
const normal = 1.959964

// wider is the factor by which intervals are wider than normal ones: the variance is an estimate, too, and the choice of the
// next tier depends on earlier samples.
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

// of returns the interval of the mean of n estimates, none of which can exceed most. It is the normal interval. With few hits or
// few misses, it is that of these, of one more hit and one more miss, and two hits wider: for estimates of equal size about the
// exact interval of the Poisson distribution.
func (s sums) of(n, most float64) interval {
	if n == 0 || most == 0 {
		return interval{0, 0, most}
	}
	mean, size := s.sum/n, s.most
	if size == 0 {
		size = most
	}
	if min(s.weight(), n-s.sum/size) >= enough {
		size = 0
	}
	s.sum += size
	s.squares += size * size
	reach := 2*size + wider*normal*math.Sqrt(n*s.variance(n+2))
	return interval{mean, max(0, mean-reach/n), min(most, mean+reach/n)}
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
