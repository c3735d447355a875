// Package alias has the names that people know for games with certain parameters.
package alias

import (
	"slices"

	"github.com/treereduce/treereduce/game"
)

// An alias is a name that people know for a game with certain parameters.
type alias struct {
	name, kind string
	args       []int
}

var aliases = []alias{
	{"connect4", "connectn", []int{7, 6, 4}},
	{"fourinarow", "connectn", []int{7, 6, 4}},
	{"tictactoe", "mnk", []int{3, 3, 3}},
	{"noughts", "mnk", []int{3, 3, 3}},
}

// of returns the kind that the alias stands for; ok is false if games does not contain it, or
// has a game with the name of the alias.
func (a alias) of(games game.Kinds) (kind game.Kind, ok bool) {
	if _, taken := games.Named(a.name); taken {
		return kind, false
	}
	kind, ok = games.Named(a.kind)
	return kind, ok && len(kind.Params) == len(a.args)
}

// with returns kind with the parameters of the alias as defaults.
func (a alias) with(kind game.Kind) game.Kind {
	kind.Params = slices.Clone(kind.Params)
	for i, value := range a.args {
		kind.Params[i].Default = value
	}
	return kind
}

// KindOf returns the game of a name or of an alias, whose parameters are then the defaults.
func KindOf(games game.Kinds, name string) (kind game.Kind, ok bool) {
	for _, a := range aliases {
		if kind, ok := a.of(games); ok && a.name == name {
			return a.with(kind), true
		}
	}
	return games.Named(name)
}

// Names returns the aliases of games.
func Names(games game.Kinds) (names []string) {
	for _, a := range aliases {
		if _, ok := a.of(games); ok {
			names = append(names, a.name)
		}
	}
	return names
}
