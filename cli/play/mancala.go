package play

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
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
)

// mancalaHelp is the help for play mancala M N TIMEOUT PLAYER PLAYER.
const mancalaHelp = "\n\nAs in the course (CSE 150): play mancala M N TIMEOUT PLAYER PLAYER, with M pits a row, N stones in each,\n" +
	"and TIMEOUT in whole seconds, -1 for none. A PLAYER is HumanPlayer, RandomPlayer, MinimaxPlayer, AlphaBetaPlayer,\n" +
	"EvaluationPlayer, CustomPlayer or program:COMMAND. The first is row 0, at the bottom. A player a second late gets a move\n" +
	"at random. A CustomPlayer without a timeout has five seconds."

// unlimited is the time per move of the custom player without a timeout.
const unlimited = 5 * time.Second

// asMancala extends the command that plays Mancala with what the course's program does.
func asMancala(c *cli.Command) {
	c.ArgsUsage += " | M N TIMEOUT PLAYER PLAYER"
	c.Description += mancalaHelp
	c.Flags = append(c.Flags, endgamesFlag())
	c.Subcommands = mancalaCommands()
	generic := c.Action
	c.Action = func(c *cli.Context) error {
		switch c.NArg() {
		case 2:
		case 5:
			return courseGame(c)
		default:
			return countError("two players or M N TIMEOUT PLAYER PLAYER", c.NArg())
		}
		return generic(c)
	}
}

// endgamesFlag returns --endgames, which names an endgame file.
func endgamesFlag() cli.Flag {
	return &cli.StringFlag{Name: "endgames", Usage: "`FILE` of endgames for the search, written by play mancala endgames", DefaultText: "a table built in less than a second"}
}

// mancalaCommands returns the subcommands of play mancala.
func mancalaCommands() []*cli.Command {
	flags := append([]cli.Flag{
		&cli.DurationFlag{Name: "time", Usage: "time limit of CustomPlayer for an answer", DefaultText: "until it is proven"},
		&cli.Uint64Flag{Name: "seed", Usage: "random seed random seed of RandomPlayer", DefaultText: "a different one each time"},
	}, searchFlags(byDefault)...)
	flags = append(flags, endgamesFlag(), &cli.StringFlag{Name: "player", Usage: "`NAME` of the player that answers"})
	return []*cli.Command{{
		Name:      "answer",
		Usage:     "print a player's move in a case of the course",
		ArgsUsage: "[CASE]",
		Description: "CASE is a file of two lines, State.initial(M, N) and State([…], row); without one, they are on stdin.\n" +
			"The default player is CustomPlayer.",
		Flags:  flags,
		Action: mancalaAnswer,
	}, {
		Name:      "check",
		Usage:     "check a player's answers to the course's cases",
		ArgsUsage: "IN OUT",
		Description: "Each file of the directory IN is a case; the answer must match the file of the same name in OUT. Without\n" +
			"--player it is that of the problem whose number is in the path: p1 MinimaxPlayer, p2 AlphaBetaPlayer,\n" +
			"p3 EvaluationPlayer, p4 CustomPlayer.",
		Flags:  flags,
		Action: mancalaCheck,
	}, {
		Name:      "endgames",
		Usage:     "write a file of endgames: the value of every board with few stones in its pits",
		ArgsUsage: "FILE",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "pits", Usage: "pits of a row", Value: 6},
			&cli.IntFlag{Name: "stones", Usage: "largest number of stones in all pits together", Value: 16},
		},
		Action: mancalaEndgames,
	}}
}

// courseOptions reads the flags that configure the course's players.
func courseOptions(c *cli.Context) (o cse150.Options, err error) {
	l, err := newLobby(c, nil, c.App.Writer)
	if err != nil {
		return o, err
	}
	o = cse150.Options{Console: l.console, Seed: l.seed, Search: l.options, Time: c.Duration("time")}
	o.Endgames, err = readEndgames(c)
	return o, err
}

