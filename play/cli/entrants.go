package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/sandbox"
	"github.com/treereduce/treereduce/play/internal/book"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/search"
	"github.com/treereduce/treereduce/table"
)

// entrantForms lists the forms of an entrant, for errors.
const entrantForms = "human, random, table[:DIRECTORY], machine[:time=200ms|depth=6|level=club] or program:COMMAND"

// entrantHelp explains the words of a command line that name players.
const entrantHelp = aPlayerIs + "   human                    enters moves at the terminal\n" + programHelp +
	"Prefix NAME= to name a player: alice='program:python3 alice.py'.\n"

// aPlayerIs and programHelp are the parts of entrantHelp before and after the human.
const (
	aPlayerIs   = "A PLAYER is one of\n\n"
	programHelp = "   random                   plays random moves\n" +
		"   table[:DIRECTORY]        looks up a solved game; default directory: --data\n" +
		"   machine[:OPTION]         searches: time=200ms per move, or depth=6 moves\n" +
		"                            ahead (fewer if its time ends), or plays at a\n" +
		"                            level=beginner, novice, casual, regular, club,\n" +
		"                            strong, expert, master, grandmaster or perfect\n" +
		"   program:COMMAND          uses the protocol of docs/play/engines.md; sh\n" +
		"                            runs COMMAND: 'program:python3 engine.py'\n\n"
)

// countError returns the error for a wrong number of players.
func countError(want string, found int) error {
	return command.Usagef("expected %s, found %d; a player is one word: %s; put quotes around a program with blanks", want, found, entrantForms)
}

// An entrantSpec is a player as described on a command line.
type entrantSpec struct {
	name  string       // "": none is given
	own   string       // the name that the program gives itself
	text  string       // the complete word, without the name
	kind  string       // human, random, table, machine or program
	rest  string       // the directory, "" if none is given; or the command
	dir   string       // where the command runs; "": here
	level player.Level // the strength, for a machine
	seed  uint64
	log   func(stderr []byte) // keeps what the program writes to stderr; may be nil
}

// maxName is the maximum number of characters of a name.
const maxName = 40

// checkName checks the name of an entrant.
func checkName(name string) error {
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("name %q: expected 1 to %d printable characters", name, maxName)
	}
	return nil
}

// parseNamed parses the word that describes a player, with or without a name.
func parseNamed(word string) (entrantSpec, error) {
	name, text, named := strings.Cut(word, "=")
	if !named || strings.Contains(name, ":") {
		return parseEntrant(word)
	}
	s, err := parseEntrant(text)
	if s.name = name; err == nil {
		err = checkName(name)
	}
	return s, err
}

// parseEntrant parses the word that describes a player, without a name.
func parseEntrant(text string) (s entrantSpec, err error) {
	kind, rest, more := strings.Cut(text, ":")
	s = entrantSpec{text: text, kind: kind}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return s, fmt.Errorf("player %q: expected UTF-8 without control characters", text)
	}
	switch {
	case more && rest == "":
		err = errors.New("expected something after the colon")
	case (kind == "human" || kind == "random") && !more:
	case kind == "table":
		s.rest = rest
	case kind == "program" && more:
		s.rest = rest
	case kind == "machine":
		if more {
			s.level, err = levelOf(rest)
		}
	default:
		err = errors.New("expected " + entrantForms)
	}
	if err != nil {
		return s, fmt.Errorf("player %q: %w", text, err)
	}
	return s, nil
}

// levelOf parses the option of a machine: time=200ms, depth=6 or level=club.
func levelOf(option string) (l player.Level, err error) {
	switch name, value, _ := strings.Cut(option, "="); name {
	case "time":
		if l.Time, err = time.ParseDuration(value); err == nil && l.Time <= 0 {
			err = errors.New("expected more than 0")
		}
	case "depth":
		l.Depth, err = wholeFrom(1, value)
	case "level":
		l, err = player.ParseLevel(value)
	default:
		err = errors.New("expected time=…, depth=… or level=…")
	}
	if err != nil {
		return l, fmt.Errorf("option %q: %w", option, err)
	}
	return l, nil
}

// wholeFrom parses a number of least or more.
func wholeFrom(least int, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("expected an integer of %d or more, found %q", least, text)
	}
	return n, nil
}

