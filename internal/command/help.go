package command

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Group puts flags under a heading of the help.
func Group(name string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags { // each type of the library has this field, but no interface sets it
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(name)
	}
	return flags
}

// The width of the help in columns: that of the terminal, within these limits; usualColumns if
// it is not a terminal.
const (
	usualColumns = 80
	leastColumns = 40
	mostColumns  = 100
)

// columnsOf returns the number of columns for help on a stream.
func columnsOf(stream any) int {
	if o, ok := stream.(*output); ok {
		stream = o.to
	}
	if f, ok := stream.(*os.File); ok && IsTerminal(f) {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return min(max(columns, leastColumns), mostColumns)
		}
	}
	return usualColumns
}

// margin is the indentation of help text.
const margin = 3

// writeHelp writes the help of a call's command: its purpose, usage, subcommands and flags. The
// flags are grouped by headings, in the order in which the command defines them.
func writeHelp(out io.Writer, app *cli.App, c call) error {
	h := helper{columns: columnsOf(out)}
	name := c.name(app)
	what := &cli.Command{Usage: app.Usage, UsageText: app.UsageText, ArgsUsage: "COMMAND [flags]", Description: app.Description}
	commands, flags := app.Commands, []cli.Flag(nil)
	if len(c.path) > 0 {
		what = c.path[len(c.path)-1]
		commands, flags = what.Subcommands, what.Flags
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		v, ok := f.(cli.VisibleFlag)
		return ok && !v.IsVisible()
	})
	h.title("NAME")
	purpose := what.Usage
	if what.HelpName != "" { // what is the command for one game, whose usage describes that game
		purpose = what.HelpName + " (" + what.Usage + ")"
	}
	h.text(name + " - " + purpose)
	h.title("USAGE")
	usage := what.UsageText
	if usage == "" {
		usage = name
		if len(flags) > 0 {
			usage += " [flags]"
		}
		if what.ArgsUsage != "" {
			usage += " " + what.ArgsUsage
		}
	}
	for line := range strings.SplitSeq(usage, "\n") {
		_, rest, _ := strings.Cut(line, " ")
		h.text(app.Name + " " + rest) // the program may have another name, like driver-aws
	}
	if what.Description != "" {
		h.title("DESCRIPTION")
		h.text(what.Description)
	}
	h.commands(commands)
	h.flags(flags)
	if len(c.path) == 0 {
		fmt.Fprintf(&h.to, "\n%s COMMAND --help describes a command; %s --version prints the build.\n", name, name)
	}
	_, err := io.WriteString(out, h.to.String())
	return err
}

// A helper formats help.
type helper struct {
	to      strings.Builder
	columns int
}

// title begins a section.
func (h *helper) title(title string) {
	if h.to.Len() > 0 {
		h.to.WriteByte('\n')
	}
	h.to.WriteString(title + ":\n")
}

// text writes paragraphs, wrapped. It keeps indented lines, and paragraphs that begin with a
// prompt, as they are.
func (h *helper) text(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			h.to.WriteByte('\n')
		}
		example, filled := strings.HasPrefix(paragraph, "$ "), ""
		flush := func() {
			if filled != "" {
				h.fill(strings.Repeat(" ", margin), margin, filled)
			}
			filled = ""
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			if example || strings.HasPrefix(line, " ") {
				flush()
				fmt.Fprintf(&h.to, "%*s%s\n", margin, "", line)
				continue
			}
			filled += " " + line
		}
		flush()
	}
}

// fill wraps text after the beginning of its first line; the other lines are indented.
func (h *helper) fill(begin string, in int, text string) {
	line, empty := begin, true
	for word := range strings.SplitSeq(strings.TrimSpace(text), " ") { // keeps double blanks, as in a board
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > h.columns {
			h.to.WriteString(line + "\n")
			line, empty = strings.Repeat(" ", in), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	h.to.WriteString(line + "\n")
}

// An entry is a line of a list: a name and its meaning.
type entry struct{ name, means string }

// mostName is the longest name that has its meaning on the same line; the meaning of a longer
// name is on the next line.
const mostName = 22

// list writes entries.
func (h *helper) list(entries []entry) {
	column := 0
	for _, e := range entries {
		if n := len(e.name); n <= mostName {
			column = max(column, n)
		}
	}
	column += margin + 2
	for _, e := range entries {
		begin := fmt.Sprintf("%*s%s", margin, "", e.name)
		if len(begin) > column-2 {
			h.to.WriteString(begin + "\n")
			begin = ""
		}
		h.fill(fmt.Sprintf("%-*s", column, begin), column, e.means)
	}
}

// groups groups things by heading, in the order in which the headings first occur.
func groups[T any](things []T, heading func(T) string) (headings []string, by map[string][]T) {
	by = make(map[string][]T)
	for _, t := range things {
		name := heading(t)
		if by[name] == nil {
			headings = append(headings, name)
		}
		by[name] = append(by[name], t)
	}
	return headings, by
}

// commands lists commands.
func (h *helper) commands(commands []*cli.Command) {
	headings, by := groups(commands, func(c *cli.Command) string { return cmp.Or(c.Category, "COMMANDS") })
	for _, heading := range headings {
		h.title(heading)
		var entries []entry
		for _, c := range by[heading] {
			entries = append(entries, entry{c.Name, c.Usage})
		}
		h.list(entries)
	}
}

// flags lists flags, with the library's descriptions.
func (h *helper) flags(flags []cli.Flag) {
	headings, by := groups(flags, func(f cli.Flag) string {
		if c, ok := f.(cli.CategorizableFlag); ok {
			return cmp.Or(c.GetCategory(), "FLAGS")
		}
		return "FLAGS"
	})
	for _, heading := range headings {
		h.title(heading)
		var entries []entry
		for _, f := range by[heading] {
			name, means, _ := strings.Cut(f.String(), "\t")
			means = strings.Replace(strings.TrimSuffix(means, " (default: false)"), "(default: required)", "(required)", 1)
			entries = append(entries, entry{name, means})
		}
		h.list(entries)
	}
}

// Version returns the version of the module from which the program is built, "" if it is unknown.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return ""
}

// completions contains the completion script of each shell, with PROGRAM for the name of the command.
// The scripts run the command itself to get the candidates.
//
//go:embed completion
var completions embed.FS

// CompletionCommand returns the command that prints a shell's completion script for the command
// of that name.
func CompletionCommand(name string) *cli.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cli.Command{
		Name:      "completion",
		Usage:     "print shell completion code",
		UsageText: name + " completion bash|zsh|fish|powershell",
		Description: "   bash:        source <(" + name + " completion bash)\n" +
			"   zsh:         source <(" + name + " completion zsh)\n" +
			"   fish:        " + name + " completion fish | source\n" +
			"   PowerShell:  " + name + " completion powershell | Out-String | Invoke-Expression",
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, strings.Join(shells, "\n")) },
		Action: func(c *cli.Context) error {
			script, err := completions.ReadFile("completion/" + c.Args().First())
			if err != nil || c.Args().Len() != 1 {
				return Usagef("expected a shell: %s", strings.Join(shells, ", "))
			}
			_, err = c.App.Writer.Write(bytes.ReplaceAll(script, []byte("PROGRAM"), []byte(name)))
			return err
		},
	}
}
