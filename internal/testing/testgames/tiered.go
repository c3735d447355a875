package testgames

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/treereduce/treereduce/game"
)

// A Tiered is a game.Tiered, game.Symmetric and game.Decider given by a list of positions.
type Tiered struct {
	listed
	loops  []bool // by tier
	images map[game.Position][]game.Position
	known  map[game.Position]bool // the positions won in one move that the rules decide
}

var _ interface {
	game.Tiered
	game.Symmetric
	game.Decider
} = (*Tiered)(nil)

// TieredOptions are options of RandomTiered.
type TieredOptions struct {
	// Positions is the number of positions, approximately; at least 1.
	Positions int
	// OfMover means that turns alternate, values are those of the player to move, and images may exchange
	// the players. In some of these games, positions do not show whose turn it is. Otherwise values name the
	// winner, and the player to move is random.
	OfMover bool
	// Acyclic means that no tier has inner moves. TiesLate, for these only, means that players
	// prefer the farthest of several ties.
	Acyclic, TiesLate bool
	// Long means that play is long: with 600 positions, most games have values beyond 63 plies.
	Long bool
	// Sparse means that keys are spread over 64 bits. Otherwise, they are 0, 1 and so on.
	Sparse bool
	// Decides means that the rules decide some positions that are won in one move.
	Decides bool
	// Ties means that play ends with a tie more often than with a win.
	Ties bool
}

// RandomOptions returns options of one of the kinds of games, small if they are not long.
func RandomOptions(r *rand.Rand) TieredOptions {
	o := TieredOptions{Positions: 1 + r.IntN(60), OfMover: r.IntN(2) == 0, Acyclic: r.IntN(4) == 0, Sparse: r.IntN(3) == 0}
	o.TiesLate = o.Acyclic && r.IntN(2) == 0
	if r.IntN(8) == 0 {
		o.Long, o.Positions = true, 600
	}
	o.Decides, o.Ties = r.IntN(2) == 0, r.IntN(3) == 0
	return o
}

// RandomTiered returns a random game with a group of symmetries. It uses everything that the interfaces
// allow: inner moves, empty tiers, ties, draws, several moves to a position and to its images, positions with
// fewer images than the group has elements, unreachable positions, positions that the rules decide. The canonical position is any one of
// the images.
func RandomTiered(r *rand.Rand, o TieredOptions) *Tiered {
	all := symmetries()
	d := &design{r: r, o: o, group: all[r.IntN(len(all))], impartial: o.OfMover && r.IntN(4) == 0}
	d.keeps = d.all()
	if o.OfMover && !d.impartial {
		d.keeps = d.half(r)
	}
	d.add()
	for i := range d.orbits {
		if o.Long {
			d.path(i)
		} else {
			d.tangle(i)
		}
	}
	for i := range d.orbits {
		if o.Decides && i%2 == 0 {
			d.hurry(i)
		}
	}
	return d.game()
}

// TieredKind returns a kind of games whose rules processes can make again: each seed is a random one, with Predecessors if
// backward is 1, and without tiers if it is 2 and there is only one.
func TieredKind() game.Kind {
	return game.Kind{Name: "layered", Usage: "random games", Params: []game.Param{{Name: "seed", Usage: "of the game"}, {Name: "backward", Usage: "what it implements"}},
		New: func(args []int) (game.Game, error) {
			r := rand.New(rand.NewPCG(uint64(args[0]), 2))
			g := RandomTiered(r, RandomOptions(r))
			g.name = fmt.Sprintf("layered seed=%d backward=%d", args[0], args[1])
			switch {
			case args[1] == 1:
				return g.Backward(), nil
			case args[1] == 2 && g.tiers == 0:
				return struct{ game.Symmetric }{g}, nil
			}
			return g, nil
		}}
}

// A design is a game as orbits. An orbit is a position with its images.
type design struct {
	group
	r         *rand.Rand
	o         TieredOptions
	impartial bool     // positions do not show whose turn it is
	keeps     elements // the symmetries that do not exchange the players
	loops     []bool   // by tier
	orbits    []orbit
}

// An orbit has an image for each coset of a subgroup. The first one is that of the subgroup itself.
type orbit struct {
	images []elements
	tier   int
	mover  game.Player // of the first image
	next   []place     // moves of the first image; none: it is terminal
	end    game.Outcome
}

// A place is an image of an orbit.
type place struct {
	orbit int
	image elements
}

