package play

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/play/memo"
)

// experimentChains are the numbers of chains in the hand-out's experiment; 0 means no table.
var experimentChains = []int{0, 10, 1_000, 100_000}

// experimentBoards are the boards of the experiment. Each takes several times the work of the
// previous one without a table: the first has 3,278 positions, the last 98 million.
var experimentBoards = [][3]int{{3, 3, 3}, {3, 4, 3}, {3, 5, 3}, {3, 6, 3}, {4, 4, 3}, {3, 7, 3}, {3, 8, 3}}

// experimentTime is the minimum time that the chosen board must take without a table.
const experimentTime = time.Second

// experimentCommand returns the command with the experiment on Connect N, nil if it is not among
// the games.
func experimentCommand(games game.Kinds) *cli.Command {
	columns := ofColumns(games)
	if len(columns) == 0 {
		return nil
	}
	list := []*cli.Command{memoExperiment(columns[0])}
	return &cli.Command{
		Name:        "experiment",
		Usage:       "repeat an experiment of a course",
		Subcommands: list,
		Action:      command.Unknown("experiment", command.Names(list)),
	}
}

// memoExperiment returns play experiment memo for kind, which is Connect N.
func memoExperiment(kind game.Kind) *cli.Command {
	return &cli.Command{
		Name:  byMemo,
		Usage: "time the first move without a memo table, and with tables of 10, 1,000 and 100,000 chains",
		Description: "The board is the first of a list on which find-winner needs a second without a table; --width, --height\n" +
			"and --connect choose another. A later game uses the table that the first one has filled.",
		Flags:  append(command.GameFlags(kind, false), &cli.BoolFlag{Name: "json", Usage: "print JSON"}),
		Action: func(c *cli.Context) error { return experimentMemo(c, kind) },
	}
}

// A firstMove is the effort of find-winner for the first move of a game.
type firstMove struct {
	Chains    int     `json:"chains"` // 0 means no table
	Game      int     `json:"game"`   // 1, or 2 for a later game that uses the table of the previous one
	Seconds   float64 `json:"seconds"`
	Positions uint64  `json:"positions"`
	Lookups   uint64  `json:"lookups"`
	Compared  uint64  `json:"compared"`   // positions compared in chains, by all look-ups
	MeanChain float64 `json:"mean_chain"` // mean number of positions in a chain after the search
}

// experimentMemo implements play experiment memo.
func experimentMemo(c *cli.Context, kind game.Kind) error {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	boards, err := experimentGames(c, kind)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	g, v, all, err := measure(ctx, boards, experimentTime)
	if err != nil {
		return err
	}
	best := g.Moves(nil, g.Start())[v.Move].Name
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(map[string]any{
			"game": g.Spec(), "value": g.Values().Text(v.Value), "best": best, "first_moves": all,
		})
	}
	fmt.Fprintf(c.App.Writer, "%s: %s, best move %s\n\n", g.Spec(), g.Values().Text(v.Value), best)
	printFirstMoves(c.App.Writer, all)
	return nil
}

// experimentGames returns the boards to try: the one that flags select, or experimentBoards.
func experimentGames(c *cli.Context, kind game.Kind) (boards []game.Acyclic, err error) {
	for _, p := range kind.Params {
		if !c.IsSet(p.Name) {
			continue
		}
		g, err := command.GameOf(c, kind)
		if err != nil {
			return nil, err
		}
		return []game.Acyclic{g.(*connectn.Rules)}, nil
	}
	for _, b := range experimentBoards {
		g, err := connectn.New(b[0], b[1], b[2])
		if err != nil {
			return nil, err
		}
		boards = append(boards, g)
	}
	return boards, nil
}

// measure measures the first board that takes at least enough without a table, or else the last
// one. It returns the board's verdict and first moves, sorted by the number of chains.
func measure(ctx context.Context, boards []game.Acyclic, enough time.Duration) (g game.Acyclic, v memo.Verdict, all []firstMove, err error) {
	for i := 0; i < len(boards) && (i == 0 || all[0].Seconds < enough.Seconds()); i++ {
		g = boards[i]
		if v, all, err = firstMoves(ctx, g, 0); err != nil {
			return nil, v, nil, err
		}
	}
	for _, chains := range experimentChains[1:] {
		_, moves, err := firstMoves(ctx, g, chains)
		if err != nil {
			return nil, v, nil, err
		}
		all = append(all, moves...)
	}
	return g, v, all, nil
}

// firstMoves finds the first move of two games in succession.
func firstMoves(ctx context.Context, g game.Acyclic, chains int) (v memo.Verdict, moves []firstMove, err error) {
	s, err := memo.New(g, memo.Options{Chains: chains})
	if err != nil {
		return v, nil, err
	}
	for n := 1; n <= 2; n++ {
		before, begun := s.Counts(), time.Now()
		if v, err = s.FindWinner(ctx, g.Start()); err != nil {
			return v, nil, command.ErrInterrupted
		}
		m := firstMove{Chains: chains, Game: n, Seconds: time.Since(begun).Seconds()}
		after := s.Counts()
		m.Positions, m.Lookups, m.Compared = after.Positions-before.Positions, after.Lookups-before.Lookups, after.Steps-before.Steps
		if t := s.Table(); t != nil {
			m.MeanChain = t.MeanChain()
		}
		moves = append(moves, m)
	}
	return v, moves, nil
}

// printFirstMoves prints the measurements as a table.
func printFirstMoves(out io.Writer, all []firstMove) {
	fmt.Fprintf(out, "%8s  %5s  %10s  %12s  %11s  %12s\n", "chains", "game", "first move", "positions", "look-ups", "mean chain")
	for _, m := range all {
		chains, game, mean := "no table", "first", "-"
		if m.Chains > 0 {
			chains, mean = numfmt.Number(m.Chains), fmt.Sprintf("%.2f", m.MeanChain)
		}
		if m.Game > 1 {
			game = "later"
		}
		fmt.Fprintf(out, "%8s  %5s  %10s  %12s  %11s  %12s\n", chains, game, numfmt.Seconds(m.Seconds), numfmt.Number(m.Positions), numfmt.Number(m.Lookups), mean)
	}
}
