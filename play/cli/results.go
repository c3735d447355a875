package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/internal/system"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/lines"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/report"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// resultFlags returns the flags of match and tournament; games is the default of --games, more are
// flags of one of them.
func resultFlags(games int, usage string, more ...cli.Flag) []cli.Flag {
	return append(append(more,
		&cli.IntFlag{Name: "games", Usage: usage, Value: games},
		&cli.IntFlag{Name: "openings", Usage: "number `N` of random moves before the players choose, 0 for none; each opening is repeated with colours swapped", Value: referee.AutoPlies, DefaultText: "4; none if a human plays"},
		&cli.DurationFlag{Name: "grace", Usage: "time that a move may take beyond its limit, for delays of the machine", Value: referee.DefaultGrace},
		&cli.StringFlag{Name: "save", Usage: "write the games to a new `FILE`, for play replay"},
		&cli.StringFlag{Name: "logs", Usage: "keep what each program writes to stderr in a file in `DIR`, of each run of it the last 64 KiB"},
		&cli.StringFlag{Name: "csv", Usage: "write the table to `FILE` as comma-separated values"},
		&cli.StringFlag{Name: "html", Usage: "write the table, the faults and all games to `FILE`, a page for a browser; with values and mistakes from the game's table in --data, or else from a search"},
		&cli.DurationFlag{Name: "review", Usage: "the `TIME` of that search, for all positions together; 0 for none", Value: 10 * time.Second},
		&cli.StringFlag{Name: "title", Usage: "`TITLE` of the page of --html", DefaultText: "the game's"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the result only; in a human's game, moves but no boards"},
		&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each game, and one for the result"},
	), entrantFlags()...)
}

// resultOptions are the values of resultFlags.
type resultOptions struct {
	games           int
	openings        int // number of moves, or referee.AutoPlies
	grace           time.Duration
	save, csv, html string
	title           string // the title of the page
	review          time.Duration
	quiet, json     bool
	resume          bool
	against         string // the name of the player of a gauntlet
	knockout        bool
	unlimited       []string // the limits that programs do not have
}

// resultOptionsOf reads the flags of match and tournament, except those of the players.
func resultOptionsOf(c *cli.Context) (resultOptions, error) {
	o := resultOptions{
		games: c.Int("games"), openings: c.Int("openings"), grace: c.Duration("grace"),
		save: c.String("save"), csv: c.String("csv"), html: c.String("html"), title: c.String("title"), review: c.Duration("review"),
		quiet: c.Bool("quiet"), json: c.Bool("json"), resume: c.Bool("resume"), against: c.String("against"), knockout: c.Bool("knockout"), unlimited: unlimitedOf(c),
	}
	if c.IsSet("review") && o.html == "" {
		return o, command.Usagef("--review %v: expected --html, too, the page that has the values", o.review)
	}
	return o, cmp.Or(command.AtLeast(c, 1, "games"), command.AtLeast(c, 0, "openings", "grace", "review"),
		command.CheckOutput(c, "csv"), command.CheckOutput(c, "html"))
}

// An arena runs a match or tournament: the match that the flags describe, and its output.
type arena struct {
	o          resultOptions
	lobby      *lobby
	kind       game.Kind
	match      referee.Match
	tournament bool // not a match
	entrants   []referee.Entrant
	against    *int             // the entrant of o.against
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
	players    [2]string // of the current game
}

// newArena reads the flags and the players of a command line, to which more are added: at least
// least and at most most players.
func newArena(ctx context.Context, c *cli.Context, kind game.Kind, more []entrantSpec, least, most int) (*arena, error) {
	words := c.Args().Slice()
	if n := len(words) + len(more); n < least || n > most {
		many := "two players"
		if most > least {
			many = "two or more players"
		}
		return nil, countError(many, n)
	}
	g, err := gameOf(c, kind, words)
	if err != nil {
		return nil, err
	}
	o, err := resultOptionsOf(c)
	if err != nil {
		return nil, err
	}
	a := &arena{o: o, kind: kind, tournament: most > least, begun: time.Now(), out: c.App.Writer, openings: make(map[string]bool), distinct: make(map[string]bool)}
	console := c.App.Writer
	if o.json {
		console = c.App.ErrWriter
	}
	l, err := newLobby(ctx, c, g, console)
	if err != nil {
		return nil, err
	}
	a.lobby = l
	specs, err := specsOf(words)
	if err != nil {
		return nil, err
	}
	if err := l.keepApart(ctx, c.String("roster"), more); err != nil {
		return nil, command.Stopped(ctx, fmt.Errorf("--roster: %w", err))
	}
	humans := 0
	if a.entrants, humans, err = l.seat(ctx, append(specs, more...)); err != nil {
		return nil, err
	}
	a.match = referee.Match{
		Game: g, Games: o.games,
		Rules:  referee.Rules{Grace: o.grace},
		Begin:  func(players [2]string) { a.players = players },
		Report: a.report,
	}
	if err := a.setForm(); err != nil {
		return nil, err
	}
	if humans > 0 || most == least && a.match.Games == 1 && !o.quiet && !o.json {
		a.match.Rules.Watch = func(h *player.History) { lines.Show(console, h, a.players, !o.quiet) }
	}
	if o.html != "" {
		if a.table, err = l.data.tableOf(g, l.notices); err != nil {
			return nil, err
		}
	}
	return a, a.open(humans > 0)
}

// seat makes entrants, and asks programs for their names. A program that does not start loses its games, a table
// that is missing is an error.
func (l *lobby) seat(ctx context.Context, specs []entrantSpec) (all []referee.Entrant, humans int, err error) {
	l.askNames(ctx, specs)
	if all, humans, err = l.entrants(specs); err != nil {
		return nil, 0, err
	}
	for i, s := range specs {
		if s.kind == "table" {
			p, err := l.table(s.rest)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", all[i].Name, err)
			}
			p.Close()
		}
	}
	return all, humans, nil
}

