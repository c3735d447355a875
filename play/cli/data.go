package play

import (
	"cmp"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/program"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/table"
)

// errOtherGame is the error for a table that is of another game than that of the command line.
var errOtherGame = errors.New("of another game")

// boardGiven reports whether a command line of a kind has a board: parameters, or the name of an alias.
func boardGiven(c *cli.Context, kind game.Kind) bool {
	return c.Command.Name != kind.Name || slices.ContainsFunc(kind.Params, func(p game.Param) bool { return c.IsSet(p.Name) })
}

// gameOf returns the game of a command line with these players: without a board, that of the table of the first player
// that looks up one of this kind.
func gameOf(c *cli.Context, kind game.Kind, players []string) (game.Game, error) {
	for _, word := range players {
		s, err := parseNamed(word)
		if err != nil || s.kind != "table" || boardGiven(c, kind) {
			continue // an error of the table is that of the player
		}
		t, _, err := dataDir{cmp.Or(s.rest, c.String("data")), true}.tableIfAny(boardOf(game.Kinds{kind}, kind))
		if err == nil {
			defer t.Close()
			return t.Game(), nil
		}
	}
	return command.GameOf(c, kind)
}

// boardOf returns a function that makes any game of a kind, or of games if the kind has no name.
func boardOf(games game.Kinds, kind game.Kind) func(spec string) (game.Game, error) {
	return func(spec string) (game.Game, error) {
		if name, _, _ := strings.Cut(spec, " "); kind.Name != "" && name != kind.Name {
			return nil, fmt.Errorf("%w: expected %s, found %q", errOtherGame, kind.Name, spec)
		}
		return games.Parse(spec)
	}
}

// only returns a function that accepts the spec of one game.
func only(g game.Game) func(spec string) (game.Game, error) {
	return func(spec string) (game.Game, error) {
		if program.Changed(spec, g.Spec()) {
			return nil, errors.New("the rules program has changed since this table was solved, so it is not read: driver solve --overwrite solves the game again")
		}
		if spec != g.Spec() {
			return nil, fmt.Errorf("%w: expected %q, found %q", errOtherGame, g.Spec(), spec)
		}
		return g, nil
	}
}

// A dataDir is the data directory of a command that can do without a table.
type dataDir struct {
	name  string
	given bool // by --data
}

// dataOf returns the data directory of a command line.
func dataOf(c *cli.Context) dataDir { return dataDir{c.String("data"), c.IsSet("data")} }

// tableIfAny returns the table in the data directory; nil if there is none. parse makes its game; its error is errOtherGame
// if that is not wanted. If --data is not given, the table may be missing or be that of another game; if it is damaged,
// notice describes that.
func (d dataDir) tableIfAny(parse func(spec string) (game.Game, error)) (t *table.Table, notice string, err error) {
	if !d.given {
		if _, err := os.Stat(filepath.Join(d.name, table.Dir)); err != nil {
			return nil, "", nil
		}
	}
	place, err := datadir.OpenDir(d.name)
	if err != nil {
		return nil, "", err
	}
	t, err = table.OpenFS(place.FS, place.Path, parse)
	switch {
	case err == nil:
		return t, "", nil
	case d.given:
		return nil, "", err
	case errors.Is(err, errOtherGame):
		return nil, "", nil
	}
	return nil, err.Error(), nil
}

// tableOf returns the table of g in the data directory; nil if there is none. It reports a damaged table to notices.
func (d dataDir) tableOf(g game.Game, notices *log.Logger) (*table.Table, error) {
	t, notice, err := d.tableIfAny(only(g))
	if notice != "" {
		notices.Print(notice)
	}
	return t, err
}
