package naive

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Rules is a game of a rules program (docs/rules.md): all answers of the program, and their meaning.
type Rules struct {
	Tiers                     int             // the last tier; -1: none
	Loops                     map[uint64]bool // the tiers in which moves may stay
	Players, TiesLate, Puzzle bool

	bits, below uint64
	start       uint64
	nodes       map[uint64]rulesNode
}

// A rulesNode is a position.
type rulesNode struct {
	mover int    // 0 or 1; without Players always 0
	end   string // Win, Lose or Tie for the mover; Draw: a puzzle is stuck; "": the game goes on
	next  []uint64
	named bool // its moves have names
}

// RandomRules returns a random game: with and without tiers, moves that stay in a tier, players in any order, late ties,
// cycles, moves from a position to itself, several moves to the same position, unreachable positions, and puzzles. In some
// games, one move of one position, which may be unreachable, stays in a tier in which none may; some games are long.
func RandomRules(r *rand.Rand) *Rules {
	g := &Rules{Tiers: -1, bits: uint64(8 + r.IntN(20)), nodes: make(map[uint64]rulesNode)}
	switch r.IntN(8) {
	case 0:
		g.Puzzle = true
	case 1, 2, 3:
		g.Tiers, g.TiesLate = 1+r.IntN(15), r.IntN(3) == 0
		if !g.TiesLate && r.IntN(4) > 0 {
			g.Loops = make(map[uint64]bool)
			for tier, each := uint64(0), r.IntN(3); tier <= uint64(g.Tiers); tier++ {
				if each == 0 || r.IntN(2) == 0 {
					g.Loops[tier] = true
				}
			}
		}
	}
	g.Players = !g.Puzzle && r.IntN(3) > 0
	number := func() uint64 { // of a new position that is in no tier yet
		for {
			p := r.Uint64N(1 << (g.bits - 4))
			if _, taken := g.nodes[p]; !taken {
				return p
			}
		}
	}
	n := 2 + r.IntN(15<<r.IntN(5))
	n = min(n, 1<<(g.bits-5))
	long := r.IntN(4) == 0
	all := make([]uint64, n) // the initial position first
	for i := range all {
		all[i] = number()
		g.nodes[all[i]] = rulesNode{}
	}
	if g.Tiers >= 0 {
		g.addTiers(r, all)
	}
	g.start = all[0]
	if g.below = 0; r.IntN(3) == 0 {
		g.below = slices.Max(all) + 1
	}
	for i, p := range all {
		x := rulesNode{named: r.IntN(2) == 0}
		if g.Players && i > 0 {
			x.mover = r.IntN(2)
		}
		g.nodes[p] = x
	}
	ends := 1 + r.IntN(1+n/4)
	results := [][]string{{Win, Lose, Lose, Tie}, {Win, Lose}, {Tie}, {Tie, Tie, Tie, Lose}}[r.IntN(4)]
	if g.Puzzle {
		results = []string{Tie, Tie, Draw}
	}
	for i, p := range all {
		g.link(r, all, i, long, ends)
		if x := g.nodes[p]; len(x.next) == 0 && x.end == "" {
			x.end = results[r.IntN(len(results))]
			g.nodes[p] = x
		}
	}
	if g.Tiers >= 0 && r.IntN(2) == 0 {
		g.stay(r, all)
	}
	return g
}

// addTiers moves the positions to tiers: the highest bits of a number are its tier. Only the first is in tier 0.
func (g *Rules) addTiers(r *rand.Rand, all []uint64) {
	for i, p := range all {
		delete(g.nodes, p)
		if i > 0 {
			all[i] |= uint64(1+r.IntN(g.Tiers)) << (g.bits - g.tierBits())
		}
	}
	slices.Sort(all)
	for _, p := range all {
		g.nodes[p] = rulesNode{}
	}
}

func (g *Rules) tierBits() uint64 {
	n := uint64(0)
	for rest := g.Tiers; rest > 0; rest /= 2 {
		n++
	}
	return n
}

func (g *Rules) tier(p uint64) uint64 { return p >> (g.bits - g.tierBits()) }

