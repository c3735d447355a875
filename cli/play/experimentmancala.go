package play

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/play/cse150"
	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/internal/play/referee"
	"github.com/treereduce/treereduce/search"
)

// byMancala is the name of the experiment.
const byMancala = "mancala"

// The parameters of the experiment.
const (
	mostPits      = 8       // of the largest boards to try
	mostInPit     = 10      // stones per pit on these boards
	openingPlies  = 2       // random moves before two players of different depths begin
	mistakeBoards = 30      // positions in which a mistake is possible
	shortMemory   = 8 << 20 // of a search that takes milliseconds
)

// mancalaExperiment returns play experiment mancala.
func mancalaExperiment() *cli.Command {
	return &cli.Command{
		Name:  byMancala,
		Usage: "the tables that the report of CSE 150's assignment asks for",
		Description: "The largest board of which each player finds the first move in --time; the custom player against itself at\n" +
			"different depths; what each technique of its search brings; and how often it makes a mistake, by the time that\n" +
			"it has: a move that is worth less than another, as a search to the end tells.",
		Flags:  append(mancalaExperimentFlags(), experimentFlags()...),
		Action: experimentMancala,
	}
}

func mancalaExperimentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "time", Usage: "for the first move of the largest boards", Value: 200 * time.Millisecond},
		&cli.IntFlag{Name: "pits", Usage: "of a row, in the other tables", Value: 4},
		&cli.IntFlag{Name: "stones", Usage: "in each pit, in the other tables", Value: 4},
		&cli.StringFlag{Name: "depths", Usage: "of the custom players that play one another", Value: "1,2,4,6,8"},
		&cli.IntFlag{Name: "games", Usage: "that each pair of them plays, an even number", Value: 10},
		&cli.StringFlag{Name: "without", Usage: "leave out nothing but these `TECHNIQUES`, with commas between them, one at a time: " + strings.Join(techniques(), " "), DefaultText: "each"},
		&cli.StringFlag{Name: "times", Usage: "for a move, in the table of mistakes", Value: "1ms,4ms,16ms,64ms"},
		&cli.Uint64Flag{Name: "seed", Usage: "of all that is random", Value: 1},
	}
}

// techniques returns the names of the search techniques that can be switched off.
func techniques() []string { return slices.Sorted(maps.Keys(search.ByName())) }

// A largestBoard contains the most stones in each pit that a player can handle, for each number
// of pits in a row.
type largestBoard struct {
	Player string `json:"player"`
	Stones []int  `json:"stones"` // with 1 pit, 2, …; mostInPit means at least that many
}

// A pairing is the result of the games between two depths.
type pairing struct {
	Depth  int `json:"depth"`
	Other  int `json:"other"`
	Wins   int `json:"wins"` // of Depth
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
}

// An ablation is the effort of solving a board without one technique.
type ablation struct {
	Without string  `json:"without"` // "" if all techniques are on
	Nodes   uint64  `json:"nodes"`
	Seconds float64 `json:"seconds"`
}

// A mistaken is the frequency of mistakes.
type mistaken struct {
	Seconds   float64 `json:"seconds"` // time for a move
	Positions int     `json:"positions"`
	Mistakes  int     `json:"mistakes"`
}

// mancalaPlan contains the flags of the experiment.
type mancalaPlan struct {
	time     time.Duration
	game     *mancala.Searched
	depths   []int
	games    int
	without  []string
	times    []time.Duration
	seed     uint64
	endgames *mancala.Endgames
}

// newMancalaPlan reads the flags.
func newMancalaPlan(c *cli.Context) (p *mancalaPlan, err error) {
	p = &mancalaPlan{time: c.Duration("time"), games: c.Int("games"), seed: c.Uint64("seed")}
	pits, stones := c.Int("pits"), c.Int("stones")
	g, err := mancala.New(pits, stones)
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	ok := false
	if p.game, ok = g.(*mancala.Searched); !ok {
		return nil, command.Usagef("%s: the board is too large for the fast search", g.Spec())
	}
	if p.time <= 0 {
		return nil, command.Usagef("--time %s: expected more than 0", p.time)
	}
	if p.games < 2 || p.games%2 != 0 {
		return nil, command.Usagef("--games %d: expected an even number from 2", p.games)
	}
	for word := range strings.SplitSeq(c.String("depths"), ",") {
		depth, err := positive(word)
		if err != nil {
			return nil, command.Usagef("--depths: %w", err)
		}
		p.depths = append(p.depths, depth)
	}
	for word := range strings.SplitSeq(c.String("times"), ",") {
		limit, err := time.ParseDuration(word)
		if err != nil || limit <= 0 {
			return nil, command.Usagef("--times: expected times like 16ms, found %q", word)
		}
		p.times = append(p.times, limit)
	}
	if p.without = techniques(); c.IsSet("without") {
		p.without = strings.Split(c.String("without"), ",")
	}
	for _, name := range p.without {
		if _, ok := search.ByName()[name]; !ok {
			return nil, command.Usagef("--without: expected %s, found %q", strings.Join(techniques(), ", "), name)
		}
	}
	p.endgames = mancala.NewEndgames(pits, mancala.StonesWithin(pits, p.game.Stones()/2, experimentBoardsBuilt))
	p.game, err = p.game.WithEndgames(p.endgames)
	return p, err
}

