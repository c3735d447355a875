package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/play/internal/cse150"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
)

// mancalaHelp is the help for play mancala M N TIMEOUT PLAYER PLAYER.
const mancalaHelp = "\n\nAs in the course (CSE 150): play mancala M N TIMEOUT PLAYER PLAYER, with M pits a row, N stones in each,\n" +
	"and TIMEOUT in whole seconds, -1 for none. A PLAYER is HumanPlayer, RandomPlayer, MinimaxPlayer, AlphaBetaPlayer,\n" +
	"EvaluationPlayer, CustomPlayer or program:COMMAND; play engine mancala --template cse150 prints the assignment2.py\n" +
	"that turns a class of yours into a program: 'program:python3 assignment2.py FILE CLASS'. The first is row 0, at the\n" +
	"bottom. A player a second late gets a move at random. A CustomPlayer without a timeout has five seconds."

// customTime is the time per move of the custom player without a timeout.
const customTime = 5 * time.Second

// asMancala extends the command that plays Mancala with what the course's program does.
func asMancala(c *cli.Command) {
	c.ArgsUsage += " | M N TIMEOUT PLAYER PLAYER"
	c.Description += mancalaHelp
	c.Subcommands = []*cli.Command{answerCommand()}
	generic := c.Action
	c.Action = func(c *cli.Context) error {
		switch c.NArg() {
		case 0, 2:
		case 5:
			return courseGame(c)
		default:
			return countError("two players or M N TIMEOUT PLAYER PLAYER", c.NArg())
		}
		return generic(c)
	}
}

// answerCommand returns play mancala answer.
func answerCommand() *cli.Command {
	return &cli.Command{
		Name:      "answer",
		Usage:     "print a player's move in a case of the course",
		ArgsUsage: "[CASE]",
		Description: "CASE is a file of two lines, State.initial(M, N) and State([…], row); without one, they are on stdin.\n" +
			"The default player is CustomPlayer.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "player", Usage: "`NAME` of the player that answers", Value: cse150.CustomName},
			&cli.DurationFlag{Name: "time", Usage: "time limit of CustomPlayer for an answer", DefaultText: "until it is proven"},
			&cli.Uint64Flag{Name: "seed", Usage: "random seed of RandomPlayer", DefaultText: "a different one each time"},
		}, searchFlags(byDefault)...),
		Action: mancalaAnswer,
	}
}

// courseOptions reads the flags that configure the course's players, and the lobby of programs.
func courseOptions(ctx context.Context, c *cli.Context) (o cse150.Options, l *lobby, err error) {
	if l, err = newLobby(ctx, c, nil, c.App.Writer); err == nil {
		o = cse150.Options{Console: l.console, Seed: l.seed, Search: l.options, Time: c.Duration("time")}
	}
	return o, l, err
}

// courseGame implements play mancala M N TIMEOUT PLAYER PLAYER.
func courseGame(c *cli.Context) error {
	words := c.Args().Slice()
	for _, name := range []string{"pits", "stones", "time", "data"} {
		if c.IsSet(name) {
			return command.Usagef("--%s: not allowed with M N TIMEOUT PLAYER PLAYER", name)
		}
	}
	var numbers [3]int
	for i, name := range []string{"M", "N", "TIMEOUT"} {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			return command.Usagef("%s: expected an integer, found %q", name, words[i])
		}
		numbers[i] = n
	}
	rules, err := mancala.New(numbers[0], numbers[1])
	if err != nil {
		return command.Usagef("%w", err)
	}
	timeout := time.Duration(max(numbers[2], 0)) * time.Second
	if numbers[2] < -1 || numbers[2] == 0 || timeout/time.Second != time.Duration(max(numbers[2], 0)) {
		return command.Usagef("TIMEOUT: expected whole seconds from 1, or -1 for none, found %d", numbers[2])
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	o, l, err := courseOptions(ctx, c)
	if err != nil {
		return err
	}
	l.g, o.Time = rules, cmp.Or(timeout, customTime)
	g := &cse150.Game{Timeout: timeout, Out: c.App.Writer, Rand: rand.New(rand.NewPCG(o.Seed, 0))}
	for row, name := range words[3:] {
		o.Seed++
		g.Players[row] = referee.Entrant{Name: name}
		if line, ok := strings.CutPrefix(name, "program:"); ok && line != "" {
			g.Players[row].New = func(ctx context.Context) (player.Player, error) {
				return l.make(ctx, entrantSpec{kind: "program", rest: line})
			}
			continue
		}
		p, err := cse150.New(name, rules, o)
		if err != nil {
			return command.Usagef("%w or program:COMMAND; for a class of yours: play engine mancala --template cse150 >assignment2.py, and then 'program:python3 assignment2.py FILE %s'", err, name)
		}
		g.Players[row].New = func(context.Context) (player.Player, error) { return p, nil }
	}
	err = g.Play(ctx, rules)
	if errors.Is(err, player.ErrLeft) {
		err = nil
	}
	return command.Stopped(ctx, err)
}

// mancalaAnswer implements play mancala answer.
func mancalaAnswer(c *cli.Context) error {
	if c.NArg() > 1 {
		return command.Usagef("expected one case, found %d", c.NArg())
	}
	o, _, err := courseOptions(c.Context, c)
	if err != nil {
		return err
	}
	who := c.String("player")
	if err := cse150.CheckName(who); err != nil {
		return command.Usagef("%w", err)
	}
	name, in := "stdin", c.App.Reader
	if c.NArg() == 1 {
		name = c.Args().First()
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	g, err := cse150.ReadCase(command.Until(ctx, in))
	answer := game.Pass
	if err == nil {
		// If passing is the only possibility, don't ask the player.
		if moves := g.Moves(nil, g.Start()); len(moves) > 0 && moves[0].Name != game.Pass {
			answer, err = moveOf(ctx, who, o, g)
		}
	}
	switch {
	case ctx.Err() != nil:
		return command.ErrInterrupted
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintln(c.App.Writer, cse150.ActionRepr(g.ToMove(g.Start()), answer))
	return err
}

// moveOf returns a player's first move in a game.
func moveOf(ctx context.Context, name string, o cse150.Options, g game.Tiered) (string, error) {
	p, err := cse150.New(name, g, o)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.Move(ctx, player.NewHistory(g), 0)
}

// isMancala reports whether a kind of game is Mancala.
func isMancala(kind game.Kind) bool { return len(which(game.Kinds{kind}, mancala.Is)) > 0 }
