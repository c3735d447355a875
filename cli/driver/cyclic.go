package driver

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/table"
)

// A cyclicTable is the table of a game with cycles.
type cyclicTable struct{ *table.Cyclic }

type cyclicStats struct{ table.CyclicStats }

func (s cyclicStats) title() string { return s.Game + ": " + s.Value }

func (t cyclicTable) stats() (statistics, error) {
	s, err := t.Stats()
	return cyclicStats{s}, err
}

func (t cyclicTable) verify(ctx context.Context, fsys store.FS, path string) (game.Game, uint64, error) {
	return table.VerifyCyclic(ctx, fsys, path)
}

func (t cyclicTable) verifyRules(ctx context.Context, fsys store.FS, path string, rules table.Rules) (game.Game, uint64, uint64, error) {
	return rules.VerifyCyclic(ctx, fsys, path)
}

// lookup prints the worth of a position to the player to move, and of each of its
// moves to the opponent, who is then to move.
func (t cyclicTable) lookup(out io.Writer, text string) error {
	g := t.Game()
	p, err := parsePosition(g, text)
	if err != nil {
		return err
	}
	worth, ok, err := t.Lookup(p)
	if err != nil {
		return err
	}
	board := g.AppendText(nil, p)
	fmt.Fprintf(out, "%s", g.Picture(p))
	if !ok {
		fmt.Fprintf(out, "%q cannot be reached: play stops before it\n", board)
		return nil
	}
	if g.Primitive(p) != 0 {
		fmt.Fprintf(out, "%q is finished: %s\n", board, worth.Result)
		return nil
	}
	fmt.Fprintf(out, "%q, hash %d: %s\n", board, p, worth)
	choices, err := t.Choices(p)
	if err != nil {
		return err
	}
	if worth.Result == game.Draws {
		var keep []string
		for _, m := range choices {
			if m.Worth.Result == game.Draws {
				keep = append(keep, m.Name)
			}
		}
		fmt.Fprintf(out, "play need never end; what keeps the draw: %s\n", strings.Join(keep, " "))
	}
	for _, m := range choices {
		if g.Primitive(m.To) != 0 {
			fmt.Fprintf(out, "  %s: %s at once\n", m.Name, m.Worth.Result)
		} else {
			fmt.Fprintf(out, "  %s: %s\n", m.Name, m.Worth)
		}
	}
	return nil
}
