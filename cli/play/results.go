package play

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/play/player"
	"github.com/treereduce/treereduce/internal/play/referee"
)

// resultFlags returns the flags of match and tournament; games is the default of --games.
func resultFlags(games int, usage string) []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "games", Usage: usage, Value: games},
		&cli.IntFlag{Name: "openings", Usage: "number `N` of random moves before the players choose; each opening is repeated with colours swapped"},
		&cli.DurationFlag{Name: "grace", Usage: "extra time per move, for pipes and a busy machine", Value: referee.DefaultGrace},
		&cli.StringFlag{Name: "save", Usage: "write the games to a new `FILE`, for play replay"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the result only; in a human's game, moves but no boards"},
		&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each game, and one for the result"},
	}, entrantFlags()...)
}

// An arena runs a match or tournament: the match that the flags describe, and its output.
type arena struct {
	c        *cli.Context
	match    referee.Match
	entrants []referee.Entrant
	seed     uint64
	games    int // number of finished games
	saved    *os.File
	out      io.Writer
	players  [2]string // of the current game
}

// newArena reads the flags and the players of a command line: at least least and at most most
// players.
func newArena(c *cli.Context, kind game.Kind, least, most int) (*arena, error) {
	words := c.Args().Slice()
	if len(words) < least || len(words) > most {
		many := "two players"
		if most > least {
			many = "two or more players"
		}
		return nil, countError(many, len(words))
	}
	g, err := command.GameOf(c, kind)
	if err != nil {
		return nil, err
	}
	if games := c.Int("games"); games < 1 {
		return nil, command.Usagef("--games %d: expected 1 or more", games)
	}
	if n := c.Int("openings"); n < 0 {
		return nil, command.Usagef("--openings %d: expected 0 or more", n)
	}
	if d := c.Duration("grace"); d < 0 {
		return nil, command.Usagef("--grace %s: expected 0 or more", d)
	}
	a := &arena{c: c, out: c.App.Writer}
	console := c.App.Writer
	if c.Bool("json") {
		console = c.App.ErrWriter
	}
	l, err := newLobby(c, g, console)
	if err != nil {
		return nil, err
	}
	humans := 0
	if a.entrants, humans, err = l.entrants(words); err != nil {
		return nil, err
	}
	a.seed = l.seed
	a.match = referee.Match{
		Game: g, Games: c.Int("games"), Opening: c.Int("openings"), Seed: l.seed,
		Rules:  referee.Rules{Grace: c.Duration("grace")},
		Begin:  func(players [2]string) { a.players = players },
		Report: a.report,
	}
	quiet, asJSON := c.Bool("quiet"), c.Bool("json")
	if humans > 0 || most == least && a.match.Games == 1 && !quiet && !asJSON {
		a.match.Rules.Watch = func(h *player.History) { showMove(console, h, a.players, !quiet) }
	}
	if name := c.String("save"); name != "" {
		// don't overwrite a file with other games
		if a.saved, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			return nil, fmt.Errorf("--save: %w", err)
		}
	}
	return a, nil
}

// showMove prints the last move, and, if board is true, the board.
func showMove(out io.Writer, h *player.History, players [2]string, board bool) {
	if n := len(h.Names()); n > 0 {
		mover := h.Mover(n - 1)
		fmt.Fprintf(out, "%s (%s): %s\n", player.Who(h.Game(), mover), players[mover], h.Names()[n-1])
	}
	if board {
		fmt.Fprintf(out, "%s", h.Game().Picture(h.Position()))
	}
}

// report prints and saves a finished game.
func (a *arena) report(p referee.Played) error {
	a.games++
	if a.saved != nil {
		if a.games == 1 {
			if err := referee.WriteHeading(a.saved); err != nil {
				return fmt.Errorf("--save: %w", err)
			}
		}
		if err := p.Write(a.saved); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	quiet := a.c.Bool("quiet")
	switch {
	case a.c.Bool("json") && !quiet:
		return json.NewEncoder(a.out).Encode(playedJSON(a.games, p))
	case quiet && p.Fault():
		fmt.Fprintf(a.c.App.ErrWriter, "play: %s\n", gameLine(a.games, p))
	case !quiet:
		_, err := fmt.Fprintln(a.out, gameLine(a.games, p))
		return err
	}
	return nil
}

// gameLine returns a game as a line of text.
func gameLine(number int, p referee.Played) string {
	return fmt.Sprintf("game %d, %s - %s: %s", number, p.Players[0], p.Players[1], p.Text())
}

// playedJSON returns a game as JSON.
func playedJSON(number int, p referee.Played) map[string]any {
	m := map[string]any{
		"game": number, "first": p.Players[0], "second": p.Players[1], "opening": p.Opening, "moves": append([]string{}, p.Moves...),
		"result": p.Result(), "reason": p.Reason.String(), "seconds": p.Seconds(),
	}
	if p.Detail != "" {
		m["detail"] = p.Detail
	}
	return m
}

// end prints the result with print, if a game was finished, and returns the error of the
// command. It is not an error if a human leaves.
func (a *arena) end(ctx context.Context, playing error, print func() error) error {
	if a.saved != nil {
		if err := a.saved.Close(); err != nil && playing == nil {
			playing = fmt.Errorf("--save: %w", err)
		}
		if a.games == 0 {
			os.Remove(a.saved.Name()) // it is empty
		}
	}
	if a.games > 0 {
		if err := print(); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return command.ErrInterrupted
	case playing == player.ErrLeft: // an error that only wraps ErrLeft has another reason
		return nil
	}
	return playing
}

// standingJSON returns a player's results as JSON.
func standingJSON(s referee.Standing) map[string]any {
	return map[string]any{
		"player": s.Name, "score": s.Score(), "error": s.Error(), "wins": s.Wins, "ties": s.Ties, "losses": s.Losses,
		"faults": s.Faults, "moves": s.Moves, "mean_seconds": s.Mean().Seconds(), "longest_seconds": s.Longest.Seconds(),
	}
}

// columns prints rows in columns; the first column is left-aligned, the others are
// right-aligned.
func columns(out io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
