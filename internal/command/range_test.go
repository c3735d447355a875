package command

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestRange checks flags of each type, given and not given.
func TestRange(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", ""},
		{"--n=1 --long=0 --time=1ns --price=0.5", ""},
		{"--n=0", "--n 0: expected 1 or more"},
		{"--long=-1", "--long -1: expected 0 or more"},
		{"--time=0", "--time 0s: expected more than 0"},
		{"--time=-2s", "--time -2s: expected more than 0"},
		{"--n=x", `--n "x": expected a number`},
		{"--n=99999999999999999999", `--n "99999999999999999999": value out of range`},
		{"--time=3", `--time "3": expected a time such as 90s or 2m`},
		{"--price=0", "--price 0: expected more than 0"},
		{"--price=NaN", "--price NaN: expected more than 0"},
		{"--price=+Inf", "--price +Inf: expected more than 0"},
	} {
		app := &cli.App{Name: "x", Commands: []*cli.Command{{
			Name:  "y",
			Flags: []cli.Flag{&cli.IntFlag{Name: "n"}, &cli.Int64Flag{Name: "long"}, &cli.DurationFlag{Name: "time"}, &cli.Float64Flag{Name: "price"}},
			Action: func(c *cli.Context) error {
				for _, err := range []error{AtLeast(c, 1, "n"), AtLeast(c, 0, "long"), Positive(c, "time", "price")} {
					if err != nil {
						return err
					}
				}
				return nil
			},
		}}}
		var stderr strings.Builder
		code := Run(t.Context(), app, append([]string{"x", "y"}, strings.Fields(test.args)...), nil, &strings.Builder{}, &stderr)
		if line, _, _ := strings.Cut(stderr.String(), "\n"); line != strings.TrimSuffix("x: "+test.want, "x: ") || (code == 0) != (test.want == "") {
			t.Errorf("%s: exit %d, %q, want %q", test.args, code, line, test.want)
		}
	}
}
