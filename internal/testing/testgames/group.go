package testgames

import (
	"math/rand/v2"
	"slices"
)

// A group is the product table of a group of at most 8 elements: group[a][b] is the element that acts
// as b and then a. Element 0 changes nothing.
type group [][]int

// elements is a set of elements of a group, one in each bit.
type elements uint8

// symmetries returns the groups of a board without symmetry, with a mirror, with two mirrors, of a
// triangle and of a square that can be turned, and of these with mirrors.
func symmetries() []group {
	return []group{
		permutations([]int{0}),
		permutations([]int{1, 0}),
		permutations([]int{1, 0, 2, 3}, []int{0, 1, 3, 2}),
		permutations([]int{1, 2, 0}),
		permutations([]int{1, 2, 3, 0}),
		permutations([]int{1, 2, 0}, []int{1, 0, 2}),
		permutations([]int{1, 2, 3, 0}, []int{3, 2, 1, 0}),
	}
}

// permutations returns the group that permutations generate.
func permutations(generators ...[]int) group {
	product := func(a, b []int) (c []int) {
		for _, i := range b {
			c = append(c, a[i])
		}
		return c
	}
	var all [][]int
	number := func(a []int) int {
		n := slices.IndexFunc(all, func(b []int) bool { return slices.Equal(a, b) })
		if n < 0 {
			n = len(all)
			all = append(all, a)
		}
		return n
	}
	number(slices.Sorted(slices.Values(generators[0]))) // element 0
	for n := 0; n < len(all); n++ {
		for _, a := range generators {
			number(product(a, all[n]))
		}
	}
	g := make(group, len(all))
	for a := range all {
		for b := range all {
			g[a] = append(g[a], number(product(all[a], all[b])))
		}
	}
	return g
}

// all returns all elements.
func (g group) all() elements { return elements(1<<len(g) - 1) }

// has reports whether a set contains an element.
func (s elements) has(a int) bool { return s>>a&1 != 0 }

// times returns the elements that act as one of set and then a.
func (g group) times(a int, set elements) (to elements) {
	for b := range g {
		if set.has(b) {
			to |= 1 << g[a][b]
		}
	}
	return to
}

// subgroup returns the subgroup that some elements generate.
func (g group) subgroup(generators ...int) elements {
	for set := elements(1); ; {
		was := set
		for _, a := range generators {
			set |= g.times(a, set)
		}
		if set == was {
			return set
		}
	}
}

// randomSubgroup returns a subgroup that some random elements of within generate.
func (g group) randomSubgroup(r *rand.Rand, within elements) elements {
	var generators []int
	for range []int{0, 0, 1, 2}[r.IntN(4)] {
		if a := r.IntN(len(g)); within.has(a) {
			generators = append(generators, a)
		}
	}
	return g.subgroup(generators...)
}

// cosets returns the cosets of a subgroup, which is the first of them.
func (g group) cosets(subgroup elements) (all []elements) {
	for a := range g {
		if c := g.times(a, subgroup); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// half returns a random subgroup with half of the elements, or all elements if the random pair of elements
// generates no such subgroup.
func (g group) half(r *rand.Rand) elements {
	if set := g.subgroup(r.IntN(len(g)), r.IntN(len(g))); len(g.cosets(set)) == 2 {
		return set
	}
	return g.all()
}