// decide is the maximum number of games by which a level match of a knockout tournament is continued.
const decide = 8

// setForm makes the tournament a gauntlet or a knockout, if a flag says so.
func (a *arena) setForm() error {
	if a.o.knockout {
		a.match.Decide = decide
	}
	if a.o.against == "" {
		return nil
	}
	if a.o.knockout {
		return command.Usagef("--against and --knockout exclude each other")
	}
	var names []string
	for i, e := range a.entrants {
		if names = append(names, strconv.Quote(e.Name)); e.Name == a.o.against {
			a.against = &i
		}
	}
	if a.against == nil {
		return command.Usagef("--against %q: expected one of the players %s", a.o.against, strings.Join(names, ", "))
	}
	return nil
}

// open makes the openings, unless a human plays who has not asked for them, and opens the file of
// --save.
func (a *arena) open(human bool) error {
	settings, resumed := "", false
	var err error
	if a.tournament {
		settings = a.settings()
		if resumed, err = a.resume(settings); err != nil {
			return err
		}
	}
	if a.o.openings != 0 && !(human && a.o.openings == referee.AutoPlies) {
		even, err := stillOpen(a.match.Game)
		if err != nil {
			return err
		}
		a.match.Openings = referee.NewOpenings(a.match.Game, a.o.openings, a.lobby.seed, even)
		if _, err := a.match.Openings.At(0); err != nil {
			return err
		}
	}
	if a.o.save == "" || resumed {
		return nil
	}
	// don't overwrite a file with other games
	if a.saved, err = os.OpenFile(a.o.save, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	if err := lock(a.saved); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	if settings != "" {
		if err := referee.WriteSettings(a.saved, settings); err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	return nil
}

// lock takes the lock of a file of games until it is closed.
func lock(f *os.File) error {
	if err := system.Lock(f, false); err != nil {
		return fmt.Errorf("%s: another match or tournament writes to it: %w", f.Name(), err)
	}
	return nil
}

// settings returns what the games of a tournament depend on, as one line that begins with the
// seed.
func (a *arena) settings() string {
	var players []string
	for _, e := range a.entrants {
		players = append(players, fmt.Sprintf("%q %v", e.Name, e.Limit))
	}
	openings := "auto"
	if a.o.openings != referee.AutoPlies {
		openings = strconv.Itoa(a.o.openings)
	}
	form := ""
	if a.against != nil {
		form = fmt.Sprintf(" against=%q", a.o.against)
	} else if a.o.knockout {
		form = " knockout"
	}
	return fmt.Sprintf("seed=%d %s games=%d openings=%s grace=%v players=%s%s",
		a.lobby.seed, a.match.Game.Spec(), a.match.Games, openings, a.match.Rules.Grace, strings.Join(players, ", "), form)
}

// resume reads the games of the file of --save, if --resume is given and there is such a file, and
// opens the file to append to it. Without --seed, the seed is that of the file.
func (a *arena) resume(settings string) (bool, error) {
	if !a.o.resume {
		return false, nil
	}
	if a.o.save == "" {
		return false, command.Usagef("--resume: expected --save FILE, too, the file to go on with")
	}
	f, err := os.OpenFile(a.o.save, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	var text []byte
	if err == nil {
		a.saved = f
		if err = lock(f); err == nil {
			text, err = io.ReadAll(f)
		}
	}
	if err != nil {
		return false, fmt.Errorf("--resume: %w", err)
	}
	known := game.Kinds{a.kind}
	found, games, length, err := referee.ReadAll(text, a.o.save, known.Parse)
	if err != nil {
		return false, fmt.Errorf("--resume: %w", err)
	}
	seed, rest, _ := strings.Cut(found, " ")
	if _, now, _ := strings.Cut(settings, " "); rest != now {
		return false, fmt.Errorf("--resume: %s is of another tournament: expected %q, found %q", a.o.save, now, rest)
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(seed, "seed="), 10, 64)
	if err != nil || a.lobby.seeded && n != a.lobby.seed {
		return false, fmt.Errorf("--resume: %s: expected seed=%d, found %q", a.o.save, a.lobby.seed, seed)
	}
	if dropped := len(text) - length; dropped > 0 {
		a.lobby.notices.Printf("%s: the last game is incomplete, and is played again", a.o.save)
	}
	a.lobby.seed, a.recorded = n, games
	a.match.Recorded = a.replay
	if err := f.Truncate(int64(length)); err != nil {
		return false, fmt.Errorf("--resume: %w", err)
	}
	return true, nil
}

// replay returns a recorded game of these players with this opening, once.
func (a *arena) replay(players [2]string, opening []string) (referee.Played, bool) {
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
	if a.o.html != "" {
		a.all = append(a.all, p)
	}
	if p.Fault() {
		a.faults.Add(p, a.games)
	}
}

// report prints and saves a finished game.
func (a *arena) report(p referee.Played) error {
	a.note(p)
	if a.saved != nil {
		err := p.Record(0).Write(a.saved)
		if err == nil {
			err = a.saved.Sync()
		}
		if err != nil {
			return fmt.Errorf("--save: %w", err)
		}
	}
	switch {
	case a.o.json && !a.o.quiet:
		return p.Record(a.games).Write(a.out)
	case a.o.quiet && p.Fault() && !a.tournament:
		a.lobby.notices.Print(gameLine(a.games, p))
	case !a.o.quiet:
		_, err := fmt.Fprintln(a.out, gameLine(a.games, p))
		return err
	}
	return nil
}

// gameLine returns a game as a line of text.
func gameLine(number int, p referee.Played) string {
	return fmt.Sprintf("game %d, %s - %s: %s", number, p.Players[0], p.Players[1], p.Text(p.History.Game().Values()))
}

// end prints the result with print, if a game was finished, writes the files, and returns the
// error of the command. It is not an error if a human leaves.
func (a *arena) end(ctx context.Context, playing error, cross referee.Cross, print func() error) error {
	if a.saved != nil {
		if err := a.saved.Close(); err != nil && playing == nil {
			playing = fmt.Errorf("--save: %w", err)
		}
		if a.games == 0 {
			os.Remove(a.saved.Name()) // it has no game
		}
	}
	a.stopped = playing != nil
	if a.o.quiet && a.tournament {
		for _, f := range a.faults {
			a.lobby.notices.Printf("%s: %v", f.Player, f)
		}
	}
	if a.games > 0 {
		if err := cmp.Or(print(), a.write(ctx, cross)); err != nil {
			return err
		}
	}
	if playing == player.ErrLeft { // an error that only wraps ErrLeft has another reason
		playing = nil
	}
	return command.Stopped(ctx, playing)
}

// write writes the files of --csv and --html.
func (a *arena) write(ctx context.Context, cross referee.Cross) error {
	r := report.Report{
		Game: a.match.Game, Cross: cross, Title: a.o.title, Date: a.begun, Settings: a.described(), Note: a.summary(), Played: a.all,
	}
	if a.table != nil {
		defer a.table.Close()
	}
	if a.table != nil || a.o.review > 0 {
		r.Judge = a.judge(ctx)
	}
	return cmp.Or(writeFile("csv", a.o.csv, r.CSV), writeFile("html", a.o.html, r.HTML))
}

// judge returns a function that finds what is known of a position of the games: from the table, or by a search. All searches
// share the time of --review; when it is over, or ctx ends, the opening book alone is asked.
func (a *arena) judge(ctx context.Context) func(game.Position) (analysis.Report, error) {
	g := a.match.Game
	analyzer := analysis.New(g, a.table, book.Embedded(g), a.lobby.options)
	left := 0
	for _, p := range a.all {
		left += len(p.History.Names()) + 1
	}
	end := time.Now().Add(a.o.review)
	return func(p game.Position) (analysis.Report, error) {
		limit := time.Until(end) / time.Duration(max(1, left))
		left--
		if a.table == nil && g.Primitive(p) == 0 && (limit <= 0 || ctx.Err() != nil) {
			return analyzer.Begin(p), nil
		}
		return analyzer.Assess(context.Background(), p, limit)
	}
}

// described returns the settings for people, by name.
func (a *arena) described() [][2]string {
	var limits []string // the different times per move
	for _, e := range a.entrants {
		limit := "none"
		if e.Limit > 0 {
			limit = fmt.Sprintf("%v", e.Limit)
		}
		if !slices.Contains(limits, limit) {
			limits = append(limits, limit)
		}
	}
	form := "each against each"
	switch {
	case !a.tournament:
		form = "match"
	case a.against != nil:
		form = a.o.against + " against each other player"
	case a.o.knockout:
		form = "knockout"
	}
	values := "none"
	if a.table != nil {
		values = "from the game's table"
	} else if a.o.review > 0 {
		values = fmt.Sprintf("from searches of %v in all", a.o.review)
	}
	return [][2]string{
		{"Form", form}, {"Game", a.match.Game.Spec()}, {"Games of each pair", strconv.Itoa(a.match.Games)}, {"Time per move", strings.Join(limits, ", ")},
		{"Grace", a.match.Rules.Grace.String()}, {"Seed", strconv.FormatUint(a.lobby.seed, 10)}, {"Values", values},
	}
}

// writeFile writes the file that a flag names, if any.
func writeFile(flag, name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err == nil {
		err = cmp.Or(write(f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// summary describes the games of a result, and what is missing in it.
func (a *arena) summary() string {
	text := fmt.Sprintf("%s, %s different", numfmt.Count(a.games, "game"), numfmt.Number(len(a.distinct)))
	if a.match.Openings != nil {
		text += ", from " + numfmt.Count(len(a.openings), "opening")
	}
	if len(a.o.unlimited) > 0 {
		text += "; programs were not limited in " + strings.Join(a.o.unlimited, ", ")
	}
	if a.stopped {
		text += fmt.Sprintf("; stopped after %s of %s: the table is partial", numfmt.Number(a.games), numfmt.Count(a.planned, "game"))
	}
	return text
}

// resultJSON returns what the results of matches and tournaments have in common as JSON.
func (a *arena) resultJSON(players []any) map[string]any {
	m := map[string]any{
		"spec": a.match.Game.Spec(), "games": a.games, "planned": a.planned, "partial": a.stopped, "distinct": len(a.distinct),
		"openings": len(a.openings), "seed": a.lobby.seed, "players": players,
	}
	if len(a.o.unlimited) > 0 {
		m["unlimited"] = a.o.unlimited
	}
	return m
}

// standingJSON returns a player's results as JSON.
func standingJSON(s referee.Standing) map[string]any {
	low, high := s.Interval()
	return map[string]any{
		"player": s.Name, "score": s.Score(), "error": s.Error(), "low": low, "high": high, "superiority": s.Superiority(),
		"wins": s.Wins, "ties": s.Ties, "losses": s.Losses, "faults": s.Faults,
		"moves": s.Moves, "mean_seconds": s.Mean().Seconds(), "longest_seconds": s.Longest.Seconds(),
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
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(cell))
			if i == 0 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
