package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

func matchCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "match",
		Usage:     "play a match of two players",
		ArgsUsage: "PLAYER PLAYER",
		Description: entrantHelp + "The first player moves first in game 1, the\n" +
			"other in game 2, and so on. An illegal move, a crash or a timeout loses the game, and the match continues.\n" +
			"In a game with cycles, the third repetition of a position is a draw, and so are 1,000 moves, unless the\n" +
			"game sets another limit. 95% is the interval of the score over all openings, and LOS the likelihood that\n" +
			"the player is the stronger one. Both count each opening once, because more games of it show little new.",
		Flags: resultFlags(1, "number `N` of games; colours alternate",
			&cli.StringFlag{Name: "until", Usage: "end the match when it is decided with confidence `P`, e.g. 95%, who is stronger (a sequential probability ratio test); --games is then the maximum, by default 1000"}),
	}, func(c *cli.Context, kind game.Kind) error { return compete(c, kind, false) })
}

func tournamentCommand(games game.Kinds) *cli.Command {
	return command.OfGame(games, &cli.Command{
		Name:      "tournament",
		Usage:     "play a tournament: a round robin, a gauntlet or a knockout; print a table and ratings",
		ArgsUsage: "PLAYER PLAYER…",
		Description: entrantHelp + "As in a match, the colours\n" +
			"alternate, and faults lose. Ratings are Elo points by the Bradley-Terry model, with mean 0:\n" +
			"a player 400 points above another scores ten times as much. Each pair counts one extra tie, so that\n" +
			"a player that won every game has a rating too, and each opening counts once. ± is the standard error, LOS\n" +
			"the likelihood that the player is stronger than the next one.",
		Flags: resultFlags(4, "number `N` of games for each pair, two of each opening; colours alternate",
			&cli.StringFlag{Name: "roster", Usage: "add the programs of `FILE`, with limits: lines of NAME,COMMAND or NAME,COMMAND,DIRECTORY"},
			&cli.StringFlag{Name: "unlimited", Usage: "do not limit these `THINGS` of the programs of --roster: some of memory,cpu,processes,network,files"},
			&cli.StringFlag{Name: "against", Usage: "a gauntlet: the player `NAME` plays each other one, and these do not play each other"},
			&cli.BoolFlag{Name: "knockout", Usage: "the loser of a match plays no more; the players named first meet last; a level match is continued for up to 8 games, then the player named first wins"},
			&cli.IntFlag{Name: "parallel", Usage: "play `N` matches at the same time", Value: 1}),
	}, func(c *cli.Context, kind game.Kind) error { return compete(c, kind, true) })
}