// readEndgames reads the file that --endgames names; nil if there is none.
func readEndgames(c *cli.Context) (*mancala.Endgames, error) {
	name := c.String("endgames")
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--endgames: %w", err)
	}
	defer f.Close()
	e, err := mancala.ReadEndgames(f)
	if err != nil {
		return nil, fmt.Errorf("--endgames: %s: %w", name, err)
	}
	return e, nil
}

// withEndgames adds the endgames of the --endgames file to a game of Mancala, if the flag is
// given.
func withEndgames(c *cli.Context, g game.Game) (game.Game, error) {
	e, err := readEndgames(c)
	if fast, ok := g.(*mancala.Searched); ok && e != nil && err == nil {
		return fast.WithEndgames(e)
	}
	return g, err
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
	o, err := courseOptions(c)
	if err != nil {
		return err
	}
	o.Time = cmp.Or(timeout, unlimited)
	g := &cse150.Game{Timeout: timeout, Out: c.App.Writer, Rand: rand.New(rand.NewPCG(o.Seed, 0))}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	for row, name := range words[3:] {
		o.Seed++
		g.Players[row] = referee.Entrant{Name: name}
		if line, ok := strings.CutPrefix(name, "program:"); ok && line != "" {
			g.Players[row].New = func(ctx context.Context) (player.Player, error) {
				p, err := player.NewProgram(ctx, rules, line)
				if err != nil {
					return nil, err
				}
				return p, nil
			}
			continue
		}
		p, err := cse150.New(name, rules, o)
		if err != nil {
			return command.Usagef("%w or program:COMMAND; 'program:python3 assignment2.py FILE' plays with a class of yours (docs/engines.md)", err)
		}
		g.Players[row].New = func(context.Context) (player.Player, error) { return p, nil }
	}
	err = g.Play(ctx, rules)
	switch {
	case ctx.Err() != nil:
		return command.ErrInterrupted
	case errors.Is(err, player.ErrLeft):
		return nil
	}
	return err
}

// mancalaAnswer implements play mancala answer.
func mancalaAnswer(c *cli.Context) error {
	if c.NArg() > 1 {
		return command.Usagef("expected one case, found %d", c.NArg())
	}
	o, err := courseOptions(c)
	if err != nil {
		return err
	}
	who := cmp.Or(c.String("player"), cse150.CustomName)
	if err := cse150.CheckName(who); err != nil {
		return command.Usagef("%w", err)
	}
	name, in := "stdin", c.App.Reader
	if c.NArg() == 1 {
		f, err := os.Open(c.Args().First())
		if err != nil {
			return err
		}
		defer f.Close()
		name, in = c.Args().First(), f
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	answer, err := answerOf(ctx, who, o, name, command.Until(ctx, in))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, answer)
	return nil
}

// answerOf returns the answer of a player to a case.
func answerOf(ctx context.Context, name string, o cse150.Options, source string, in io.Reader) (string, error) {
	g, err := cse150.ReadCase(in)
	answer := mancala.Pass
	if err == nil {
		// If passing is the only possibility, don't ask the player.
		if moves := g.Moves(nil, g.Start()); len(moves) > 0 && moves[0].Name != mancala.Pass {
			answer, err = moveOf(ctx, name, o, g)
		}
	}
	switch {
	case ctx.Err() != nil:
		return "", command.ErrInterrupted
	case err != nil:
		return "", fmt.Errorf("%s: %w", source, err)
	}
	return cse150.ActionRepr(g.ToMove(g.Start()), answer), nil
}

// moveOf returns a player's first move in a game.
func moveOf(ctx context.Context, name string, o cse150.Options, g game.Acyclic) (string, error) {
	p, err := cse150.New(name, g, o)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.Move(ctx, player.NewHistory(g), 0)
}

// problem matches the part of a path that names a problem of the course.
var problem = regexp.MustCompile(`(?:^|/)p([1-4])(?:\D|$)`)

