package command

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestFlagsAnywhere checks that flags may be anywhere among the names of commands and the
// arguments.
func TestFlagsAnywhere(t *testing.T) {
	run := func(line string) (status int, output, stderr string) {
		app := &cli.App{Name: "x", Commands: []*cli.Command{{Name: "solve", Action: Unknown("game", []string{"chess"}), Subcommands: []*cli.Command{{
			Name:  "chess",
			Flags: []cli.Flag{&cli.IntFlag{Name: "width"}, &cli.BoolFlag{Name: "json"}},
			Action: func(c *cli.Context) error {
				if c.Int("width") == 3 && c.Bool("json") {
					output = strings.Join(c.Args().Slice(), " ")
				}
				return nil
			},
		}}}}}
		var errs strings.Builder
		status = Run(t.Context(), app, append([]string{"x"}, strings.Fields(line)...), nil, new(strings.Builder), &errs)
		return status, output, errs.String()
	}
	for _, line := range []string{"solve chess --width 3 --json e4", "--width 3 --json solve chess e4", "solve --width=3 chess e4 --json",
		"--json solve --width 3 chess e4", "solve --json chess e4 --width 3"} {
		if status, output, stderr := run(line); status != ExitDone || output != "e4" {
			t.Errorf("%s: status %d, %q, %s", line, status, output, stderr)
		}
	}
	for line, want := range map[string]string{
		"solve --width 3":            "x: expected a game: chess\n",
		"--width 3 solve ches":       "x: unknown game \"ches\": did you mean chess?\n",
		"solve --wdth 3 chess":       "x: unknown flag --wdth",
		"solve --width 3 chess --pa": "x: unknown flag --pa",
	} {
		if status, _, stderr := run(line); status != ExitUsage || !strings.HasPrefix(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}
