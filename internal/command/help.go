package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Group puts flags under a heading of the help.
func Group(name string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags { // the library has the field in each type, and no interface that sets it
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.Category = name
		case *cli.DurationFlag:
			f.Category = name
		case *cli.Float64Flag:
			f.Category = name
		case *cli.IntFlag:
			f.Category = name
		case *cli.Int64Flag:
			f.Category = name
		case *cli.StringFlag:
			f.Category = name
		case *cli.StringSliceFlag:
			f.Category = name
		case *cli.Uint64Flag:
			f.Category = name
		}
	}
	return flags
}

// The columns of help: as many as a terminal has, but no more than are easily read; as
// many as most have, where it is none.
const (
	usualColumns = 80
	leastColumns = 40
	mostColumns  = 100
)

// columnsOf is how many columns there are for help.
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

// margin is how far the text of help stands in.
const margin = 3

// writeHelp writes what there is to know of the command of a call: what it is for, its
// words, its commands and its flags, these under their headings, in the order in which the
// command has them.
func writeHelp(out io.Writer, app *cli.App, c call) error {
	h := helper{columns: columnsOf(out)}
	name := c.name(app)
	what := &cli.Command{Usage: app.Usage, UsageText: app.UsageText, ArgsUsage: "COMMAND [flags]", Description: app.Description}
	commands, flags := app.Commands, []cli.Flag(nil)
	if len(c.path) > 0 {
		what = c.path[len(c.path)-1]
		commands, flags = what.Subcommands, what.Flags
	}
	h.title("NAME")
	h.text(name + " - " + what.Usage)
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
		h.text(line)
	}
	if what.Description != "" {
		h.title("DESCRIPTION")
		h.text(what.Description)
	}
	h.commands(commands)
	h.flags(flags)
	if len(c.path) == 0 {
		fmt.Fprintf(&h.to, "\n%s COMMAND --help tells more; %s --version: which build it is.\n", name, name)
	}
	_, err := io.WriteString(out, h.to.String())
	return err
}

// A helper writes help.
type helper struct {
	to      strings.Builder
	columns int
}

// title begins a part.
func (h *helper) title(title string) {
	if h.to.Len() > 0 {
		h.to.WriteByte('\n')
	}
	h.to.WriteString(title + ":\n")
}

// text writes paragraphs, filled. Lines that stand in, and paragraphs that begin with a
// prompt, are as they are.
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

// fill writes words after what begins their first line; the others stand in.
func (h *helper) fill(begin string, in int, text string) {
	line, empty := begin, true
	for word := range strings.SplitSeq(strings.TrimSpace(text), " ") { // two blanks stay two, as in a board
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

// An entry is a line of a list: a name and what it means.
type entry struct{ name, means string }

// mostName is the longest name that has what it means beside it: of a longer one that
// stands below.
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

// groups are things in lists, by their headings, in the order in which they come first.
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

// flags lists flags as the library describes them.
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
			name, _, _ = strings.Cut(name, " [ ") // of a flag that may be repeated
			entries = append(entries, entry{name, strings.TrimSuffix(means, " (default: false)")})
		}
		h.list(entries)
	}
}

// version is that of the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "of an unknown version"
	}
	return info.Main.Version + ", " + info.GoVersion
}

// The scripts of completion: each asks the command itself what may come.
var completions = map[string]string{
	"bash": `_%[1]s_complete() {
	local word=${COMP_WORDS[COMP_CWORD]} words=("${COMP_WORDS[@]:0:COMP_CWORD}")
	[[ $word == -* ]] && words+=("$word")
	mapfile -t COMPREPLY < <(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word")
}
complete -o default -F _%[1]s_complete %[1]s
`,
	"zsh": `#compdef %[1]s
_%[1]s() {
	local -a before could
	before=("${(@)words[1,CURRENT-1]}")
	[[ $words[CURRENT] == -* ]] && before+=("$words[CURRENT]")
	could=("${(@f)$("${before[@]}" --generate-bash-completion 2>/dev/null)}")
	compadd -a could || _files
}
compdef _%[1]s %[1]s
`,
	"fish": `function __%[1]s_complete
	set -l before (commandline -opc)
	set -l word (commandline -ct)
	string match -q -- '-*' $word; and set -a before $word
	$before --generate-bash-completion 2>/dev/null
end
complete -c %[1]s -a '(__%[1]s_complete)'
`,
}

// CompletionCommand prints what makes a shell complete the words of a command.
func CompletionCommand(name string) *cli.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cli.Command{
		Name:      "completion",
		Usage:     "what makes a shell complete the words of this command",
		UsageText: name + " completion bash|zsh|fish",
		Description: "   bash:  source <(" + name + " completion bash)\n" +
			"   zsh:   source <(" + name + " completion zsh)\n" +
			"   fish:  " + name + " completion fish | source",
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, strings.Join(shells, "\n")) },
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok || c.Args().Len() != 1 {
				return Usagef("expected a shell: %s", strings.Join(shells, ", "))
			}
			_, err := fmt.Fprintf(c.App.Writer, script, name)
			return err
		},
	}
}