// entrantFlags returns the flags that configure all entrants.
func entrantFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.DurationFlag{Name: "time", Usage: "time limit per move, e.g. 200ms; a player that exceeds it loses; humans have none",
			DefaultText: "1s for machines without a depth and for programs (Network: 5s)"},
		&cli.Uint64Flag{Name: "seed", Usage: "random seed, for a reproducible result", DefaultText: "a different one each time"},
		datadir.Flag(),
		&cli.StringFlag{Name: "memory-limit", Usage: "memory of a program, of all its processes together, e.g. 512M; a program that exceeds it loses"},
		&cli.StringFlag{Name: "cpu-limit", Usage: "number `N` of cores that a program uses at most, with all its processes together, e.g. 1 or 0.5"},
		&cli.BoolFlag{Name: "no-network", Usage: "run programs without a network"},
		&cli.BoolFlag{Name: "read-only", Usage: "programs see the system's files and their own directory, read-only, and a /tmp of their own"},
	}, searchFlags(byDefault)...)
}

// A lobby makes the entrants of a game, with the options of a command line.
type lobby struct {
	g       game.Game
	options search.Options
	time    time.Duration    // limit of a move; 0: none is given
	box     *sandbox.Sandbox // nil: programs have no limits
	seed    uint64
	seeded  bool // by --seed
	data    dataDir
	console *player.Console
	notices *log.Logger
	logs    *logDir // nil: there is none
}

// newLobby reads the flags; humans play on a console that reads the command's input and writes
// to out.
func newLobby(ctx context.Context, c *cli.Context, g game.Game, out io.Writer) (*lobby, error) {
	o, err := searchOptions(c)
	if err != nil {
		return nil, err
	}
	if c.IsSet("time") && c.Duration("time") <= 0 {
		return nil, command.Usagef("--time %s: expected more than 0", c.Duration("time"))
	}
	limits, err := limitsOf(c)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.New(ctx, limits)
	if failed := new(sandbox.UnenforcedError); errors.As(err, &failed) {
		accept := "leave the options out"
		if c.IsSet("roster") {
			accept = "accept that with --unlimited " + strings.Join(append(failed.Names, unlimitedOf(c)...), ",")
		}
		return nil, fmt.Errorf("%w; or %s", err, accept)
	} else if err != nil {
		return nil, command.Stopped(ctx, err)
	}
	l := &lobby{
		g: g, options: o, time: c.Duration("time"), box: box, seed: c.Uint64("seed"), seeded: c.IsSet("seed"),
		data: dataOf(c), console: player.NewConsole(c.App.Reader, out), notices: logOf(c),
	}
	if !l.seeded {
		l.seed = rand.Uint64()
	}
	if l.logs, err = openLogs(c.String("logs"), c.Bool("resume"), l.notices.Print); err == nil && l.logs != nil && l.box != nil {
		l.box.Private = []string{l.logs.path}
	}
	return l, err
}

// unlimitedOf returns the limits that --unlimited switches off.
func unlimitedOf(c *cli.Context) []string {
	if !c.IsSet("unlimited") {
		return nil
	}
	return strings.Split(c.String("unlimited"), ",")
}

// limitsOf reads the flags that limit programs. With a roster, all limits are set. --unlimited switches off those that it names.
func limitsOf(c *cli.Context) (l sandbox.Limits, err error) {
	roster := c.IsSet("roster")
	if roster {
		l = sandbox.Default
	} else if c.IsSet("unlimited") {
		return l, command.Usagef("--unlimited: only the programs of a --roster are limited without it")
	}
	if c.IsSet("memory-limit") {
		if l.Memory, err = command.Size(c, "memory-limit"); err != nil {
			return l, err
		}
	}
	if text := c.String("cpu-limit"); c.IsSet("cpu-limit") {
		if l.CPU, err = strconv.ParseFloat(text, 64); err != nil || !(l.CPU >= 0.01 && l.CPU <= 10_000) {
			return l, command.Usagef("--cpu-limit %q: expected a number of cores, 0.01 or more; --time limits the time of a move", text)
		}
	}
	l.NoNetwork, l.ReadOnly = l.NoNetwork || c.Bool("no-network"), l.ReadOnly || c.Bool("read-only")
	if !roster && (l.Memory > 0 || l.CPU > 0) {
		l.Processes = sandbox.MaxProcesses
	}
	if l, err = l.Without(unlimitedOf(c)); err != nil {
		return l, command.Usagef("--unlimited %w", err)
	}
	return l, nil
}

