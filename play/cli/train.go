package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/train"
)

func trainCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:  "train",
		Usage: "solve puzzles: find the one move that keeps a win, a tie or a draw",
		Description: "Values come from the game's table in the data directory, or from a search. Grade 1 is the easiest, " + strconv.Itoa(train.Grades) + " the\n" +
			"hardest. No two puzzles are the same or mirror images. Enter a move, or help, resign (show the\n" +
			"answer) or quit. A puzzle that you did not solve comes again. --export writes the puzzles instead: FILE.csv\n" +
			"are notes for Anki, FILE.html is a page to print.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "count", Usage: "number `N` of puzzles", Value: 10},
			&cli.StringFlag{Name: "grade", Usage: "only puzzles of grade `N`, or of grades N-N", DefaultText: "all"},
			&cli.Uint64Flag{Name: "seed", Usage: "`SEED` of the choice of puzzles", DefaultText: "another one each time"},
			&cli.DurationFlag{Name: "time", Usage: "search: time for the values of the moves of one position", Value: time.Second},
			&cli.StringFlag{Name: "export", Usage: "write the puzzles to `FILE`, .csv or .html"},
			datadir.Flag(),
		}, searchFlags(byDefault)...),
	}, trainOn)
}

// trainOn implements play train.
func trainOn(c *cli.Context, kind game.Kind) error {
	if err := cmp.Or(command.NoArguments(c, ""), command.AtLeast(c, 1, "count"), command.Positive(c, "time")); err != nil {
		return err
	}
	lowest, highest, err := gradesOf(c.String("grade"))
	if err != nil {
		return command.Usagef("--grade %q: %w", c.String("grade"), err)
	}
	write := puzzleWriters[filepath.Ext(c.String("export"))]
	if c.IsSet("export") && write == nil {
		return command.Usagef("--export %q: expected a name that ends in .csv or .html", c.String("export"))
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	options, err := searchOptions(c)
	if err != nil {
		return err
	}
	t, err := dataOf(c).tableOf(g, logOf(c))
	if err != nil {
		return err
	}
	if t != nil {
		defer t.Close()
	}
	seed := c.Uint64("seed")
	if !c.IsSet("seed") {
		seed = uint64(time.Now().UnixNano())
	}
	finder, err := train.NewFinder(g, analysis.New(g, t, book.Embedded(g), options), c.Duration("time"), seed)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	human := player.NewHuman(player.NewConsole(c.App.Reader, c.App.Writer))
	trainer := trainer{finder: finder, lowest: lowest, highest: highest, human: human, out: c.App.Writer, left: c.Int("count")}
	if c.IsSet("export") {
		err = trainer.export(ctx, c, write)
	} else {
		err = trainer.run(ctx)
	}
	return command.Stopped(ctx, err)
}

// gradesOf parses --grade.
func gradesOf(text string) (lowest, highest int, err error) {
	if text == "" {
		return 1, train.Grades, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	lowest, err1 := strconv.Atoi(from)
	highest, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lowest < 1 || highest > train.Grades || lowest > highest {
		return 0, 0, fmt.Errorf("expected a grade from 1 to %d, or a range of grades such as 3-5", train.Grades)
	}
	return lowest, highest, nil
}

// puzzleWriters are the forms of --export, by the end of the name.
var puzzleWriters = map[string]func(io.Writer, []*train.Puzzle) error{".csv": train.WriteAnki, ".html": train.WritePage}

// export implements --export.
func (t *trainer) export(ctx context.Context, c *cli.Context, write func(io.Writer, []*train.Puzzle) error) error {
	var puzzles []*train.Puzzle
	for len(puzzles) < t.left {
		p, err := t.finder.Next(ctx, t.lowest, t.highest)
		if err == train.ErrNone && len(puzzles) > 0 {
			logOf(c).Print(noMore(len(puzzles)))
			break
		}
		if err != nil {
			return err
		}
		puzzles = append(puzzles, p)
	}
	var text strings.Builder
	if err := write(&text, puzzles); err != nil {
		return err
	}
	return datadir.Write(c.App.Writer, "export", c.String("export"), []byte(text.String()))
}

// noMore says that there are n puzzles, and that no other one was found.
func noMore(n int) string { return fmt.Sprintf("%s, no more found", numfmt.Count(n, "puzzle")) }

// A trainer poses puzzles to a human.
type trainer struct {
	finder          *train.Finder
	lowest, highest int // grades
	human           *player.Human
	out             io.Writer
	left            int // puzzles that were not posed yet

	missed       []*train.Puzzle // to pose again, the first one first
	since        int             // puzzles posed since the last one that was posed again, or was missed first
	solved, seen int             // at the first try; of all
}

// again is the number of other puzzles before a puzzle that was not solved is posed again.
const again = 3

// run poses puzzles until all are solved or the human leaves.
func (t *trainer) run(ctx context.Context) error {
	err := t.pose(ctx)
	for err == nil && t.left+len(t.missed) > 0 {
		err = t.pose(ctx)
	}
	if err != nil && !errors.Is(err, player.ErrLeft) {
		return err
	}
	_, err = fmt.Fprintf(t.out, "solved at the first try: %d of %s\n", t.solved, numfmt.Count(t.seen, "puzzle"))
	return err
}

// pose poses one puzzle.
func (t *trainer) pose(ctx context.Context) (err error) {
	var p *train.Puzzle
	first := len(t.missed) == 0 || t.left > 0 && t.since < again
	if first {
		p, err = t.finder.Next(ctx, t.lowest, t.highest)
		if err == train.ErrNone && t.seen > 0 {
			t.left = 0
			_, err = fmt.Fprintf(t.out, "%s\n\n", noMore(t.seen))
			return err
		}
		if err != nil {
			return err
		}
		t.left--
		t.since++
	} else {
		p, t.missed, t.since = t.missed[0], t.missed[1:], 0
	}
	fmt.Fprintf(t.out, "%s\n%s (grade %d)\n", p.Board(), p.Goal(), p.Grade)
	name, err := t.human.Move(ctx, p.History.Clone(), 0)
	if err != nil && err != player.ErrResigned {
		return err
	}
	if first {
		t.seen++
	}
	if name == p.Answer().Name {
		if first {
			t.solved++
		}
		_, err = fmt.Fprintf(t.out, "right: %s\n\n", p.Explain(p.Answer()))
		return err
	}
	if len(t.missed) == 0 {
		t.since = 0
	}
	t.missed = append(t.missed, p)
	return t.explain(ctx, p, name)
}

// explain prints why a move is not the answer, unless name is empty, and the answer.
func (t *trainer) explain(ctx context.Context, p *train.Puzzle, name string) error {
	shown := "the answer is "
	for _, m := range p.Report.Moves {
		if m.Name != name && m.Name != p.Answer().Name {
			continue
		}
		line, err := t.finder.Line(ctx, m)
		if err != nil {
			return err
		}
		text := p.Explain(m)
		if len(line) > 0 {
			text += ", then " + strings.Join(line, " ")
		}
		if m.Name == name {
			fmt.Fprintln(t.out, text)
		} else {
			shown += text
		}
	}
	_, err := fmt.Fprintf(t.out, "%s\n\n", shown)
	return err
}