// experimentBoardsBuilt is the number of boards in the endgame tables of the experiment.
const experimentBoardsBuilt = 100_000

// experimentMancala implements play experiment mancala.
func experimentMancala(c *cli.Context) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	p, err := newMancalaPlan(c)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	said := map[string]any{"game": p.game.Spec()}
	out := c.App.Writer
	if c.Bool("json") {
		out = io.Discard
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, io.Writer) (any, error)
	}{{"largest", p.largest}, {"depths", p.depthsTable}, {"techniques", p.techniquesTable}, {"mistakes", p.mistakesTable}} {
		table, err := part.run(ctx, out)
		if ctx.Err() != nil {
			return command.ErrInterrupted
		}
		if err != nil {
			return err
		}
		said[part.name] = table
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(said)
	}
	return nil
}

// largest tries boards with an increasing number of stones until the player does not find the
// first move in time.
func (p *mancalaPlan) largest(ctx context.Context, out io.Writer) (any, error) {
	var list []largestBoard
	fmt.Fprintf(out, "The first move of a game within %v: stones in each pit, at most (of %d that were tried)\n\n%-15s", p.time, mostInPit, "pits of a row")
	for pits := range mostPits {
		fmt.Fprintf(out, " %3d", pits+1)
	}
	for _, name := range []string{cse150.MinimaxName, cse150.AlphaBetaName, cse150.CustomName} {
		board := largestBoard{Player: name}
		fmt.Fprintf(out, "\n%-15s", name)
		for pits := 1; pits <= mostPits; pits++ {
			stones := 0
			for stones < mostInPit {
				ok, err := p.manages(ctx, name, pits, stones+1)
				if err != nil {
					return nil, err
				}
				if !ok {
					break
				}
				stones++
			}
			board.Stones = append(board.Stones, stones)
			if stones == 0 {
				fmt.Fprintf(out, " %3s", "-")
				break
			}
			fmt.Fprintf(out, " %3d", stones)
		}
		list = append(list, board)
	}
	fmt.Fprintf(out, "\n\n")
	return list, nil
}

// manages reports whether a player finds the first move of a board in time and has proven that
// it is the best.
func (p *mancalaPlan) manages(ctx context.Context, name string, pits, stones int) (bool, error) {
	g, err := mancala.New(pits, stones)
	if err != nil {
		return false, nil // the board is too large
	}
	limited, cancel := context.WithTimeout(ctx, p.time)
	defer cancel()
	if name == cse150.CustomName {
		proven, err := p.solves(limited, g)
		return proven && err == nil, ctx.Err()
	}
	chooser, err := cse150.New(name, g, cse150.Options{})
	if err == nil {
		_, err = chooser.Move(limited, player.NewHistory(g), p.time)
	}
	return err == nil, ctx.Err()
}

// solves reports whether the custom player proves its first move.
func (p *mancalaPlan) solves(ctx context.Context, g game.Acyclic) (bool, error) {
	g, err := cse150.WithEndgames(g, nil, p.time)
	if err != nil {
		return false, err
	}
	s, err := search.New(g, search.Options{Memory: shortMemory})
	if err != nil {
		return false, err
	}
	r, err := s.Search(ctx, g.Start(), search.Limit{Time: p.time, Weak: true, First: true})
	return r.Exact, err
}

// depthsTable plays custom players of different depths against each other. Each opening is
// played twice, with either player as row 0.
func (p *mancalaPlan) depthsTable(ctx context.Context, out io.Writer) (any, error) {
	var list []pairing
	fmt.Fprintf(out, "%s: the custom player at one depth against itself at another, %d games a pair\n\n", p.game.Spec(), p.games)
	fmt.Fprintf(out, "%5s  %7s  %4s  %4s  %6s\n", "depth", "against", "wins", "ties", "losses")
	deep, err := cse150.WithEndgames(p.game, nil, 0)
	if err != nil {
		return nil, err
	}
	for i, depth := range p.depths {
		for _, other := range p.depths[:i] {
			m := referee.Match{Game: p.game, Games: p.games, Opening: openingPlies, Seed: p.seed}
			for i, d := range []int{depth, other} {
				m.Entrants[i] = referee.Entrant{Name: strconv.Itoa(d), New: func(context.Context) (player.Player, error) {
					s, err := search.New(deep, search.Options{Memory: shortMemory})
					if err != nil {
						return nil, err
					}
					return player.NewMachine(s, search.Limit{Depth: d, Weak: true, First: true}), nil
				}}
			}
			standings, err := m.Play(ctx)
			if err != nil {
				return nil, err
			}
			pair := pairing{depth, other, standings[0].Wins, standings[0].Ties, standings[0].Losses}
			fmt.Fprintf(out, "%5d  %7d  %4d  %4d  %6d\n", depth, other, pair.Wins, pair.Ties, pair.Losses)
			list = append(list, pair)
		}
	}
	fmt.Fprintln(out)
	return list, nil
}

