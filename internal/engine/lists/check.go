package lists

import (
	"fmt"
	"io"
	"slices"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/streamfmt"
)

// A rowCheck holds rows of lines against the rules: what is written packed was checked
// when it was made.
type rowCheck struct {
	g    game.Game
	tier int // or unknownTier: that of the first row; or anyTier
}

// eachRow calls do for every line of in, called source in errors, that is a row of one of
// some kinds and, if there is a check, may be. do returns what it expected instead, or an
// error.
func eachRow(in io.Reader, source string, width int, check *rowCheck, kinds []Kind, do func(line []byte, row Row, kind Kind) (want string, err error)) error {
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
			want, err = do(line, row, kind)
		}
		if want != "" {
			err = r.Errorf(want, line)
		}
		return err
	})
}

// row says what was expected instead of a row, "" if it may be.
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
	case Parents:
		return c.parent(row)
	case Messages:
		if v := ValueOf(row.Word); !v.Valid() || v.Remoteness() >= game.MaxRemoteness {
			return "a message with the value of a child: " + jobdir.WantOutcome
		}
	case Values:
		v := ValueOf(row.Word)
		if !v.Valid() {
			return jobdir.WantOutcome
		}
		finished := c.g.Values().Ended(c.g.Primitive(row.Key), c.g.ToMove(row.Key))
		if finished != 0 && v != finished {
			return fmt.Sprintf("the value %d, as this position is finished", finished)
		}
		if finished == 0 && v.Remoteness() == 0 {
			return "a value with a move or more to the end, as this position is not finished"
		}
	}
	return ""
}

// parent holds the parent in a row against the rules.
func (c *rowCheck) parent(row Row) (want string) {
	if row.Word == row.Key {
		if row.Key != c.g.Start() {
			return "p and the key of a parent after a tab, as only the start has none"
		}
		return ""
	}
	if err := c.g.Check(row.Word); err != nil {
		return fmt.Sprintf("after p a position (%v)", err)
	}
	if tier := game.TierOf(c.g, row.Word); tier >= c.tier {
		return fmt.Sprintf("after p a position of a tier before %d (this one is of tier %d)", c.tier, tier)
	}
	return ""
}

// wantKind is what is expected instead of a row of another kind.
func wantKind(kind Kind) string {
	switch kind {
	case Parents:
		return "a position with a parent: after the tab p and its key"
	case Messages:
		return "a message: after the tab m and a value"
	}
	return "a position with a value"
}