// add adds orbits in random tiers, the first in tier 0.
func (d *design) add() {
	tiers := 1 + d.r.IntN(6)
	switch {
	case d.o.Acyclic && d.o.Long:
		tiers = 1 + d.o.Positions/2
	case d.o.Acyclic:
		tiers = 1 + d.r.IntN(40)
	case d.o.Long:
		tiers = 1 + d.r.IntN(3)
	}
	for range tiers {
		d.loops = append(d.loops, !d.o.Acyclic && (d.o.Long || d.r.IntN(10) < 7))
	}
	in := []int{0} // the tiers of the orbits
	for range d.o.Positions - 1 {
		in = append(in, d.r.IntN(tiers))
	}
	slices.Sort(in)
	ends := []game.Outcome{game.FirstWins, game.SecondWins, game.Tie, game.FirstWins, game.SecondWins}
	if d.o.Ties {
		ends[3], ends[4] = game.Tie, game.Tie
	}
	turns := d.o.Long && (d.o.OfMover || d.r.IntN(2) == 0)
	for n := 0; n < d.o.Positions; {
		i := len(d.orbits)
		x := orbit{
			images: d.cosets(d.randomSubgroup(d.r, d.keeps)),
			tier:   in[i],
			mover:  game.Player(d.r.IntN(2)),
			end:    ends[d.r.IntN(len(ends))],
		}
		if turns {
			x.mover = game.Player(i % 2)
		}
		if d.impartial {
			x.mover = game.First
		}
		d.orbits = append(d.orbits, x)
		n += len(x.images)
	}
}

// tangle adds random moves to an orbit, or leaves it terminal.
func (d *design) tangle(i int) {
	var to []place
	for q := range d.orbits {
		to = append(to, d.targets(i, q)...)
	}
	if len(to) == 0 || d.r.IntN(7) == 0 {
		return
	}
	d.move(i, to, []int{1, 1, 2, 2, 3, 4}[d.r.IntN(6)])
	if d.r.IntN(3) == 0 { // several moves to the same orbit
		d.move(i, d.targets(i, d.orbits[i].next[0].orbit), 3)
	}
}

// path adds a move to the next orbit, and to few orbits another one: to a later tier, so that a position can
// have a value that is much larger than the number of steps to a move out of its tier; or back.
func (d *design) path(i int) {
	if d.r.IntN(1000) == 0 {
		return
	}
	for q := i + 1; q < len(d.orbits) && len(d.orbits[i].next) == 0; q++ {
		d.move(i, d.targets(i, q), 1)
	}
	if len(d.orbits[i].next) == 0 {
		return
	}
	if q := i + 1 + d.r.IntN(len(d.orbits)-i-1); d.orbits[q].tier > d.orbits[i].tier && d.r.IntN(30) == 0 {
		d.move(i, d.targets(i, q), 1)
	}
	if d.r.IntN(50) == 0 {
		d.move(i, d.targets(i, max(0, i-d.r.IntN(7))), 1)
	}
}

// hurry removes the moves of an orbit that do not end play, if it has others.
func (d *design) hurry(i int) {
	goesOn := func(to place) bool { return len(d.orbits[to.orbit].next) > 0 }
	if next := slices.DeleteFunc(slices.Clone(d.orbits[i].next), goesOn); len(next) > 0 {
		d.orbits[i].next = next
	}
}

// move adds some moves from an orbit to random ones of these places, if there are any.
func (d *design) move(i int, to []place, moves int) {
	for range moves {
		if len(to) > 0 {
			d.orbits[i].next = append(d.orbits[i].next, to[d.r.IntN(len(to))])
		}
	}
}

// targets returns the images of orbit q to which the first image of orbit i may move.
func (d *design) targets(i, q int) (all []place) {
	from, to := &d.orbits[i], &d.orbits[q]
	if to.tier < from.tier || to.tier == from.tier && !d.loops[to.tier] {
		return nil
	}
	for _, image := range to.images {
		if !d.o.OfMover || d.impartial || d.mover(q, image) != from.mover {
			all = append(all, place{q, image})
		}
	}
	return all
}

// mover returns the player to move at an image of an orbit.
func (d *design) mover(q int, image elements) game.Player {
	if d.exchanges(image) {
		return d.orbits[q].mover.Other()
	}
	return d.orbits[q].mover
}

// exchanges reports whether an image exchanges the players.
func (d *design) exchanges(image elements) bool { return image&d.keeps == 0 }

