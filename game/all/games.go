// Package all lists the games that treereduce knows. A new game is a package
// of its own and one line here.
package all

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
)

// Kinds returns every kind of game.
func Kinds() []game.Kind { return []game.Kind{connectn.Kind, quickcross.Kind, mnk.Kind} }

// Parse makes the game that a spec names, as game.Game.Spec gives it:
// "connectn width=4 height=5 connect=3".
func Parse(spec string) (game.Game, error) {
	words := strings.Fields(spec)
	for _, kind := range Kinds() {
		if len(words) != len(kind.Params)+1 || words[0] != kind.Name {
			continue
		}
		args := make([]int, len(kind.Params))
		for i, p := range kind.Params {
			value, ok := strings.CutPrefix(words[i+1], p.Name+"=")
			n, err := strconv.Atoi(value)
			if !ok || err != nil {
				return nil, fmt.Errorf("game %q: expected %s=NUMBER, found %q", spec, p.Name, words[i+1])
			}
			args[i] = n
		}
		return kind.New(args)
	}
	return nil, fmt.Errorf("game %q is not one that this program knows", spec)
}

// Tiered makes the game of a spec, which must be solved a tier at a time.
func Tiered(spec string) (game.Tiered, error) {
	g, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	t, ok := g.(game.Tiered)
	if !ok {
		return nil, fmt.Errorf("game %q is not solved by tiers", spec)
	}
	return t, nil
}
