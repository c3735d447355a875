package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// The library's own App.Run is not used: it links text/template, with which the linker keeps
// every exported method of every type in the program.

// execute parses the flags of a call, and calls the action of its command.
func execute(ctx context.Context, app *cli.App, called call) error {
	cmd := &cli.Command{Name: app.Name, Flags: app.Flags, Action: app.Action}
	if n := len(called.path); n > 0 {
		cmd = called.path[n-1]
	}
	set := flag.NewFlagSet(cmd.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for _, f := range cmd.Flags {
		if err := f.Apply(set); err != nil {
			return usageError{err}
		}
	}
	words := called.words
	if cmd.SkipFlagParsing {
		words = append([]string{"--"}, words...)
	}
	if err := set.Parse(words); err != nil {
		return usageError{err}
	}
	given := make(map[string]string)
	set.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	for _, f := range cmd.Flags { // each name of a flag has a value of its own
		for _, name := range f.Names()[1:] {
			if value, ok := given[name]; ok {
				set.Set(f.Names()[0], value) // it has been parsed before
			}
		}
	}
	c := cli.NewContext(app, set, nil)
	c.Context, c.Command = ctx, cmd
	return cmd.Action(c)
}

// complete writes what a shell may complete after words: the subcommands of the command that
// they call, or its flags if the last word is the beginning of one.
func complete(out io.Writer, app *cli.App, words []string) {
	here, last := &cli.Command{Flags: app.Flags, Subcommands: app.Commands}, ""
	for _, last = range words {
		if i := slices.IndexFunc(here.Subcommands, func(c *cli.Command) bool { return c.HasName(last) }); i >= 0 {
			here = here.Subcommands[i]
		}
	}
	var could []string
	switch {
	case strings.HasPrefix(last, "-"):
		for _, name := range longNames(append(here.Flags, cli.HelpFlag)) {
			if strings.HasPrefix("--"+name, last) {
				could = append(could, "--"+name)
			}
		}
	case here.BashComplete != nil:
		here.BashComplete(cli.NewContext(app, nil, nil))
	case len(here.Subcommands) > 0:
		could = append(Names(here.Subcommands), "help")
	}
	for _, word := range could {
		fmt.Fprintln(out, word)
	}
}

// A List is the value of a flag that may be repeated: the values in their order.
type List []string

// Set appends a value.
func (l *List) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// String returns "", because a List has no default.
func (l *List) String() string { return "" }

// Get returns the List, as the library's Context.Value needs it.
func (l *List) Get() any { return *l }

// ListFlag returns a flag that may be repeated.
func ListFlag(name, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage + "; may be repeated", Value: new(List)}
}

// ListOf returns the values of a ListFlag.
func ListOf(c *cli.Context, name string) []string { return *c.Generic(name).(*List) }
