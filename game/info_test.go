package game_test

import (
	"slices"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// own is a game with its own draw rule.
type own struct{ game.Game }

func (own) Info() game.Info { return game.Info{Draw: game.DrawRule{Repetitions: 2}} }

func TestDrawRuleOf(t *testing.T) {
	columns := must.Get(connectn.New(3, 3, 3))(t)
	cross := must.Get(quickcross.New(3, 3, 3))(t)
	for name, tt := range map[string]struct {
		g    game.Game
		want game.DrawRule
	}{
		"it ends anyhow":         {columns, game.DrawRule{}},
		"it may go on for ever":  {cross, game.DrawRule{Repetitions: 3, Plies: 1000}},
		"Network":                {network.New(), game.DrawRule{Repetitions: 3, Plies: 120}},
		"it has a rule, cycles":  {own{cross}, game.DrawRule{Repetitions: 2}},
		"it has a rule, but end": {own{columns}, game.DrawRule{Repetitions: 2}},
	} {
		if got := game.DrawRuleOf(tt.g); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestParagraphs checks that boards differ from text, and that a board keeps its lines.
func TestParagraphs(t *testing.T) {
	got := game.Paragraphs("Goal: a\nb.\n\n       a b\n    1  . X\n\nEnd.\n")
	want := []game.Paragraph{{Text: "Goal: a\nb."}, {Text: "   a b\n1  . X", Board: true}, {Text: "End."}}
	if !slices.Equal(got, want) || game.Paragraphs("") != nil {
		t.Errorf("%+v", got)
	}
}