// problemPlayers contains the player of each problem.
var problemPlayers = map[string]string{"1": cse150.MinimaxName, "2": cse150.AlphaBetaName, "3": cse150.EvaluationName, "4": cse150.CustomName}

// playerOfCase returns the player of the problem whose number a path contains; "" if it
// contains none.
func playerOfCase(path string) string {
	found := problem.FindAllStringSubmatch(filepath.ToSlash(path), -1)
	if len(found) == 0 {
		return ""
	}
	return problemPlayers[found[len(found)-1][1]]
}

// mancalaCheck implements play mancala check.
func mancalaCheck(c *cli.Context) error {
	if c.NArg() != 2 {
		return command.Usagef("expected two directories, IN and OUT, found %d", c.NArg())
	}
	in, out := c.Args().Get(0), c.Args().Get(1)
	o, err := courseOptions(c)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(in)
	if err != nil {
		return err
	}
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	entries = slices.DeleteFunc(entries, fs.DirEntry.IsDir)
	failed := 0
	for _, e := range entries {
		file := filepath.Join(in, e.Name())
		name := cmp.Or(c.String("player"), playerOfCase(file))
		if name == "" {
			return command.Usagef("%s: no problem (p1 to p4) in its path: name a player with --player", file)
		}
		if err := cse150.CheckName(name); err != nil {
			return command.Usagef("%w", err)
		}
		answer, err := checkCase(ctx, name, o, file, filepath.Join(out, e.Name()))
		if errors.Is(err, command.ErrInterrupted) {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(c.App.Writer, "%s: %s: failure: %v\n", e.Name(), name, err)
			continue
		}
		fmt.Fprintf(c.App.Writer, "%s: %s: ok, %s\n", e.Name(), name, answer)
	}
	fmt.Fprintf(c.App.Writer, "%s, %s\n", numfmt.Count(int64(len(entries)), "case"), numfmt.Count(int64(failed), "failure"))
	switch {
	case len(entries) == 0:
		return fmt.Errorf("%s: no cases found", in)
	case failed > 0:
		return command.ErrReported
	}
	return nil
}

// checkCase returns an error if a player's answer to a case is not the expected one.
func checkCase(ctx context.Context, name string, o cse150.Options, file, expected string) (string, error) {
	want, err := os.ReadFile(expected)
	if err != nil {
		return "", err
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	got, err := answerOf(ctx, name, o, file, f)
	if err == nil && got != string(bytes.TrimSpace(want)) {
		err = fmt.Errorf("expected %s, found %s", bytes.TrimSpace(want), got)
	}
	return got, err
}

// mancalaEndgames implements play mancala endgames.
func mancalaEndgames(c *cli.Context) error {
	if c.NArg() != 1 {
		return command.Usagef("expected one file, found %d", c.NArg())
	}
	name, pits, stones := c.Args().First(), c.Int("pits"), c.Int("stones")
	if err := mancala.CheckEndgames(pits, stones); err != nil {
		return command.Usagef("%w", err)
	}
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: the file exists already", name)
	}
	create := func() (*os.File, error) {
		return os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	// Create the file before the work starts to detect errors such as a missing directory, and
	// remove it: no incomplete file exists during the work.
	f, err := create()
	if err != nil {
		return err
	}
	if err := cmp.Or(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	begun := time.Now()
	e := mancala.NewEndgames(pits, stones)
	if f, err = create(); err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	b := bufio.NewWriter(f)
	_, err = e.WriteTo(b)
	if err = cmp.Or(err, b.Flush(), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "mancala pits=%d, up to %d stones in the pits: %s boards in %s\n", pits, stones, numfmt.Number(mancala.Boards(pits, stones)), numfmt.Duration(time.Since(begun)))
	return nil
}

// isMancala reports whether a kind of game is Mancala.
func isMancala(kind game.Kind) bool { return len(command.Which(game.Kinds{kind}, mancala.Is)) > 0 }
