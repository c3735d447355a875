package layers

import (
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/streamfmt"
)

// A rowCheck checks the rows of text files against the rules. Packed rows need no such
// check, because they were checked before they were written.
type rowCheck struct {
	g     game.Game
	tier  int  // or unknownTier: the tier of the first row; or anyTier
	draws bool // whether play may never end
}

// eachRow calls do for every line of in, which is called source in errors. Each line must
// be a row of one of the given kinds and, if check is not nil, valid by the rules. do
// returns a description of what it expected instead of the row, or an error.
func eachRow(in io.Reader, source string, width int, check *rowCheck, kinds []Kind, do func(row Row, kind Kind) (want string, err error)) error {
	r := streamfmt.NewLineReader(in, source)
	return r.Each(func(line []byte) (err error) {
		row, kind, want := streamfmt.ParseRow(line, width)
		if want == "" && !slices.Contains(kinds, kind) {
			want = wantKind(kinds[0])
			for _, k := range kinds[1:] {
				want += ", or " + wantKind(k)
			}
		}
		if want == "" && check != nil {
			want = check.row(row, kind)
		}
		if want == "" {
			want, err = do(row, kind)
		}
		if want != "" {
			err = r.Errorf(want, line)
		}
		return err
	})
}

// row returns a description of what was expected instead of a row, or "" if the row is
// valid.
func (c *rowCheck) row(row Row, kind Kind) (want string) {
	if err := c.g.Check(row.Key); err != nil {
		return fmt.Sprintf("a position (%v)", err)
	}
	tier := game.TierOf(c.g, row.Key)
	if c.tier == unknownTier {
		c.tier = tier
	}
	if c.tier != anyTier && tier != c.tier {
		return fmt.Sprintf("a position of tier %d (this one is of tier %d)", c.tier, tier)
	}
	switch kind {
	case Predecessors:
		return c.predecessor(row)
	case Messages:
		v := ValueOf(row.Word)
		if (row.Word == due || v == 0) && c.draws {
			return ""
		}
		if !v.Valid() || v.Remoteness() >= game.MaxRemoteness {
			return "a message with the value of a successor: " + step.WantOutcome
		}
	case Values:
		v := ValueOf(row.Word)
		if !v.Valid() && (v != 0 || !c.draws) {
			return step.WantOutcome
		}
		finished := c.g.Values().Ended(c.g.Primitive(row.Key), c.g.ToMove(row.Key))
		if finished != 0 && v != finished {
			return fmt.Sprintf("the value %d, as this position is terminal", finished)
		}
		if finished == 0 && v.Valid() && v.Remoteness() == 0 {
			return "a value with a move or more to the end, as this position is not terminal"
		}
	}
	return ""
}

// predecessor checks the predecessor in a row against the rules.
func (c *rowCheck) predecessor(row Row) (want string) {
	if _, reversible := c.g.(game.Reversible); row.Word == row.Key {
		if row.Key != Start(c.g)[0].Key && !reversible && !game.Loops(c.g, c.tier) && game.KnownValue(c.g, row.Key) == 0 {
			return "p and the key of a predecessor after a tab: only the initial position, and those that the rules decide, have none"
		}
		return ""
	}
	if err := c.g.Check(row.Word); err != nil {
		return fmt.Sprintf("after p a position (%v)", err)
	}
	if tier := game.TierOf(c.g, row.Word); tier > c.tier || tier == c.tier && !game.Loops(c.g, tier) {
		return fmt.Sprintf("after p a position of a tier before %d (this one is of tier %d)", c.tier, tier)
	}
	return ""
}

// wantKind describes a row of the given kind, for errors about rows of other kinds.
func wantKind(kind Kind) string {
	switch kind {
	case Predecessors:
		return "a position with a predecessor: after the tab p and its key"
	case Messages:
		return "a message: after the tab m and a value"
	}
	return "a position with a value"
}
