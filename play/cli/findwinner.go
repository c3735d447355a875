package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/memo"
	"github.com/treereduce/treereduce/search"
)

// The values of --by.
const (
	byPlain  = "plain"
	byMemo   = "memo"
	bySearch = "search"
)

// defaultChains is the default of --chains: the largest of the hand-out's three values.
const defaultChains = 100_000

func findWinnerCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "find-winner",
		Usage:     "find the best move of a position, its value, and the number of moves to the end",
		ArgsUsage: "[POSITION]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "algorithm: plain (every line of play), memo (the same with a table of positions seen) or search (fast; the opening book of a game that has one answers first)", Value: bySearch},
			&cli.IntFlag{Name: "chains", Usage: "memo: number `N` of chains in the table", Value: defaultChains},
			&cli.DurationFlag{Name: "time", Usage: "search: time limit, e.g. 500ms or 10s, after which the best move so far is printed", DefaultText: "until it is proven"},
			&cli.IntFlag{Name: "depth", Usage: "search: search `N` moves ahead; fewer if --time ends it", DefaultText: "until it is proven"},
			command.StartFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each position"},
		}, searchFlags(byDefault+"; of memo 1G")...),
		Description: "POSITION is a board ('XO  '; in Connect N, blanks may be . or _), or the moves that lead to it from the\n" +
			"start (3 3 2): words are read as moves if each of them is legal in its turn.\n" +
			"Without a POSITION, it reads one from each line of stdin, as driver lookup does.\n\n" +
			"The result is from the view of the player to move. --json writes a line for each position: game,\n" +
			"position, hash, value (win, lose or tie, of the player to move), remoteness (moves to the end, where\n" +
			"proven), best (a best move), line (best play, as far as it is known), book (true for a position of the opening\n" +
			"book), and the effort. If the time or the depth\n" +
			"ends a search, there is depth, the number of moves searched ahead, and a value only if it is proven.",
	}, findWinner)
}

// A finding is the result of a search of a position; its exported fields are printed as JSON.
type finding struct {
	value game.Value // 0 if nothing is proven
	weak  bool       // the remoteness is not proven

	Game     string        `json:"game"`
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	*notation.ValueJSON
	Best      string   `json:"best,omitempty"`  // the best move; "" for a terminal position
	Line      []string `json:"line,omitempty"`  // best play, if known
	Book      bool     `json:"book,omitempty"`  // the opening book has the position
	Depth     int      `json:"depth,omitempty"` // the search depth in plies; 0 if the result is proven
	Positions uint64   `json:"positions"`
	Lookups   uint64   `json:"lookups"`
	Hits      uint64   `json:"hits"`
	Chain     float64  `json:"chain,omitempty"` // mean number of positions in a chain; 0 if there are no chains
	Seconds   float64  `json:"seconds"`
}

// A finder finds the winner of a position. When ctx ends it returns what it has found so far,
// or command.ErrInterrupted if it has found nothing.
type finder func(ctx context.Context, p game.Position) (finding, error)

// findWinner implements play find-winner.
func findWinner(c *cli.Context, kind game.Kind) error {
	g, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	find, err := finderOf(c, g)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	return command.Positions{Game: g}.Each(ctx, c, func(out io.Writer, asked notation.Parsed) error {
		begun, p := time.Now(), asked.Position
		f, err := find(ctx, p)
		if err != nil {
			return err
		}
		f.Seconds = time.Since(begun).Seconds()
		if c.Bool("json") {
			err = f.printJSON(out, g, p)
		} else {
			f.print(out, g, p)
		}
		if err == nil && ctx.Err() != nil {
			err = command.ErrInterrupted
		}
		return err
	})
}

// flagsOf lists, for each search, the flags that not all searches use.
var flagsOf = map[string][]string{
	byPlain:  nil,
	byMemo:   {"chains", "memory"},
	bySearch: {"memory", "threads", "time", "depth"},
}

