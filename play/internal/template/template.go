// Package template contains programs that play, complete but for the choice of a move: their
// base classes implement the protocol of package gtp. The package does not run them.
package template

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/network"
	"github.com/treereduce/treereduce/python"
)

//go:embed engine.py assignment2.py Main.java Network.java goengine/main.go
var files embed.FS

// sources are the files of the templates by their names.
var sources = map[string]string{"python": "engine.py", "java": "Main.java", "go": "goengine/main.go", "cse150": "assignment2.py", "cs61b": "Network.java"}

// base is the line in a Python program that is replaced by the base class.
var base = regexp.MustCompile(`(?m)^from treereduce\.engine import .*\n`)

// javaBase is the line before the base class in Main.java.
const javaBase = "/** The base class: "

// Names returns the names of the templates for a game: languages and, for Mancala and Network, cse150 and cs61b,
// which turn a player class of that course into a program.
func Names(g game.Game) []string {
	names := []string{"python", "java", "go"}
	if mancala.Is(g) {
		names = append(names, "cse150")
	}
	if _, ok := g.(*network.Rules); ok {
		names = append(names, "cs61b")
	}
	return names
}

// Program returns the program of that name for a game.
func Program(name string, g game.Game) (string, error) {
	if !slices.Contains(Names(g), name) {
		return "", fmt.Errorf("template %q: expected %s", name, strings.Join(Names(g), ", "))
	}
	text, err := files.ReadFile(sources[name])
	if err != nil {
		return "", err
	}
	if name == "cs61b" {
		main, err := files.ReadFile(sources["java"])
		if err != nil {
			return "", err
		}
		text = append(append(text, '\n'), main[bytes.Index(main, []byte(javaBase)):]...)
	}
	words := strings.Fields(g.Spec())
	flags := ""
	for _, word := range words[1:] {
		flags += " --" + strings.Replace(word, "=", " ", 1)
	}
	parameters := cmp.Or(strings.Join(words[1:], ", "), "none")
	var moves []string
	for _, m := range g.Moves(nil, g.Start()) {
		moves = append(moves, m.Name)
	}
	return strings.NewReplacer("GAME", words[0], "MATCH", "play match "+words[0]+flags+" --games 10", "EXAMPLE", strings.Join(moves[:min(2, len(moves))], " or "), "PARAMETERS", parameters).
		Replace(base.ReplaceAllLiteralString(string(text), python.Engine)), nil
}
