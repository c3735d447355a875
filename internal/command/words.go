package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completing is the last word of a command line by which a shell asks for completions.
const completing = "--generate-bash-completion"

// aFlag matches a flag. A board may also begin with a dash, but without a letter after it.
var aFlag = regexp.MustCompile(`(?s)^--?([A-Za-z][A-Za-z0-9-]*)(=.*)?$`)

// reorder returns the words of a command line in the order in which the library reads them: the names of commands, the
// flags, and the arguments, after -- if one of them begins with a dash. The user may write flags anywhere, and help
// before or after the name of a command. called is the command as a user types it: "driver solve connectn".
func reorder(app *cli.App, words []string) (called string, ordered []string, err error) {
	here := &cli.Command{Flags: app.Flags, Subcommands: app.Commands, SkipFlagParsing: app.SkipFlagParsing}
	called = app.Name
	var path, flags, others []string
	help := false
	isHelp := func(word string) bool { return slices.Contains(cli.HelpFlag.Names(), word) }
	for len(words) > 0 && !here.SkipFlagParsing {
		word := words[0]
		words = words[1:]
		flag, sub := aFlag.FindStringSubmatch(word), here.Command(word)
		switch {
		case word == "--":
			others, words = append(others, words...), nil
		case flag != nil && isHelp(flag[1]), len(others) == 0 && sub == nil && isHelp(word):
			help = true
		case flag != nil && len(path) == 0 && slices.Contains(cli.VersionFlag.Names(), flag[1]):
			return called, []string{"--version"}, nil
		case flag != nil:
			f := findFlag(here, flag[1])
			if f == nil && !help {
				return called, nil, unknownFlag(here, flag[1])
			}
			n, err := wordsOf(f, flag, words)
			if err != nil && !help {
				return called, nil, err
			}
			flags, words = append(append(flags, word), words[:n]...), words[n:]
		case len(others) == 0 && sub != nil:
			here, path, called = sub, append(path, word), called+" "+word
		default:
			others = append(others, word)
		}
	}
	switch takesName := len(here.Subcommands) > 0 && (len(path) == 0 || len(here.Flags) == 0); {
	case takesName && (len(others) > 0 || !help): // its action reports the name, or that there is none
		flags = nil
	case help:
		flags, others, words = []string{"--help"}, nil, nil
	}
	others = append(others, words...)
	if slices.ContainsFunc(others, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		flags = append(flags, "--")
	}
	return called, slices.Concat(path, flags, others), nil
}

// wordsOf returns how many of the words behind a flag are its value: one or none. f is nil for an unknown flag.
func wordsOf(f cli.Flag, flag, words []string) (int, error) {
	if _, alone := f.(*cli.BoolFlag); f == nil || alone || flag[2] != "" {
		return 0, nil
	}
	if len(words) == 0 {
		return 0, Usagef("flag needs an argument: --%s", flag[1])
	}
	return 1, nil
}

// unknownFlag returns the error for a flag that a command does not have.
func unknownFlag(c *cli.Command, name string) error {
	if property := strings.TrimPrefix(name, "D"); property != name && findFlag(c, "D") != nil {
		return Usagef("-D%s…: expected a blank after -D", property)
	}
	var known []string
	for _, f := range c.Flags {
		known = append(known, f.Names()...)
	}
	return Usagef("unknown flag --%s%s", name, orLike(name, known, "--"))
}

// findFlag finds a flag of a command or of its subcommands; nil if there is none.
func findFlag(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	for _, sub := range c.Subcommands {
		if f := findFlag(sub, name); f != nil {
			return f
		}
	}
	return nil
}

// ValuesOf returns the values of flags of these names in the words of a command line, and the words without them. It
// is for flags that determine which games, and so which other flags, there are. A flag without a value has the value "".
func ValuesOf(words []string, names ...string) (values map[string][]string, others []string) {
	values = make(map[string][]string)
	for i := 0; i < len(words); i++ {
		flag := aFlag.FindStringSubmatch(words[i])
		if words[i] == "--" {
			return values, append(others, words[i:]...)
		}
		if flag == nil || !slices.Contains(names, flag[1]) {
			others = append(others, words[i])
			continue
		}
		value, given := strings.CutPrefix(flag[2], "=")
		if !given && i+1 < len(words) {
			i++
			value = words[i]
		}
		values[flag[1]] = append(values[flag[1]], value)
	}
	return values, others
}