// entrants makes entrants. A player without a name is called by its words, or by the name that its program
// gives itself, see askNames; those with equal words get numbers.
func (l *lobby) entrants(specs []entrantSpec) (all []referee.Entrant, err error) {
	taken := make(map[string]bool)
	for _, s := range specs {
		if s.name != "" && taken[s.name] {
			return nil, command.Usagef("name %q: two players have it", s.name)
		}
		taken[s.name] = true
	}
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.name
		for n := 1; names[i] == ""; n++ {
			name := s.text
			if n > 1 {
				name = fmt.Sprintf("%s (%d)", s.text, n)
			}
			if !taken[name] {
				names[i], taken[name] = name, true
			}
		}
	}
	own := make(map[string]int)
	for _, s := range specs {
		own[s.own]++
	}
	for i, s := range specs {
		s.seed = l.seed + uint64(i) + 1
		if s.own != "" && own[s.own] == 1 && !taken[s.own] {
			names[i] = s.own
		}
		if s.kind == "program" {
			if s.log, err = l.logs.begin(i, names[i]); err != nil {
				return nil, err
			}
		}
		all = append(all, referee.Entrant{Name: names[i], Limit: l.limit(s), New: func(ctx context.Context) (player.Player, error) { return l.make(ctx, s) }})
	}
	return all, nil
}

// askNames asks the programs that have no name for the one that they give themselves.
func (l *lobby) askNames(ctx context.Context, specs []entrantSpec) {
	for i, s := range specs {
		if s.name == "" && s.kind == "program" {
			name, err := l.nameOf(ctx, s)
			if err != nil { // it may start the next time; then its name must not be another one's
				name, _ = l.nameOf(ctx, s)
			}
			if checkName(name) == nil {
				specs[i].own = name
			}
		}
	}
}

// nameOf returns the name that a program gives itself, "" if none.
func (l *lobby) nameOf(ctx context.Context, s entrantSpec) (string, error) {
	p, err := player.NewProgram(ctx, l.g, s.rest, s.dir, l.box, nil)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.Name(ctx), nil
}

// seat makes the entrants that words describe, and more, and asks programs for their names. A program that does not start
// loses its games, a table that is missing is an error.
func (l *lobby) seat(ctx context.Context, words []string, more ...entrantSpec) (all []referee.Entrant, humans []bool, err error) {
	var specs []entrantSpec
	for _, word := range words {
		s, err := parseNamed(word)
		if err != nil {
			return nil, nil, command.Usagef("%w", err)
		}
		specs = append(specs, s)
	}
	specs = append(specs, more...)
	l.askNames(ctx, specs)
	if all, err = l.entrants(specs); err != nil {
		return nil, nil, err
	}
	for i, s := range specs {
		humans = append(humans, s.kind == "human")
		if s.kind == "table" {
			p, err := l.table(s.rest)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", all[i].Name, err)
			}
			p.Close()
		}
	}
	return all, humans, nil
}

// limit returns the time per move of an entrant; 0 if unlimited.
func (l *lobby) limit(s entrantSpec) time.Duration {
	switch {
	case s.kind == "human":
		return 0
	case s.level.Name == "" && s.level.Time > 0 || l.time == 0:
		if s.kind == "program" || s.kind == "machine" && s.level == (player.Level{}) {
			return cmp.Or(l.g.Info().MoveTime, time.Second)
		}
		return s.level.Time
	}
	return l.time
}

// make makes a player.
func (l *lobby) make(ctx context.Context, s entrantSpec) (player.Player, error) {
	switch s.kind {
	case "human":
		return player.NewHuman(l.console), nil
	case "random":
		return player.NewRandom(s.seed), nil
	case "program":
		p, err := player.NewProgram(ctx, l.g, s.rest, s.dir, l.box, s.log)
		if err != nil {
			return nil, err // not a nil *Program
		}
		return p, nil
	case "table":
		return l.table(s.rest)
	}
	searcher, err := search.New(l.g, l.options)
	if err != nil {
		return nil, err
	}
	var t *table.Table
	if s.level.Perfect {
		if t, err = l.data.tableOf(l.g, l.notices); err != nil {
			return nil, err
		}
	}
	return player.NewLevel(s.level, t, book.Embedded(l.g), searcher.Search, s.seed), nil
}

// table returns a player that uses the table in a directory; in --data if dir is "".
func (l *lobby) table(dir string) (player.Player, error) {
	t, _, err := dataDir{cmp.Or(dir, l.data.name), true}.tableIfAny(only(l.g))
	if err != nil {
		return nil, err
	}
	return player.NewTable(t), nil
}
