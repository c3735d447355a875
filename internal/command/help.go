package command

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// Group puts flags under a heading of the help.
func Group(name string, flags []cli.Flag) []cli.Flag {
	for _, f := range flags { // each type of the library has this field, but no interface sets it
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(name)
	}
	return flags
}

// columns is the width of the help.
const columns = 80

// commandHelp is the template of the help of a command, and appHelp that of a program.
const (
	commandHelp = `NAME:
   {{fill 3 (printf "%s - %s" .HelpName .Usage)}}

USAGE:
   {{if .UsageText}}{{fill 3 (usage .HelpName .UsageText)}}{{else}}{{.HelpName}}{{if not .VisibleCommands}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{end}}
{{if .Description}}
DESCRIPTION:
   {{fill 3 .Description}}
{{end}}{{range .VisibleCategories}}
{{or .Name "COMMANDS"}}:{{range .VisibleCommands}}
{{entry .Name .Usage}}{{end}}
{{end}}{{range .VisibleFlagCategories}}
{{or .Name "FLAGS"}}:{{range .Flags}}
{{flag .String}}{{end}}
{{else}}{{if .VisibleFlags}}
FLAGS:{{range .VisibleFlags}}
{{flag .String}}{{end}}
{{end}}{{end}}`
	appHelp = commandHelp + `
{{if .Commands}}{{.HelpName}} COMMAND --help describes a command; {{end}}{{.HelpName}} --version prints the build.
`
)

// init sets what the library has in variables. The line below the help of a program names --help.
func init() {
	cli.HelpPrinter = printHelp
	cli.HelpFlag = &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show help", Hidden: true}
}

// printHelp writes help with a template. Its functions wrap text.
func printHelp(out io.Writer, template string, of any) {
	list := func(name, means string) string {
		name = fmt.Sprintf("   %-*s", column-3, name)
		if len(name) > column {
			name += "\n" + strings.Repeat(" ", column)
		}
		return name + fill(column, means)
	}
	cli.HelpPrinterCustom(out, template, of, map[string]any{
		"fill":  fill,
		"entry": list,
		"flag": func(text string) string {
			name, means, _ := strings.Cut(text, "\t")
			return list(name, strings.NewReplacer(" (default: false)", "", "(default: required)", "(required)").Replace(means))
		},
		"usage": func(called, text string) string { // the program may have another name, like driver-aws
			is, _, _ := strings.Cut(called, " ")
			was, _, _ := strings.Cut(text, " ")
			return strings.ReplaceAll(is+strings.TrimPrefix(text, was), "\n"+was, "\n\n"+is)
		},
	})
}

// column is where the meaning of a name begins in a list.
const column = 27

// fill wraps the paragraphs of a text, and indents its lines except the first one. It keeps indented lines, and
// paragraphs that begin with a prompt, as they are.
func fill(indent int, text string) string {
	var lines []string
	open, example := false, false // whether the last line goes on, and is in such a paragraph
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		example = strings.HasPrefix(line, "$ ") || example && line != ""
		if line == "" || line[0] == ' ' || example {
			lines, open = append(lines, line), false
			continue
		}
		for word := range strings.SplitSeq(line, " ") { // keeps double blanks, as in a board
			if last := len(lines) - 1; open && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= columns-indent {
				lines[last] += " " + word
			} else {
				lines = append(lines, word)
			}
			open = true
		}
	}
	margin := "\n" + strings.Repeat(" ", indent)
	return strings.ReplaceAll(strings.Join(lines, margin), margin+"\n", "\n\n")
}

// manPage is the only argument of a command line that prints the manual page of a program.
const manPage = "--generate-man-page"

// writeManPage writes the manual page, in troff. What formats it is in programs that are built for that alone.
var writeManPage = func(io.Writer, *cli.App) error {
	return Usagef("%s needs a program that is built with -tags manpages", manPage)
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
