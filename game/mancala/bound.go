package mancala

// tierBoards returns the number of positions with the potential of a tier. Play can reach only
// some of them. Tier 0 contains the initial position only.
//
// It sums up the ways to place stones in pits by the number of stones n and by their
// weight, which is their part of the potential, one pit at a time:
//
//	ways[n, weight] of some pits = ways[n, weight] of all but one
//	                             + ways[n-1, weight - that one's] of them
//
// The r other stones can be divided between the goals in r+1 ways, and either row may be to
// move. If that row must pass, the position is one tier earlier.
func (r *Rules) tierBoards(tier int) float64 {
	if tier == 0 {
		return 1
	}
	r.bound.once.Do(r.countBoards)
	at := func(counts []float64, weight int) float64 {
		if weight < 0 || weight >= len(counts) {
			return 0
		}
		return counts[weight]
	}
	weight := r.tiers - tier
	return 2*at(r.bound.all, weight) - at(r.bound.pass, weight) + at(r.bound.pass, weight-1)
}

// countBoards counts the boards by weight: all boards, and those where one row is empty and
// the other is not.
func (r *Rules) countBoards() {
	count := func(pits []int) []float64 {
		weights := r.tiers + 1
		ways := make([][]float64, r.all+1)
		for n := range ways {
			ways[n] = make([]float64, weights)
		}
		ways[0][0] = 1
		for _, pit := range pits {
			for n := 1; n <= r.all; n++ {
				before, of := ways[n-1], ways[n]
				for weight := r.weight[pit]; weight < weights; weight++ {
					of[weight] += before[weight-r.weight[pit]]
				}
			}
		}
		sum := make([]float64, weights)
		for n, of := range ways {
			for weight, boards := range of {
				sum[weight] += boards * float64(r.all-n+1)
			}
		}
		return sum
	}
	both := make([]int, 2*r.pits)
	for pit := range both {
		both[pit] = pit
	}
	r.bound.all, r.bound.pass = count(both), count(both[:r.pits])
	for weight := range r.bound.pass {
		r.bound.pass[weight] *= 2 // either row may be the empty one
	}
	r.bound.pass[0] = 0 // the game is over
}
