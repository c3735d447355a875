package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/progress"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/play/internal/book"
)

// bookCommand returns play book, which only supports Connect N: in other games, a search does not
// prove the length of ties.
func bookCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:  "book",
		Usage: "make an opening book: the exact values of the positions of the first plies",
		Description: "Searches every position of the last ply, up to mirror images; the values of earlier positions follow.\n" +
			"Ctrl-C stops it, and the same command goes on where it stopped: FILE.part has the values so far.\n" +
			"play web --book FILE and play tui --book FILE show its values at once. The book of Connect 4 on 7×6 is\n" +
			"built in.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "plies", Usage: "the last ply `N` of the book", Value: 6},
			&cli.StringFlag{Name: "out", Usage: "the `FILE` to write; required"},
		}, searchFlags(byDefault)...),
	}, makeBook)
}

// bookFlag returns the flag of commands that use a book; bookOf reads it.
func bookFlag() cli.Flag {
	return &cli.StringFlag{Name: "book", Usage: "an opening book, `FILE` of play book; Connect 4 on 7×6 has a built-in one"}
}

// bookOf opens the book of the flag; if the flag is not given, it returns nil.
func bookOf(c *cli.Context, games game.Kinds) (*book.Book, error) {
	if !c.IsSet("book") {
		return nil, nil
	}
	return book.Open(c.String("book"), games.Parse)
}

// makeBook implements play book.
func makeBook(c *cli.Context, kind game.Kind) (err error) {
	if err := command.NoArguments(c, ""); err != nil {
		return err
	}
	made, err := command.GameOf(c, kind)
	if err != nil {
		return err
	}
	plies, name := c.Int("plies"), c.String("out")
	g, ok := made.(*connectn.Rules)
	if !ok {
		return command.Usagef("%s: a book is of Connect N", made.Spec())
	}
	if name == "" {
		return command.Usagef("--out: expected the name of a file")
	}
	if plies < 0 || plies > g.Tiers() {
		return command.Usagef("--plies %d: expected 0 to %d", plies, g.Tiers())
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: the file exists already", name)
	}
	s, err := searcherOf(c, g)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	bar, begun := progress.NewBar(c), time.Now()
	before, known, all := -1, 0, 0
	err = book.Make(ctx, name, g, plies, s, func(found, of int) {
		known, all = found, of
		switch {
		case before >= 0:
			left := time.Since(begun) * time.Duration(all-known) / time.Duration(known-before)
			bar.Doing(fmt.Sprintf("%s of %s, %s left", numfmt.Number(known), numfmt.Count(all, "position"), numfmt.Duration(left.Round(time.Second))), float64(known)/float64(all))
			return
		case known > 0:
			bar.Print(fmt.Sprintf("%s.part has %s of %s", name, numfmt.Number(known), numfmt.Count(all, "position")))
		}
		before = known
	})
	bar.End()
	if errors.Is(err, context.Canceled) {
		bar.Print(fmt.Sprintf("%s.part has %s of %s: the same command goes on", name, numfmt.Number(known), numfmt.Count(all, "position")))
		return command.ErrInterrupted
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s of ply %d, %s searched in %s\n", g.Spec(), numfmt.Count(all, "position"), plies, numfmt.Number(all-before), numfmt.Duration(time.Since(begun)))
	return err
}
