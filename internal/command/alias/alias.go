// Package alias has the names that people know for games with certain parameters.
package alias

import (
	"slices"

	"github.com/treereduce/treereduce/game"
)

// An Alias is a name that people know for a game with certain parameters.
type Alias struct {
	Name string
	Kind game.Kind // the game, with these parameters as defaults
}

// Of returns the aliases of games that are not names of games.
func Of(games game.Kinds) (aliases []Alias) {
	for _, a := range []struct {
		name, kind string
		args       []int
	}{
		{"connect4", "connectn", []int{7, 6, 4}},
		{"fourinarow", "connectn", []int{7, 6, 4}},
		{"tictactoe", "mnk", []int{3, 3, 3}},
		{"noughts", "mnk", []int{3, 3, 3}},
	} {
		kind, ok := games.Named(a.kind)
		if _, taken := games.Named(a.name); taken || !ok || len(kind.Params) != len(a.args) {
			continue
		}
		kind.Params = slices.Clone(kind.Params)
		for i, value := range a.args {
			kind.Params[i].Default = value
		}
		aliases = append(aliases, Alias{a.name, kind})
	}
	return aliases
}

// KindOf returns the game of a name or of an alias.
func KindOf(games game.Kinds, name string) (kind game.Kind, ok bool) {
	for _, a := range Of(games) {
		if a.Name == name {
			return a.Kind, true
		}
	}
	return games.Named(name)
}

// Words returns a game with its default parameters as words of a command line: "connectn --width 3 --height 3".
func Words(kind game.Kind) string {
	words := kind.Name
	for _, p := range kind.Params {
		words += " --" + p.Name + " " + p.Text(p.Default)
	}
	return words
}
