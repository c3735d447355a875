package command_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/notation"
)

// runIt runs a command line of an application that has the command read with a subcommand for
// each solvable game, and fail.
func runIt(line, stdin string) (status int, stdout, stderr string) {
	kinds := game.Kinds{connectn.Kind, quickcross.Kind}
	read := &cli.Command{Name: "read", Usage: "print positions", ArgsUsage: "[POSITION]",
		Description: "Prints positions, one line each. " + strings.Repeat("A long line is wrapped. ", 10) + "\n\n  $ x read connectn",
		Flags:       command.Group("input", []cli.Flag{command.StartFlag(), command.FromFlag()})}
	app := &cli.App{Name: "x", Usage: "try commands", Commands: []*cli.Command{
		command.OfGame(kinds, read, func(c *cli.Context, kind game.Kind) error {
			g, err := command.GameOf(c, kind)
			if err != nil {
				return err
			}
			form, err := command.FormOf(c)
			if err != nil {
				return err
			}
			return command.Positions{Game: g, From: form}.Each(context.Background(), c, func(out io.Writer, a notation.Parsed) error {
				if v := g.Primitive(a.Position); v != 0 {
					which, how := notation.ValueOf(g, a.Position, g.Values().Ended(v, g.ToMove(a.Position))).Ended(g, a.Position)
					fmt.Fprintln(out, which+how)
					return nil
				}
				fmt.Fprintf(out, "%q\n", g.AppendText(nil, a.Position))
				return nil
			})
		}),
		{Name: "fail", Usage: "fail", Flags: []cli.Flag{&cli.StringFlag{Name: "how"}, &cli.BoolFlag{Name: "yes"}}, Action: func(c *cli.Context) error {
			if err := command.NoArguments(c, ": --how explains it"); err != nil {
				return err
			}
			ctx, stop := command.Interruptible(c.Context)
			defer stop()
			switch c.String("how") {
			case "twice":
				return errors.Join(errors.New("first\x1b"), errors.New("second"))
			case "reported":
				return command.ErrReported
			case "confirm":
				return command.Confirm(ctx, c.App, c.Bool("yes"), "it takes an hour")
			case "signal":
				this, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = this.Signal(syscall.SIGTERM)
				}
				if err != nil {
					return err
				}
				<-ctx.Done()
				return command.ErrInterrupted
			}
			return nil
		}},
	}}
	var out, errs strings.Builder
	status = command.Run(context.Background(), app, append([]string{"x"}, strings.Fields(line)...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// TestRun checks exit codes and output of an application's commands.
func TestRun(t *testing.T) {
	const board = "read connectn --width 2 --height 2 --connect 2 "
	for _, test := range []struct {
		line, stdin    string
		status         int
		stdout, stderr string
	}{
		{"fail", "", 0, "", ""},
		{"fail --how twice", "", 1, "", "x: first\\x1b\nx: second\n"},
		{"fail --how reported", "", 1, "", ""},
		{"fail now", "", 2, "", "x: unexpected argument \"now\": --how explains it\nx: see x fail --help\n"},
		{"fail --how confirm", "yes\n", 1, "", "x: it takes an hour: --yes (make: YES=1) starts\n"},
		{"fail --how confirm --yes", "", 0, "", "x: it takes an hour\n"},
		{"fail --how signal", "", 143, "", "x: stopped\n"},
		{board + "--start", "", 0, "\"    \"\n", ""},
		{board + "0 1", "", 0, "\"X O \"\n", ""},
		{board + "0 1 0", "", 0, "\"XXO \" is finished: X wins\n", ""},
		{board + "--from hash #0", "", 0, "\"    \"\n", ""},
		{board + "--from sky 0", "", 2, "", "x: --from"},
		{board, "0\n9\n0 1\n", 1, "\"X   \"\n\"X O \"\n", "x: stdin:2: expected a position (neither a board nor moves: "},
		{"read connectn --width 0", "", 2, "", "x: connectn: width"},
		{"read network --start", "", 2, "", "x: unknown game \"network\""},
		{"read quickcross --width 2 --height 2 --connect 2 a1- a2-", "", 0, "hash 10: you have lost\n", ""},
		{"--version", "", 0, "x version ", ""},
	} {
		status, stdout, stderr := runIt(test.line, test.stdin)
		if status != test.status || !strings.Contains(stdout, test.stdout) || !strings.HasPrefix(stderr, test.stderr) ||
			test.stdout == "" && stdout != "" || test.stderr == "" && stderr != "" {
			t.Errorf("%s: exit status %d, %q, %q; want %d, %q, %q", test.line, status, stdout, stderr, test.status, test.stdout, test.stderr)
		}
	}
}

// TestHelp checks that the help has every section.
func TestHelp(t *testing.T) {
	for line, want := range map[string][]string{
		"--help":               {"NAME:\n   x - try commands\n", "COMMANDS:\n", "   read                    print positions\n", "x COMMAND --help describes a command"},
		"read --help":          {"x read GAME [flags]", "   connectn "},
		"read connectn --help": {"DESCRIPTION:\n   Print positions.\n\n   Prints positions", "\n     $ x read connectn\n", "\nboard:\n", "--width", "\ninput:\n", "--start", "[POSITION]"},
	} {
		status, help, stderr := runIt(line, "")
		if status != 0 || stderr != "" {
			t.Errorf("%s: exit status %d, %s", line, status, stderr)
		}
		for _, w := range want {
			if !strings.Contains(help, w) {
				t.Errorf("%s: no %q in\n%s", line, w, help)
			}
		}
	}
}