// finderOf returns the search that --by selects.
func finderOf(c *cli.Context, g game.Game) (finder, error) {
	by := c.String("by")
	heeded, ok := flagsOf[by]
	if !ok {
		return nil, command.Usagef("--by %q: expected %s, %s or %s", by, byPlain, byMemo, bySearch)
	}
	for _, name := range slices.Concat(flagsOf[byMemo], flagsOf[bySearch]) {
		if c.IsSet(name) && !slices.Contains(heeded, name) {
			return nil, command.Usagef("--%s: --by %s does not use it", name, by)
		}
	}
	if by == bySearch {
		if err := cmp.Or(command.AtLeast(c, 1, "depth"), command.Positive(c, "time")); err != nil {
			return nil, err
		}
		s, err := searcherOf(c, g)
		return searchFinder(s, book.Embedded(g), search.Limit{Depth: c.Int("depth"), Time: c.Duration("time")}), err
	}
	a, ok := g.(game.Tiered)
	if !ok || !game.IsAcyclic(g) {
		return nil, command.Usagef("--by %s: %s has cycles, so the search would not terminate", by, g.Spec())
	}
	var o memo.Options
	if by == byMemo {
		err := command.AtLeast(c, 1, "chains")
		if err != nil {
			return nil, err
		}
		o.Chains = c.Int("chains")
		if o.Memory, err = command.Size(c, "memory"); err != nil {
			return nil, err
		}
	}
	return memoFinder(a, o)
}

// memoFinder returns the hand-out's search, with or without its table.
func memoFinder(g game.Tiered, o memo.Options) (finder, error) {
	s, err := memo.New(g, o)
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	return func(ctx context.Context, p game.Position) (f finding, err error) {
		before := s.Counts()
		v, err := s.FindWinner(ctx, p)
		if err != nil {
			return f, command.ErrInterrupted
		}
		after := s.Counts()
		f.value = v.Value
		f.Positions, f.Lookups, f.Hits = after.Positions-before.Positions, after.Lookups-before.Lookups, after.Hits-before.Hits
		if v.Move >= 0 {
			f.Best = g.Moves(nil, p)[v.Move].Name
		}
		if t := s.Table(); t != nil {
			f.Chain = t.MeanChain()
		}
		return f, nil
	}, nil
}

// searchFinder returns the fast search.
func searchFinder(s *search.Searcher, openings *book.Book, limit search.Limit) finder {
	return func(ctx context.Context, p game.Position) (f finding, err error) {
		if line := openings.Line(p); len(line) > 0 {
			f.value, f.Book = openings.Lookup(p)
			f.Best, f.Line = line[0], line
			return f, nil
		}
		r, err := s.Search(ctx, p, limit)
		if err != nil {
			return f, err
		}
		return findingOf(r), nil
	}
}

// findingOf converts the result of a search.
func findingOf(r search.Result) finding {
	f := finding{value: r.Value, weak: r.Weak, Positions: r.Nodes, Lookups: r.Lookups, Hits: r.Hits}
	if !r.Exact {
		f.Depth = r.Depth
	}
	for _, m := range r.Line {
		f.Line = append(f.Line, m.Name)
	}
	if len(f.Line) > 0 {
		f.Best = f.Line[0]
	}
	return f
}

// prints the finding as text.
func (f finding) print(out io.Writer, g game.Game, p game.Position) {
	worth := notation.ValueOf(g, p, f.value)
	fmt.Fprintf(out, "%s", g.Picture(p))
	switch {
	case f.Best == "":
		which, how := worth.Ended(g, p)
		fmt.Fprintf(out, "%s%s\n", which, how)
		return
	case f.value.Valid():
		output := worth.String()
		if f.weak {
			output = worth.You()
		}
		fmt.Fprintf(out, "%s: %s\nbest move: %s\n", notation.Heading(g, p), output, f.Best)
	case f.Depth == 0:
		fmt.Fprintf(out, "%s: not proven\nbest move so far: %s\n", notation.Heading(g, p), f.Best)
	default:
		fmt.Fprintf(out, "%s: not proven, %s ahead\nbest move so far: %s\n", notation.Heading(g, p), numfmt.Count(f.Depth, "move"), f.Best)
	}
	if f.Book {
		fmt.Fprintln(out, "from the opening book")
		return
	}
	fmt.Fprintf(out, "%s", numfmt.Count(f.Positions, "position"))
	if f.Lookups > 0 {
		fmt.Fprintf(out, ", %s", numfmt.Count(f.Lookups, "look-up"))
	}
	if f.Chain > 0 {
		fmt.Fprintf(out, ", %.3g positions a chain,", f.Chain)
	}
	fmt.Fprintf(out, " in %s\n", numfmt.Seconds(f.Seconds))
}

// printJSON prints the finding as a line of JSON.
func (f finding) printJSON(out io.Writer, g game.Game, p game.Position) error {
	f.Game, f.Position, f.Hash = g.Spec(), string(g.AppendText(nil, p)), p
	if f.value.Valid() {
		worth := notation.ValueOf(g, p, f.value).JSON()
		if f.ValueJSON = &worth; f.weak {
			worth.Remoteness = nil
		}
	}
	return json.NewEncoder(out).Encode(f)
}
