package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/play/internal/gtp"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/template"
)

func engineCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "engine",
		Usage:     "act as an engine: answer commands of the protocol in docs/play/engines.md on stdin and stdout",
		ArgsUsage: "[PLAYER]",
		Description: aPlayerIs + programHelp + "Without a PLAYER it is\n" +
			"machine. The game is that of the command line until the controller sets another.\n" +
			"--template prints a player to start from: one function to fill in, and a base class that answers the commands.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "template", Usage: "print a player in `LANGUAGE` python, java or go; for Mancala also cse150, for Network cs61b: the assignment2.py or Network.java that turns a player class of that course into a program"},
		}, entrantFlags()...),
	}, func(c *cli.Context, kind game.Kind) error { return playEngine(c, games, kind) })
}

// playEngine implements play engine.
func playEngine(c *cli.Context, games game.Kinds, kind game.Kind) error {
	words := append(c.Args().Slice(), "machine")
	if c.Args().Len() > 1 {
		return command.Usagef("expected one player, found %d", c.Args().Len())
	}
	spec, err := parseEntrant(words[0])
	if err != nil {
		return command.Usagef("%w", err)
	}
	if spec.kind == "human" {
		return command.Usagef("player human: stdin belongs to the controller; name another player")
	}
	g, err := gameOf(c, kind, c.Args().Slice())
	if err != nil {
		return err
	}
	if name := c.String("template"); name != "" {
		text, err := template.Program(name, g)
		if err != nil {
			return command.Usagef("--template: %w", err)
		}
		_, err = io.WriteString(c.App.Writer, text)
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	l, err := newLobby(ctx, c, g, c.App.ErrWriter)
	if err != nil {
		return err
	}
	e := &engine{ctx: ctx, games: games}
	e.sit = func(g game.Game) (player.Player, time.Duration, error) {
		l.g, spec.seed = g, l.seed
		l.seed++ // another one for the next game
		p, err := l.make(ctx, spec)
		return p, l.limit(spec), err
	}
	if err := e.take(g); err != nil {
		return err
	}
	defer func() { e.player.Close() }()
	err = e.frame().Serve(command.Until(ctx, c.App.Reader), c.App.Writer)
	return command.Stopped(ctx, err)
}

// An engine answers the commands of a controller with the moves of a player.
type engine struct {
	ctx   context.Context
	games game.Kinds
	// sit makes the player of a game; the duration is the player's time for a move, unless the
	// controller sets another.
	sit func(g game.Game) (player.Player, time.Duration, error)

	player player.Player
	limit  time.Duration
	left   [2]time.Duration // per move of each side, as set by the controller; 0: not set
	h      *player.History
}

// take starts a game. If that fails, the previous game continues.
func (e *engine) take(g game.Game) error {
	p, limit, err := e.sit(g)
	if err != nil {
		return err
	}
	if e.player != nil {
		e.player.Close()
	}
	e.player, e.limit = p, limit
	e.clear(g)
	return nil
}

// clear resets the board.
func (e *engine) clear(g game.Game) { e.h, e.left = player.NewHistory(g), [2]time.Duration{} }

// frame returns the protocol handler with the commands of a player.
func (e *engine) frame() *gtp.Engine {
	f := gtp.NewEngine("treereduce", cmp.Or(command.Version(), "unknown"))
	f.Handle("game", 0, math.MaxInt, "a spec", e.game)
	f.Handle("clear_board", 0, 0, "no argument", func([]string) (string, error) {
		e.clear(e.h.Game())
		return "", nil
	})
	f.Handle("play", 2, 2, "a side and a move", e.play)
	f.Handle("genmove", 1, 1, "a side", e.genmove)
	f.Handle("undo", 0, 0, "no argument", func([]string) (string, error) {
		if !e.h.Undo() {
			return "", errors.New("cannot undo")
		}
		return "", nil
	})
	f.Handle("time_left", 2, 3, "a side, seconds, and a number of moves", e.timeLeft)
	f.Handle("showboard", 0, 0, "no argument", func([]string) (string, error) {
		return "\n" + e.h.Game().Picture(e.h.Position()).String(), nil
	})
	return f
}

// game returns the current game, or starts another one.
func (e *engine) game(args []string) (string, error) {
	if len(args) == 0 {
		return e.h.Game().Spec(), nil
	}
	g, err := e.games.Parse(strings.Join(args, " "))
	if err == nil {
		err = game.CheckLength(g)
	}
	if err != nil {
		return "", err
	}
	return "", e.take(g)
}

// turn checks that it is the turn of a side.
func (e *engine) turn(word string) error {
	side, err := player.ParseSide(word)
	if err != nil {
		return fmt.Errorf("syntax error: %w", err)
	}
	if _, finished := e.h.Finished(); finished {
		return errors.New("illegal move: the game is finished")
	}
	if side != e.h.Turn() {
		return fmt.Errorf("illegal move: %s is to move", player.Side(e.h.Turn()))
	}
	return nil
}

// play makes a move that the controller has sent.
func (e *engine) play(args []string) (string, error) {
	err := e.turn(args[0])
	if err == nil {
		if err = e.h.Play(args[1]); err != nil {
			err = fmt.Errorf("illegal move: %w", err)
		}
	}
	return "", err
}

// genmove chooses a move and makes it.
func (e *engine) genmove(args []string) (string, error) {
	if err := e.turn(args[0]); err != nil {
		return "", err
	}
	limit := e.limit
	if left := e.left[e.h.Turn()]; left > 0 {
		limit = left
	}
	name, err := e.player.Move(e.ctx, e.h.Clone(), limit)
	switch {
	case errors.Is(err, player.ErrResigned):
		return "resign", nil
	case err != nil:
		return "", err
	}
	if err := e.h.Play(name); err != nil {
		return "", fmt.Errorf("illegal move: %w", err)
	}
	return name, nil
}

// restMoves divides the time for the rest of the game: each move gets this share of it. The
// controller sends the remaining time before each move, so the time never runs out.
const restMoves = 20

// timeLeft sets the time that a side has for a move.
func (e *engine) timeLeft(args []string) (string, error) {
	side, err := player.ParseSide(args[0])
	if err != nil {
		return "", fmt.Errorf("syntax error: %w", err)
	}
	moves := 1
	if len(args) == 3 {
		if moves, err = wholeFrom(0, args[2]); err != nil {
			return "", fmt.Errorf("syntax error: moves: %w", err)
		}
		if moves == 0 {
			moves = restMoves
		}
	}
	const most = 1e9 // seconds: more is practically unlimited, and overflows Duration
	s, err := strconv.ParseFloat(args[1], 64)
	if err != nil || !(s >= 0 && s <= most) {
		return "", fmt.Errorf("syntax error: expected seconds, 0 to %g, found %q", most, args[1])
	}
	e.left[side] = max(time.Duration(s*float64(time.Second))/time.Duration(moves), time.Nanosecond)
	return "", nil
}