// link gives position all[i] its moves, unless it is one of the last ends positions.
func (g *Rules) link(r *rand.Rand, all []uint64, i int, long bool, ends int) {
	p, n := all[i], len(all)
	if i > 0 && i >= n-ends {
		return
	}
	x := g.nodes[p]
	moves := 1 + r.IntN(4)
	if r.IntN(20) == 0 {
		moves = 10 + r.IntN(100)
	}
	if long {
		moves = 1 + r.IntN(2)*r.IntN(2)
	}
	for range moves {
		to := all[r.IntN(n)]
		switch {
		case long:
			to = all[min(n-1, i+1+2*r.IntN(2)*r.IntN(2)*r.IntN(2))]
		case r.IntN(2) == 0:
			to = all[min(n-1, i+1+r.IntN(3))]
		case r.IntN(8) == 0:
			to = p
		}
		if g.Tiers >= 0 && (g.tier(to) < g.tier(p) || g.strays(p, to)) {
			continue
		}
		if x.named || !slices.Contains(x.next, to) { // without names, each move leads to another position
			x.next = append(x.next, to)
		}
		if x.named && r.IntN(3) == 0 {
			x.next = append(x.next, x.next[:min(1, len(x.next))]...) // a second move to the same position
		}
	}
	g.nodes[p] = x
}

// strays reports whether a move stays in a tier in which no move may stay.
func (g *Rules) strays(p, to uint64) bool {
	return g.Tiers >= 0 && g.tier(to) == g.tier(p) && !g.Loops[g.tier(p)]
}

// stay adds a move that strays to a position.
func (g *Rules) stay(r *rand.Rand, all []uint64) {
	p := all[r.IntN(len(all))]
	x := g.nodes[p]
	for _, to := range all[r.IntN(len(all)):] {
		if x.end == "" && g.strays(p, to) {
			x.next = append(x.next, to)
			g.nodes[p] = x
			return
		}
	}
}

// Answers returns the header of the program, an empty line, and for each position a line with the question, a tab and
// the answer.
func (g *Rules) Answers() string {
	var b strings.Builder
	fmt.Fprintf(&b, "treereduce rules 1\nname random\nbits %d\nstart %d\n", g.bits, g.start)
	for _, line := range []struct {
		said bool
		text string
	}{
		{g.Tiers >= 0, fmt.Sprintf("tiers %d", g.Tiers)}, {len(g.Loops) > 0, "loops " + g.loops()}, {g.TiesLate, "ties late"}, {g.Players, "players Ann, Bob"},
		{g.Puzzle, "puzzle"}, {g.below > 0, fmt.Sprintf("below %d", g.below)},
	} {
		if line.said {
			fmt.Fprintln(&b, line.text)
		}
	}
	b.WriteByte('\n')
	for _, p := range slices.Sorted(maps.Keys(g.nodes)) {
		x := g.nodes[p]
		words := []string{map[string]string{Win: "win", Lose: "lose", Tie: "tie", "": ""}[x.end]}
		if g.Puzzle && x.end != "" {
			words[0] = map[string]string{Tie: "solved", Draw: "stuck"}[x.end]
		}
		for i, to := range x.next {
			words = append(words, fmt.Sprint(to))
			if x.named {
				words[i+1] = fmt.Sprintf("m%d:%d", i, to)
			}
		}
		if g.Players {
			words = slices.Insert(words, 0, fmt.Sprint(x.mover+1))
		}
		fmt.Fprintf(&b, "%d\t%s\n", p, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	return b.String()
}

// loops returns the value of the line of the header.
func (g *Rules) loops() string {
	if len(g.Loops) > g.Tiers {
		return "all"
	}
	return strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(g.Loops))), "[]")
}

// Mover returns the player to move in a position, 0 or 1.
func (g *Rules) Mover(p uint64) int { return g.nodes[p].mover }

// Solve returns the values of all positions that play can reach, for the player to move. refused is a part of the error with
// which the game must be refused; "": it must be solved.
func (g *Rules) Solve() (values map[uint64]Worth, refused string) {
	values = Graph{
		Start:      g.start,
		Finished:   func(p uint64) string { return g.nodes[p].end },
		Successors: func(p uint64) []uint64 { return g.nodes[p].next },
		Again:      func(p, s uint64) bool { return g.Players && g.nodes[p].mover == g.nodes[s].mover },
		TiesLate:   g.TiesLate,
	}.Solve()
	for p := range values {
		if slices.ContainsFunc(g.nodes[p].next, func(to uint64) bool { return g.strays(p, to) }) {
			return nil, "leads from tier"
		}
	}
	return values, ""
}
