package command

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// A call is a command line, split into the command that it calls and the words for that
// command.
type call struct {
	path  []*cli.Command // the command, preceded by those that contain it; empty for the application
	words []string       // flags, then arguments
	help  bool           // the call only requests help
}

// completing is the word that shell completion adds to the command line.
const completing = "--generate-bash-completion"

// aFlag matches a flag. A board may also begin with a dash, but without a letter after it.
var aFlag = regexp.MustCompile(`(?s)^--?([A-Za-z][A-Za-z0-9-]*)(=.*)?$`)

// callOf finds the command that words call. Flags may come before, between and after the names
// of commands and the arguments. Because the flag package stops at the first word that is not a
// flag, callOf moves the flags before the arguments. The word help, or its flag, may come
// before or after the name of a command.
func callOf(app *cli.App, words []string) (c call, err error) {
	here := &cli.Command{Flags: app.Flags, Subcommands: app.Commands}
	var flags, others []string
	for len(words) > 0 && !here.SkipFlagParsing {
		word := words[0]
		words = words[1:]
		flag := aFlag.FindStringSubmatch(word)
		sub := slices.IndexFunc(here.Subcommands, func(c *cli.Command) bool { return c.HasName(word) })
		switch {
		case word == "--":
			others, words = append(others, words...), nil
		case flag != nil && slices.Contains(cli.HelpFlag.Names(), flag[1]):
			c.help = true
		case flag != nil:
			f := findFlag(here, flag[1])
			if f == nil && !c.help {
				if instead := cmp.Or(removed[flag[1]], removed[here.Name+" --"+flag[1]]); instead != "" {
					return c, Usagef("--%s was removed: %s", flag[1], instead)
				}
				if property := strings.TrimPrefix(flag[1], "D"); property != flag[1] && findFlag(here, "D") != nil {
					return c, Usagef("-D%s%s: expected a blank after -D", property, flag[2])
				}
				return c, Usagef("unknown flag --%s%s", flag[1], orLike(flag[1], longNames(here.Flags), "--"))
			}
			flags = append(flags, word)
			value, given := strings.CutPrefix(flag[2], "=")
			if c.help || !given && !takesWord(f) {
				break
			}
			if !given {
				if len(words) == 0 {
					return c, Usagef("flag needs an argument: --%s", flag[1])
				}
				value, words = words[0], words[1:]
				flags = append(flags, value)
			}
			if err := checkValue(f, flag[1], value); err != nil {
				return c, err
			}
		case len(others) == 0 && sub >= 0:
			here = here.Subcommands[sub]
			c.path = append(c.path, here)
		case len(others) == 0 && slices.Contains(cli.HelpFlag.Names(), word):
			c.help = true
		default:
			others = append(others, word)
		}
	}
	if len(here.Flags) == 0 && len(here.Subcommands) > 0 { // it only takes the name of a command
		flags, c.help = nil, c.help && len(others) == 0
	}
	if slices.ContainsFunc(others, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		flags = append(flags, "--")
	}
	c.words = slices.Concat(flags, others, words)
	return c, nil
}

// name returns the command as a user types it: "driver solve connectn". If the program is
// called STEP_map, its name already contains the step.
func (c call) name(app *cli.App) string {
	words := []string{app.Name}
	for _, name := range Names(c.path) {
		if !strings.HasPrefix(app.Name, name+"_") {
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

// checkValue returns an error if the value of a flag is not the word, number or time that it takes.
func checkValue(f cli.Flag, name, value string) (err error) {
	want := "an integer"
	switch f.(type) {
	case *cli.BoolFlag:
		want = "true or false"
		_, err = strconv.ParseBool(value)
	case *cli.IntFlag, *cli.Int64Flag:
		_, err = strconv.ParseInt(value, 0, 64)
	case *cli.Uint64Flag:
		want += " of 0 or more"
		_, err = strconv.ParseUint(value, 0, 64)
	case *cli.Float64Flag:
		want = "a number"
		_, err = strconv.ParseFloat(value, 64)
	case *cli.DurationFlag:
		want = "a time, such as 90s or 2m"
		_, err = time.ParseDuration(value)
	}
	if err != nil {
		return Usagef("--%s %s: expected %s", name, value, want)
	}
	return nil
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

// removed says what to use in place of flags of earlier versions: of all commands, or of one.
var removed = map[string]string{
	"clock":           "--time limits the time on the clock, and --grace allows for delays of the machine",
	"export --header": "--format csv writes a header line",
	"export --value":  "--outcome takes a word or a value byte",
	"table":           "leave it out, every table has all tiers",
}

// longNames returns the names of flags that have more than one letter.
func longNames(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return len(name) == 1 })
}

// takesWord reports whether the value of a flag may be the next word.
func takesWord(f cli.Flag) bool {
	if g, ok := f.(*cli.GenericFlag); ok {
		optional, ok := g.Value.(interface{ IsBoolFlag() bool })
		return !ok || !optional.IsBoolFlag()
	}
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

// manPage is the only argument of a command line that prints the command's manual page.
const manPage = "--generate-man-page"
