package command

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Group puts flags under a heading of the help.
func Group(name string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags { // each type of the library has the field, and no interface to set it
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(name)
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

// A describedFlag is a flag that can say all that help says of it, as those of the library
// can.
type describedFlag interface {
	cli.DocGenerationFlag
	cli.CategorizableFlag
}

// flags lists flags.
func (h *helper) flags(flags []cli.Flag) {
	var described []describedFlag
	for _, f := range flags {
		if d, ok := f.(describedFlag); ok {
			described = append(described, d)
		}
	}
	headings, by := groups(described, func(f describedFlag) string { return cmp.Or(f.GetCategory(), "FLAGS") })
	for _, heading := range headings {
		h.title(heading)
		var entries []entry
		for _, f := range by[heading] {
			entries = append(entries, entryOf(f))
		}
		h.list(entries)
	}
}

// inQuotes is the word that stands for the value of a flag, in its description.
var inQuotes = regexp.MustCompile("`([^`]*)`")

// entryOf is a flag, what it means, and what it is if it is not given.
func entryOf(f describedFlag) (e entry) {
	value, means := "VALUE", f.GetUsage()
	if quoted := inQuotes.FindStringSubmatch(means); quoted != nil {
		value, means = quoted[1], inQuotes.ReplaceAllString(means, "$1")
	} else {
		switch f.(type) {
		case *cli.IntFlag, *cli.Int64Flag, *cli.Uint64Flag:
			value = "N"
		case *cli.DurationFlag:
			value = "TIME"
		}
	}
	for i, name := range f.Names() {
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		if i > 0 {
			e.name += ", "
		}
		e.name += dashes + name
	}
	alone := standsAlone(f)
	if !alone {
		e.name += " " + value
	}
	if text := strings.Trim(f.GetDefaultText(), `"`); text != "" && text != "[]" && text != "0" && !(alone && text == "false") {
		means += fmt.Sprintf(" (default: %s)", text)
	}
	if names := f.GetEnvVars(); len(names) > 0 {
		means += fmt.Sprintf(" [$%s]", names[0])
	}
	return entry{e.name, means}
}

// orLike asks whether a word was meant for another, with what stands before it; "" if none
// is like it.
func orLike(word string, others []string, before string) string {
	if like := Like(word, others); like != "" {
		return fmt.Sprintf(": did you mean %s%s?", before, like)
	}
	return ""
}

// undefinedFlag is the error of the flag package about a flag that there is not.
var undefinedFlag = regexp.MustCompile(`^flag provided but not defined: -(.*)$`)

// wrongValue is its error about what a flag cannot be.
var wrongValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-([^ :]+): .*$`)

// wantedBy is what a flag may be.
func wantedBy(flags []cli.Flag, name string) string {
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "a time, such as 500ms or 10s"
		case *cli.Uint64Flag:
			return "a whole number, 0 or more"
		case *cli.Float64Flag:
			return "a number"
		case *cli.BoolFlag:
			return "true or false"
		}
	}
	return "a whole number"
}

// onUsageError makes an error of usage of one that the flags of a command line have, and
// says which flag may be meant.
func onUsageError(c *cli.Context, err error, _ bool) error {
	flags := c.App.Flags
	if c.Command != nil && c.Command.Name != "" {
		flags = append(c.Command.Flags, flags...)
	}
	if wrong := wrongValue.FindStringSubmatch(err.Error()); wrong != nil {
		return Usagef("--%s %s: expected %s", wrong[2], wrong[1], wantedBy(flags, wrong[2]))
	}
	found := undefinedFlag.FindStringSubmatch(err.Error())
	if found == nil {
		return usageError{err}
	}
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, name)
			}
		}
	}
	return Usagef("there is no flag --%s%s", found[1], orLike(found[1], names, "--"))
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