// game returns the game.
func (d *design) game() *Tiered {
	g := &Tiered{
		listed: listed{
			name:      fmt.Sprintf("layered seed=%d", d.r.Uint32()),
			tiers:     len(d.loops) - 1,
			positions: make(map[game.Position]node),
			values:    game.Values{OfMover: d.o.OfMover, TiesSoon: !d.o.TiesLate},
		},
		loops:  d.loops,
		images: make(map[game.Position][]game.Position),
		known:  make(map[game.Position]bool),
	}
	if !d.impartial {
		g.values.Players = [2]string{"left", "right"}
	}
	keys := d.keys()
	g.bits = uint(max(1, bits.Len64(uint64(len(keys))-1)))
	if d.o.Sparse {
		g.bits = 64
	}
	for i, x := range d.orbits {
		var images []game.Position
		for _, image := range x.images {
			images = append(images, keys[place{i, image}])
		}
		slices.Sort(images)
		for _, image := range x.images {
			p := keys[place{i, image}]
			g.images[p] = images
			g.positions[p] = d.node(i, image, keys)
		}
	}
	g.start = keys[place{0, d.orbits[0].images[d.r.IntN(len(d.orbits[0].images))]}]
	for i, x := range d.orbits {
		for _, p := range g.images[keys[place{i, x.images[0]}]] {
			g.known[p] = d.o.Decides && i%8 > 0 && g.winsAtOnce(p)
		}
	}
	return g
}

// winsAtOnce reports whether the player to move at p can win by a move, and the rules decide all successors.
func (g *Tiered) winsAtOnce(p game.Position) bool {
	win, moves := g.values.Ended(game.NewValue(game.WinFor(g.ToMove(p)), 1), g.ToMove(p)), g.Moves(nil, p)
	return slices.ContainsFunc(moves, func(m game.Move) bool {
		return g.values.Before(g.values.Ended(g.Primitive(m.To), g.ToMove(m.To))) == win
	}) && !slices.ContainsFunc(moves, func(m game.Move) bool { return g.Known(m.To) == 0 })
}

// keys gives each image of each orbit a random key.
func (d *design) keys() map[place]game.Position {
	keys := make(map[place]game.Position)
	var places []place
	for i, x := range d.orbits {
		for _, image := range x.images {
			places = append(places, place{i, image})
		}
	}
	taken := make(map[game.Position]bool)
	for n, i := range d.r.Perm(len(places)) {
		p := game.Position(n)
		for d.o.Sparse && (p == game.Position(n) || taken[p]) {
			p = d.r.Uint64()
		}
		taken[p] = true
		keys[places[i]] = p
	}
	return keys
}

// node returns an image of an orbit.
func (d *design) node(i int, image elements, keys map[place]game.Position) node {
	x := d.orbits[i]
	n := node{tier: x.tier, mover: d.mover(i, image)}
	if len(x.next) == 0 {
		if d.exchanges(image) && x.end != game.Tie {
			x.end = game.WinFor(x.end.Winner().Other())
		}
		n.end = game.NewValue(x.end, 0)
		return n
	}
	seen := make(map[place]bool)
	for a := range d.group {
		if !image.has(a) { // the image consists of the symmetries that lead from the first image to it
			continue
		}
		for _, to := range x.next {
			if at := (place{to.orbit, d.times(a, to.image)}); !seen[at] {
				seen[at] = true
				n.next = append(n.next, keys[at])
			}
		}
	}
	if d.r.IntN(3) == 0 {
		n.next = append(n.next, n.next[d.r.IntN(len(n.next))])
	}
	d.r.Shuffle(len(n.next), func(i, j int) { n.next[i], n.next[j] = n.next[j], n.next[i] })
	return n
}

// Loops reports whether the tier may have inner moves.
func (g *Tiered) Loops(tier int) bool { return g.loops[tier] }

// Known returns the value that the rules decide.
func (g *Tiered) Known(p game.Position) game.Value {
	if g.known[p] {
		return game.NewValue(game.WinFor(g.ToMove(p)), 1)
	}
	return g.Primitive(p)
}

// Canonical returns the first of the images.
func (g *Tiered) Canonical(p game.Position) game.Position { return g.images[p][0] }

// Images appends the images.
func (g *Tiered) Images(dst []game.Position, p game.Position) []game.Position {
	return append(dst, g.images[p]...)
}

// Backward returns the game with Predecessors.
func (g *Tiered) Backward() *TieredBackward {
	b := &TieredBackward{g, make(map[game.Position][]game.Position)}
	for _, from := range g.Positions() {
		for _, to := range g.positions[from].next {
			b.predecessors[to] = append(b.predecessors[to], from)
		}
	}
	return b
}

// A TieredBackward is a Tiered that is game.Reversible.
type TieredBackward struct {
	*Tiered
	predecessors map[game.Position][]game.Position
}

var _ game.Reversible = (*TieredBackward)(nil)

// Predecessors appends the predecessors, those that play does not reach among them.
func (g *TieredBackward) Predecessors(dst []game.Position, p game.Position) []game.Position {
	return append(dst, g.predecessors[p]...)
}
