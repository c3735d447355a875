package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A call is a command line, once it is known which command it calls.
type call struct {
	path  []*cli.Command // the command, below those that it stands under; none: the application
	words []string       // after the names of these
	help  bool           // is wanted, and nothing else
}

// completing is what a shell adds to the words that are to be completed.
const completing = "--generate-bash-completion"

// callOf finds the command that words call. Its flags may stand anywhere before, between and
// after the names and its other words: here they are put after the names, before the other
// words, for the flag package stops at the first word that is none. The word help, or its flag, may stand before or after the name of a command.
func callOf(app *cli.App, words []string) (c call, err error) {
	c.words = words
	if n := len(words); n > 0 && words[n-1] == completing {
		return c, nil
	}
	commands := app.Commands
	var early []string // flags that stand before the name of a command
	for len(c.words) > 0 && len(commands) > 0 {
		word := c.words[0]
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		switch {
		case at >= 0:
			c.path = append(c.path, commands[at])
			commands = commands[at].Subcommands
		case slices.Contains([]string{"help", "h", "--help", "-h"}, word):
			c.help = true
		case !c.help && hasFlag(commands, word, func(cli.Flag) bool { return true }):
			n := 1
			if len(c.words) > 1 && !strings.Contains(word, "=") && hasFlag(commands, word, func(f cli.Flag) bool { return !standsAlone(f) }) {
				n = 2
			}
			early, c.words = append(early, c.words[:n]...), c.words[n:]
			continue
		case c.help:
			return c, Usagef("no help on %q%s", strings.Join(append(Names(c.path), c.words...), " "), orLike(word, Names(commands), ""))
		default:
			commands = nil
			continue
		}
		c.words = c.words[1:]
	}
	switch {
	case len(c.path) == 0 && !c.help:
		c.words = words
		return c, nil
	case !c.help && (len(c.path[len(c.path)-1].Flags) > 0 || len(c.path[len(c.path)-1].Subcommands) == 0):
		c.words = append(early, c.words...)
	}
	switch {
	case c.help && len(c.words) > 0:
		return c, Usagef("no help on %q", strings.Join(append(Names(c.path), c.words...), " "))
	case len(c.path) > 0 && !c.help:
		if last := c.path[len(c.path)-1]; (len(last.Flags) > 0 || len(last.Subcommands) == 0) && !last.SkipFlagParsing {
			c.words, c.help, err = inOrder(last, c.words)
		}
	}
	return c, err
}

// args are the words of a process for the call.
func (c call) args(program string) []string {
	return slices.Concat([]string{program}, Names(c.path), c.words)
}

// name is how people call the command: "driver solve connectn". A program that is called
// STEP_map has the name of its step already.
func (c call) name(app *cli.App) string {
	words := []string{app.Name}
	for _, name := range Names(c.path) {
		if !strings.HasPrefix(app.Name, name+"_") {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

// aFlag is what a flag looks like. A board may begin with a dash too, but no letter
// follows.
var aFlag = regexp.MustCompile(`(?s)^--?([A-Za-z][A-Za-z0-9-]*)(=.*)?$`)

// hasFlag reports whether one of these commands, or of those below, has such a flag with the
// name of a word.
func hasFlag(commands []*cli.Command, word string, such func(cli.Flag) bool) bool {
	flag := aFlag.FindStringSubmatch(word)
	return flag != nil && slices.ContainsFunc(commands, func(c *cli.Command) bool {
		return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag[1]) && such(f) }) ||
			hasFlag(c.Subcommands, word, such)
	})
}

// inOrder puts the flags of a command before its other words; help is one of them.
func inOrder(c *cli.Command, words []string) (ordered []string, help bool, err error) {
	takesWord := make(map[string]bool)
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			takesWord[name] = !standsAlone(f)
		}
	}
	var others []string
	for i := 0; i < len(words); i++ {
		if words[i] == "--" {
			others = append(others, words[i+1:]...)
			break
		}
		flag := aFlag.FindStringSubmatch(words[i])
		if flag == nil {
			others = append(others, words[i])
			continue
		}
		if flag[1] == "help" || flag[1] == "h" {
			return words, true, nil
		}
		ordered = append(ordered, words[i])
		if takesWord[flag[1]] && flag[2] == "" {
			if i++; i == len(words) {
				return nil, false, Usagef("%s: what it should be is missing", words[i-1])
			}
			ordered = append(ordered, words[i])
		}
	}
	if len(others) > 0 && slices.ContainsFunc(c.Subcommands, func(sub *cli.Command) bool { return sub.HasName(others[0]) }) {
		return words, false, nil // some are of that one
	}
	if slices.ContainsFunc(others, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		ordered = append(ordered, "--")
	}
	return append(ordered, others...), false, nil
}

// standsAlone reports whether a flag has no word after it.
func standsAlone(f cli.Flag) bool {
	if g, ok := f.(*cli.GenericFlag); ok {
		optional, ok := g.Value.(interface{ IsBoolFlag() bool })
		return ok && optional.IsBoolFlag()
	}
	_, ok := f.(*cli.BoolFlag)
	return ok
}
