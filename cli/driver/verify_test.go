package driver

import (
	"strings"
	"testing"
)

// TestVerify checks every game's table by both methods, and by a sample.
func TestVerify(t *testing.T) {
	for name, dir := range solved(t) {
		for flags, want := range map[string]string{
			"":                    " positions verified, all correct\n",
			" --rules":            " positions verified by the rules, all correct\n",
			" --seed 7 --rules 3": " positions verified by the rules, all correct (seed 7)\n",
			" --rules 3 ":         "3 of ",
			" --rules 1000000":    " positions verified by the rules, all correct\n", // it has fewer
		} {
			if output := runs(t, "verify --data "+dir+flags); !strings.HasPrefix(output, name+" ") || !strings.Contains(output, want) {
				t.Errorf("%s%s: %s, want %s", name, flags, output, want)
			}
		}
	}
	refused(t, map[string]string{
		"verify --rules 0":           `--rules: expected a number of positions, found "0"`,
		"verify --rules -- -5":       `--rules: expected a number of positions, found "-5"`,
		"verify --rules many":        `--rules: expected a number of positions, found "many"`,
		"verify here":                `unexpected argument "here": --data names the directory, and --rules takes one number`,
		"verify --seed 5 --rules":    "--seed requires --rules N",
		"verify --seed 5":            "--seed requires --rules N",
		"verify --seed x --rules 10": `--seed "x": expected a number`,
	})
}