// resultFlags returns the flags of match and tournament; games is the default of --games, more are
// flags of one of them.
func resultFlags(games int, usage string, more ...cli.Flag) []cli.Flag {
	return append(append(more,
		&cli.IntFlag{Name: "games", Usage: usage, Value: games},
		&cli.IntFlag{Name: "openings", Usage: "number `N` of random moves before the players choose, 0 for none; each opening is repeated with colours swapped", Value: referee.AutoPlies, DefaultText: "4; none if a human plays"},
		&cli.DurationFlag{Name: "grace", Usage: "time that a move may take beyond its limit, for delays of the machine", Value: referee.DefaultGrace},
		&cli.StringFlag{Name: "save", Usage: "write the games to a new `FILE`, for play replay"},
		&cli.BoolFlag{Name: "resume", Usage: "go on with the games in the file of --save, or begin it"},
		&cli.StringFlag{Name: "logs", Usage: "keep what each program writes to stderr in a file in `DIR`, of each run of it the last 64 KiB"},
		&cli.StringFlag{Name: "csv", Usage: "write the table to `FILE` as comma-separated values"},
		&cli.StringFlag{Name: "html", Usage: "write the table, the faults and all games to `FILE`, a page for a browser; with values and mistakes from the game's table in --data, or else from a search"},
		&cli.DurationFlag{Name: "review", Usage: "the `TIME` of that search, for all positions together; 0 for none", Value: 10 * time.Second},
		&cli.StringFlag{Name: "title", Usage: "`TITLE` of the page of --html", DefaultText: "the game's"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the result only; in a human's game, moves but no boards"},
		&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each game, and one for the result"},
	), entrantFlags()...)
}

// untilGames is the default maximum number of games of --until, and decide that by which a level match of a knockout
// tournament is continued.
const (
	untilGames = 1000
	decide     = 8
)

// confidence parses a confidence, "95%", into a number above a half and below 1.
func confidence(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(digits, 64)
	if percent {
		p /= 100
	}
	if err != nil || !(p > 0.5 && p < 1) {
		return 0, command.Usagef("--until %q: expected more than 50%% and less than 100%%", text)
	}
	return p, nil
}

// compete implements play match and play tournament.
func compete(c *cli.Context, kind game.Kind, tournament bool) error {
	ctx, stop := command.Interruptible(c.Context)
	defer stop()
	a := &arena{c: c, tournament: tournament, begun: time.Now(), out: c.App.Writer, openings: make(map[string]bool), distinct: make(map[string]bool)}
	if err := a.prepare(ctx, kind); err != nil {
		return err
	}
	a.planned = a.Games()
	cross, err := a.Play(ctx)
	return a.end(ctx, err, cross)
}

// An arena runs a match or tournament: that which the flags describe, and its output.
type arena struct {
	referee.Tournament
	c          *cli.Context
	lobby      *lobby
	tournament bool             // not a match
	mu         sync.Mutex       // guards what follows while games are played
	planned    int              // number of games of a complete result
	games      int              // number of finished games
	openings   map[string]bool  // the openings of these games
	distinct   map[string]bool  // the moves of these games
	all        []referee.Played // these games, if they are needed
	faults     report.Faults    // in these games
	recorded   []referee.Played // games of --resume that have not been used yet
	begun      time.Time        // when the command was started
	table      *table.Table     // the game's, for the page; nil: there is none
	stopped    bool             // before all games were played
	saved      *os.File
	out        io.Writer
}

// prepare reads the flags and the players of the command line and of the roster, and opens the files.
func (a *arena) prepare(ctx context.Context, kind game.Kind) error {
	c, words := a.c, a.c.Args().Slice()
	roster, err := a.roster()
	if err != nil {
		return err
	}
	g, err := gameOf(c, kind, words)
	if err != nil {
		return err
	}
	console := c.App.Writer
	if c.Bool("json") {
		console = c.App.ErrWriter
	}
	if a.lobby, err = newLobby(ctx, c, g, console); err != nil {
		return err
	}
	if err := a.lobby.keepApart(ctx, c.String("roster"), roster); err != nil {
		return command.Stopped(ctx, fmt.Errorf("--roster: %w", err))
	}
	entrants, people, err := a.lobby.seat(ctx, words, roster...)
	if err != nil {
		return err
	}
	human := slices.Contains(people, true)
	a.Entrants = entrants
	a.Parallel = c.Int("parallel")
	a.Match = referee.Match{
		Game: g, Games: c.Int("games"), Rules: referee.Rules{Grace: c.Duration("grace")}, Report: a.report,
	}
	if err := a.setForm(); err != nil {
		return err
	}
	if quiet := c.Bool("quiet"); human || !a.tournament && a.Match.Games == 1 && !quiet && !c.Bool("json") {
		a.Match.Rules.Watch = func(p referee.Played) { lines.Show(console, p, !quiet) }
	}
	if a.Match.Rules.Watch != nil && a.Parallel > 1 {
		return command.Usagef("--parallel %d: a human plays one game at a time", a.Parallel)
	}
	if c.IsSet("html") {
		if a.table, err = a.lobby.data.tableOf(g, a.lobby.notices); err != nil {
			return err
		}
	}
	if err := a.open(kind); err != nil {
		return err
	}
	if plies := c.Int("openings"); plies != 0 && !(human && plies == referee.AutoPlies) {
		even, err := stillOpen(g)
		if err != nil {
			return err
		}
		a.Match.Openings = referee.NewOpenings(g, plies, a.lobby.seed, even)
		_, err = a.Match.Openings.At(0)
		return err
	}
	return nil
}

// roster checks flags and the number of players, and reads the roster.
func (a *arena) roster() (roster []entrantSpec, err error) {
	c, most, many := a.c, 2, "two players"
	if a.tournament {
		most, many, err = math.MaxInt, "two or more players", command.AtLeast(c, 1, "parallel")
	}
	if c.IsSet("roster") && err == nil {
		if roster, err = readRoster(c.String("roster")); err != nil {
			err = fmt.Errorf("--roster: %w", err)
		}
	}
	n := c.NArg() + len(roster)
	switch {
	case err != nil:
		return nil, err
	case n < 2 || n > most:
		return nil, countError(many, n)
	case c.IsSet("review") && !c.IsSet("html"):
		return nil, command.Usagef("--review %v: expected --html, too, the page that has the values", c.Duration("review"))
	}
	return roster, cmp.Or(command.AtLeast(c, 1, "games"), command.AtLeast(c, 0, "openings", "grace", "review"), command.CheckOutput(c, "csv"), command.CheckOutput(c, "html"))
}

// setForm makes the tournament a gauntlet or a knockout, or the match one that ends when it is decided, if a flag says so.
func (a *arena) setForm() (err error) {
	if a.c.IsSet("until") {
		if a.Match.Until, err = confidence(a.c.String("until")); err == nil && !a.c.IsSet("games") {
			a.Match.Games = untilGames
		}
		return err
	}
	if a.Knockout = a.c.Bool("knockout"); a.Knockout {
		a.Match.Decide = decide
	}
	against := a.c.String("against")
	if against == "" {
		return nil
	}
	if a.Knockout {
		return command.Usagef("--against and --knockout exclude each other")
	}
	var names []string
	for i, e := range a.Entrants {
		if names = append(names, strconv.Quote(e.Name)); e.Name == against {
			a.Against = &i
		}
	}
	if a.Against == nil {
		return command.Usagef("--against %q: expected one of the players %s", against, strings.Join(names, ", "))
	}
	return nil
}

// open opens the file of --save, if any, and writes what its games depend on, or reads the games of --resume.
func (a *arena) open(kind game.Kind) error {
	name, flag := a.c.String("save"), "--save"
	if name == "" && a.c.Bool("resume") {
		return command.Usagef("--resume: expected --save FILE, too, the file to go on with")
	}
	if name == "" {
		return nil
	}
	// don't overwrite a file with other games
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	again := a.c.Bool("resume") && errors.Is(err, os.ErrExist)
	if again {
		flag = "--resume"
		f, err = os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	}
	if err == nil {
		a.saved = f
		if err = system.Lock(f, false); err != nil {
			err = fmt.Errorf("%s: another match or tournament writes to it: %w", name, err)
		}
	}
	switch {
	case err != nil:
	case again:
		err = a.resume(game.Kinds{kind})
	default:
		err = referee.WriteSettings(f, a.settings())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// resume reads the games of the saved file, and removes an incomplete one at its end. Without --seed, the seed is that of
// the file.
func (a *arena) resume(known game.Kinds) error {
	name := a.saved.Name()
	text, err := io.ReadAll(a.saved)
	if err != nil {
		return err
	}
	found, games, length, err := referee.ReadAll(text, name, known.Parse)
	if err != nil {
		return err
	}
	now := a.settings()
	if len(found) != len(now) || !slices.Equal(found[1:], now[1:]) {
		return fmt.Errorf("%s is of another match or tournament: expected %q, found %q", name, now, found)
	}
	seed, err := strconv.ParseUint(found[0][1], 10, 64)
	if err != nil || a.lobby.seeded && seed != a.lobby.seed {
		return fmt.Errorf("%s: expected the seed %d, found %q", name, a.lobby.seed, found[0][1])
	}
	if length < len(text) {
		a.lobby.notices.Printf("%s: the last game is incomplete, and is played again", name)
	}
	a.lobby.seed, a.recorded, a.Match.Recorded = seed, games, a.replay
	return a.saved.Truncate(int64(length))
}

// replay returns a recorded game of these players with this opening, once.
func (a *arena) replay(players [2]string, opening []string) (referee.Played, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, p := range a.recorded {
		if p.Players == players && p.Opening == len(opening) && slices.Equal(p.History.Names()[:p.Opening], opening) {
			a.recorded = slices.Delete(a.recorded, i, i+1)
			a.note(p)
			return p, true
		}
	}
	return referee.Played{}, false
}

// stillOpen returns a function that reports whether a short search finds no winner of a position.
func stillOpen(g game.Game) (func(game.Position) bool, error) {
	const memory, nodes = 1 << 20, 5000
	s, err := search.New(g, search.Options{Memory: memory, Threads: 1})
	if err != nil {
		return nil, err
	}
	return func(p game.Position) bool {
		r, err := s.Search(context.Background(), p, search.Limit{Nodes: nodes, Weak: true})
		o := r.Value.Outcome().For(g.ToMove(p))
		return err != nil || r.Value == 0 || o != game.Wins && o != game.Loses
	}, nil
}

// note counts a game.
func (a *arena) note(p referee.Played) {
	a.games++
	moves := p.History.Names()
	a.openings[strings.Join(moves[:p.Opening], " ")] = true
	a.distinct[strings.Join(moves, " ")] = true
	if a.c.IsSet("html") {
		a.all = append(a.all, p)
	}
	if p.Fault() {
		a.faults.Add(p, a.games)
	}
}

// report prints and saves a finished game.
func (a *arena) report(p referee.Played) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(p)
	if a.saved != nil {
		if err := cmp.Or(p.Record(0).Write(a.saved), a.saved.Sync()); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	switch {
	case a.c.Bool("quiet"):
		return nil
	case a.c.Bool("json"):
		return p.Record(a.games).Write(a.out)
	}
	_, err := fmt.Fprintln(a.out, gameLine(a.games, p))
	return err
}

// gameLine returns a game as a line of text.
func gameLine(number int, p referee.Played) string {
	return fmt.Sprintf("game %d, %s - %s: %s", number, p.Players[0], p.Players[1], p.Text(p.History.Game().Values()))
}