// techniquesTable solves the board with all techniques, and without each of them.
func (p *mancalaPlan) techniquesTable(ctx context.Context, out io.Writer) (any, error) {
	var list []ablation
	fmt.Fprintf(out, "%s: to find who wins, with endgames of %d stones\n\n%-20s  %12s  %10s  %6s\n", p.game.Spec(), p.endgames.Stones(), "", "positions", "time", "factor")
	for _, name := range append([]string{""}, p.without...) {
		s, err := search.New(p.game, search.Options{Without: search.ByName()[name]})
		if err != nil {
			return nil, err
		}
		r, err := s.Search(ctx, p.game.Start(), search.Limit{Weak: true, Bare: true})
		if err != nil {
			return nil, err
		}
		a := ablation{Without: name, Nodes: r.Nodes, Seconds: r.Time.Seconds()}
		list = append(list, a)
		label := "all techniques"
		if name != "" {
			label = "without " + name
		}
		fmt.Fprintf(out, "%-20s  %12s  %10s  %6.2f\n", label, numfmt.Number(a.Nodes), numfmt.Seconds(a.Seconds), float64(a.Nodes)/float64(max(list[0].Nodes, 1)))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	fmt.Fprintln(out)
	return list, nil
}

// mistakesTable makes the custom player move in positions in which some moves are better than
// others.
func (p *mancalaPlan) mistakesTable(ctx context.Context, out io.Writer) (any, error) {
	judge, err := search.New(p.game, search.Options{})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(p.seed, 0))
	worth := make(map[game.Position]map[string]int) // values of the moves, by position and name
	for tries := 0; len(worth) < mistakeBoards && tries < 100*mistakeBoards; tries++ {
		at := p.somewhere(random)
		if p.game.Primitive(at) != 0 {
			continue
		}
		moves, err := worths(ctx, judge, p.game, at)
		if err != nil {
			return nil, err
		}
		if values := slices.Collect(maps.Values(moves)); slices.Min(values) < slices.Max(values) {
			worth[at] = moves
		}
	}
	var list []mistaken
	fmt.Fprintf(out, "%s: mistakes of the custom player, of moves in which one was possible\n\n%8s  %9s  %8s\n", p.game.Spec(), "time", "positions", "mistakes")
	for _, limit := range p.times {
		custom, err := search.New(p.game, search.Options{Memory: shortMemory})
		if err != nil {
			return nil, err
		}
		m := mistaken{Seconds: limit.Seconds(), Positions: len(worth)}
		for _, at := range slices.Sorted(maps.Keys(worth)) {
			r, err := custom.Search(ctx, at, search.Limit{Time: limit, Weak: true, First: true})
			if err != nil {
				return nil, err
			}
			if len(r.Line) == 0 || worth[at][r.Line[0].Name] < slices.Max(slices.Collect(maps.Values(worth[at]))) {
				if r.Exact {
					return nil, fmt.Errorf("%s: the search proves a move to be best that is not", p.game.AppendText(nil, at))
				}
				m.Mistakes++
			}
		}
		list = append(list, m)
		fmt.Fprintf(out, "%8s  %9d  %8d\n", limit, m.Positions, m.Mistakes)
	}
	return list, nil
}

// somewhere returns a position after a random number of random moves, at most half the number
// of stones.
func (p *mancalaPlan) somewhere(random *rand.Rand) game.Position {
	at := p.game.Start()
	for range random.IntN(p.game.Stones()/2 + 1) {
		if moves := p.game.Moves(nil, at); len(moves) > 0 {
			at = moves[random.IntN(len(moves))].To
		}
	}
	return at
}

// worths returns the utilities of the moves of a position for the player to move, by a search
// to the end.
func worths(ctx context.Context, s *search.Searcher, g game.Game, p game.Position) (map[string]int, error) {
	all := make(map[string]int)
	for _, m := range g.Moves(nil, p) {
		r, err := s.Search(ctx, m.To, search.Limit{Weak: true, Bare: true})
		if err == nil && !r.Exact {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		switch r.Value.Outcome().For(g.ToMove(p)) {
		case game.Wins:
			all[m.Name] = 1
		case game.Loses:
			all[m.Name] = -1
		default:
			all[m.Name] = 0
		}
	}
	return all, nil
}
