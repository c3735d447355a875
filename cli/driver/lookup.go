package driver

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/notation"
	"github.com/treereduce/treereduce/table"
)

func (p *program) lookupCommand() *cli.Command {
	return p.reads(&cli.Command{
		Name:  "lookup",
		Usage: "look up the value of a position and of each of its moves",
		UsageText: "driver lookup [--data DIRECTORY] [--json | --tsv] [--line] [--parents] [POSITION]\n" +
			"driver lookup [--data DIRECTORY | --game NAME] --value N",
		Description: "POSITION is in any form that the commands print: the moves from the start (3 3 2, 332, or a1- 'b2|'),\n" +
			"a board as in DIR/final ('XO  '; in Connect N, blanks may be . or _), a key of the steps (0x044), its hash\n" +
			"(#68), or a line of DIR/final. If several forms fit, --from selects one. Without a POSITION, each\n" +
			"line of stdin is one.\n\n" +
			"Moves are listed best first, with their value for the player to move.\n\n" +
			"--json writes a line for each position: input, position, hash, value (win, lose, tie or draw, for the player\n" +
			"to move; solved or unsolvable, in a puzzle), remoteness (moves to the end; a draw has none), outcome (the value in the game's words), and moves, each with move, value and remoteness\n" +
			"for the same player; with --line, line; with --parents, parents, each with position, hash, move, value and\n" +
			"remoteness for the player to move there. An invalid position has input and error. --tsv writes input,\n" +
			"position, hash, value, remoteness and moves (0:win:3 1:lose:4), then line, parents (#68:win:4) and error, if\n" +
			"present; a tab within the input is \\t.\n\n" +
			"--value describes a value (66, 0x42 or 0b1000010). Its two low bits are the outcome: 1 second player wins, 2 first\n" +
			"player wins, 3 tie. The other bits are the remoteness: the number of moves to the end under best play. In a game\n" +
			"whose values are from the view of the player to move, the outcome is 0 draw, 1 lose, 2 win, 3 tie.\n\n" +
			"   driver lookup 1 1 2 --line\n" +
			"   driver lookup '     XO   X         '\n" +
			"   head -20 all_data/final/part-r-00000 | driver lookup --json\n" +
			"   driver lookup --game quickcross --value 66",
		Flags: append([]cli.Flag{
			command.StartFlag(),
			command.FromFlag(),
			&cli.BoolFlag{Name: "line", Usage: "print best play to the end"},
			&cli.BoolFlag{Name: "parents", Usage: "print the predecessors"},
			&cli.BoolFlag{Name: "json", Usage: "print a line of JSON for each position"},
			&cli.BoolFlag{Name: "tsv", Usage: "print a line for each position, with tabs between its fields"},
		}, p.valueFlags()...),
		Action: p.lookup,
	})
}

// lookup implements driver lookup.
func (p *program) lookup(c *cli.Context) error {
	if c.IsSet("value") {
		return p.lookupValues(c)
	}
	if c.IsSet("game") {
		return command.Usagef("--game requires --value N")
	}
	form, err := command.FormOf(c)
	if err != nil {
		return err
	}
	if c.Bool("json") && c.Bool("tsv") {
		return command.Usagef("--json and --tsv exclude each other")
	}
	return datadir.WithTable(c.Context, c.String("data"), p.games, func(t *table.Table, _ *filesys.Place) error {
		l := &looker{t: t, line: c.Bool("line"), parents: c.Bool("parents")}
		positions := command.Positions{Game: t.Game(), From: form}
		write := (&textAnswers{g: t.Game(), colours: coloursOf(c.App.Writer)}).write
		switch {
		case c.Bool("json"):
			write, positions.Refused = writeJSON, refuseJSON
		case c.Bool("tsv"):
			write, positions.Refused = l.writeTSV, l.refuseTSV
		}
		return positions.Each(c.Context, c, func(out io.Writer, asked notation.Parsed) error {
			a, err := l.answer(asked)
			if errors.Is(err, errUnreachable) {
				if positions.Refused != nil {
					if err := positions.Refused(out, asked.Text, err); err != nil {
						return err
					}
				}
				return command.Refuse(err)
			}
			if err != nil {
				return err
			}
			return write(out, a)
		})
	}, p.openers(c.Context)...)
}

// errUnreachable is the error for a position that is not in the table because play cannot reach
// it.
var errUnreachable = errors.New("cannot be reached from the initial position")

// A looker looks up positions.
type looker struct {
	t             *table.Table
	line, parents bool // whether to print the best line and the parents
}

// An answer is everything that is known about a position, with the fields of --json. Values are from the view of the
// player to move: win means that this player wins.
type answer struct {
	Input    string        `json:"input"`
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	worth
	Outcome string   `json:"outcome"`           // in the game's words
	Moves   []option `json:"moves"`             // the best one first
	Line    []string `json:"line,omitempty"`    // best play to the end; in a draw, until a position repeats
	Parents []parent `json:"parents,omitempty"` // the predecessors

	asked notation.Parsed
}

// A worth is a value in both of its forms.
type worth struct {
	notation.ValueJSON
	value notation.Value
}

// worthOf returns the worth of a position with a value.
func worthOf(g game.Game, p game.Position, v game.Value) worth {
	value := notation.ValueOf(g, p, v)
	return worth{value.JSON(), value}
}

// colon returns a value and its remoteness with a colon between them: "win:3", "draw:".
func (w worth) colon() string { return w.value.Word() + ":" + w.value.Number() }

// An option is a move and its value for the player who makes it. The remoteness counts from the
// position before the move.
type option struct {
	Move string `json:"move"`
	worth
}

// A parent is a predecessor of the position, with its value for the player to move there.
type parent struct {
	Position string        `json:"position"`
	Hash     game.Position `json:"hash"`
	Move     string        `json:"move"`
	worth
}

// answer looks up a position. The error is errUnreachable if play cannot reach it, and a
// *table.Fault if play can, but the table does not contain it.
func (l *looker) answer(asked notation.Parsed) (*answer, error) {
	g, p := l.t.Game(), asked.Position
	v, ok, err := l.t.Lookup(p)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, l.t.Unreached(p, errUnreachable)
	}
	a := &answer{
		Input: asked.Text, Position: string(g.AppendText(nil, p)), Hash: p, worth: worthOf(g, p, v),
		Outcome: g.Values().Word(v.Outcome()), Moves: []option{}, asked: asked,
	}
	choices, err := l.t.Choices(p)
	if err != nil {
		return nil, err
	}
	for _, m := range choices {
		a.Moves = append(a.Moves, option{m.Name, worthOf(g, p, g.Values().Before(m.Value))})
	}
	if l.line {
		a.Line = []string{}
		for c, err := range l.t.Line(p) {
			if err != nil {
				return nil, err
			}
			a.Line = append(a.Line, c.Name)
		}
	}
	if !l.parents {
		return a, nil
	}
	parents, err := l.t.Predecessors(p)
	for _, q := range parents {
		a.Parents = append(a.Parents, parent{string(g.AppendText(nil, q.Position)), q.Position, q.Move, worthOf(g, q.Position, q.Value)})
	}
	return a, err
}
