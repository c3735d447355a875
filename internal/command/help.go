package command

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Group puts flags under a heading of the help.
func Group(name string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			f.Category = name
		case *cli.StringSliceFlag:
			f.Category = name
		case *cli.IntFlag:
			f.Category = name
		case *cli.Int64Flag:
			f.Category = name
		case *cli.BoolFlag:
			f.Category = name
		case *cli.DurationFlag:
			f.Category = name
		case *cli.Float64Flag:
			f.Category = name
		}
	}
	return flags
}

// quietHelp leaves out of the help of flags that they are off by default.
func quietHelp(flags []cli.Flag) {
	for _, f := range flags {
		if f, ok := f.(*cli.BoolFlag); ok && !f.Value {
			f.DisableDefaultText = true
		}
	}
}

// helpPath turns help COMMAND SUBCOMMAND into COMMAND SUBCOMMAND --help.
func helpPath(app *cli.App, args []string) ([]string, error) {
	if len(args) < 3 || args[1] != "help" && args[1] != "h" {
		return args, nil
	}
	commands := app.Commands
	for _, word := range args[2:] {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
		if i < 0 {
			return nil, Usagef("no help on %q%s", strings.Join(args[2:], " "), orLike(word, Names(commands), ""))
		}
		commands = commands[i].Subcommands
	}
	return slices.Concat(args[:1], args[2:], []string{"--help"}), nil
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

// onUsageError makes an error of usage of one that the flags of a command line have, and
// says which flag may be meant.
func onUsageError(c *cli.Context, err error, _ bool) error {
	found := undefinedFlag.FindStringSubmatch(err.Error())
	if found == nil {
		return usageError{err}
	}
	flags := c.App.Flags
	if c.Command != nil && c.Command.Name != "" {
		flags = append(c.Command.Flags, flags...)
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
		Description: "bash:  source <(" + name + " completion bash)\n" +
			"zsh:   source <(" + name + " completion zsh)\n" +
			"fish:  " + name + " completion fish | source",
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
