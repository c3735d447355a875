package driver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// noFigure matches what no output may contain in place of a figure: NaN, infinity, a negative figure,
// and the largest integer.
var noFigure = regexp.MustCompile(`NaN|Inf\b|9,223,372|(?:^|[^\w.)-])-[\d.]`)

// TestPlanFigures checks that plan prints a figure for everything, for all games and all small
// parameters, as text and as JSON, on every runner.
func TestPlanFigures(t *testing.T) {
	const most = 3
	for _, kind := range all.Kinds() {
		planned := 0
		for _, board := range boardsOf(kind, most) {
			line := "plan " + kind.Name + board + " --draws 1"
			status, stdout, stderr := runLine(all.Kinds(), line, "")
			if status == 2 {
				continue // there is no such board
			}
			planned++
			for _, flags := range []string{"", " --runner pipe", " --runner hadoop --nodes 3", " --runner emr --nodes 2 --cluster-above 0"} {
				if flags != "" {
					status, stdout, stderr = runLine(all.Kinds(), line+flags, "")
				}
				if bad := noFigure.FindString(stdout); status != 0 || bad != "" {
					t.Errorf("%s: status %d, %q in %s%s", line+flags, status, bad, stdout, stderr)
				}
				status, stdout, stderr = runLine(all.Kinds(), line+flags+" --json", "")
				if bad := noFigure.FindString(stdout); status != 0 || bad != "" || !json.Valid([]byte(stdout)) {
					t.Errorf("%s --json: status %d, %q in %s%s", line+flags, status, bad, stdout, stderr)
				}
			}
		}
		if planned == 0 && kind.Name != "network" {
			t.Errorf("%s: no board was planned", kind.Name)
		}
	}
}

// boardsOf returns the flags of all boards of a game with parameters from 1 to most.
func boardsOf(kind game.Kind, most int) []string {
	boards := []string{""}
	for _, p := range kind.Params {
		var more []string
		for _, board := range boards {
			if p.Words != nil {
				for _, word := range p.Words {
					more = append(more, board+" --"+p.Name+" "+word)
				}
				continue
			}
			for n := 1; n <= most; n++ {
				more = append(more, fmt.Sprintf("%s --%s %d", board, p.Name, n))
			}
		}
		boards = more
	}
	return boards
}

// TestOffBy checks the uncertainty that plan prints: no share of more than 100 %.
func TestOffBy(t *testing.T) {
	for want, tier := range map[string]plan.Tier{
		"":         {Positions: 7, Low: 7, High: 7},
		"at least": {Positions: 7, Low: 7, High: 90},
		"50%":      {Positions: 100, Low: 50, High: 150},
		"to 90":    {Positions: 1, Low: 0, High: 90},
		"to 80":    {Positions: 0, Low: 0, High: 80},
	} {
		if got := offBy(&tier); got != want {
			t.Errorf("%+v: %q, want %q", tier, got, want)
		}
	}
}

// TestPlanBounds checks that plan refuses numbers from which it would compute infinite ones.
func TestPlanBounds(t *testing.T) {
	refused(t, map[string]string{
		"plan connectn --price 1e308":                               "--price 1e+308: expected 0 to 1000000",
		"plan connectn --runner hadoop --nodes 9223372036854775807": "--nodes 9223372036854775807: expected 1 to 1000000",
		"plan connectn --cores 9223372036854775807":                 "--cores 9223372036854775807: expected 1 to 1000000",
		"plan connectn --runner hadoop --cluster-above -1":          "--cluster-above -1: expected 0 or more",
		"plan connectn --disk 0":                                    "--disk: expected more than 0",
		"plan connectn --memory 0M":                                 "--memory: expected more than 0",
	})
}

// TestPlanMemory checks that the memory of a plan is the least that solve demands.
func TestPlanMemory(t *testing.T) {
	for line, want := range map[string]string{
		"connectn": "at least 64M are needed",
		"connectn --width 5 --height 4 --connect 4":               "needs at least %s",
		"connectn --width 5 --height 4 --connect 4 --runner pipe": "needs at least %s with 1 reducer",
		"mnk --runner pipe": "at least 64M are needed",
	} {
		_, stdout, _ := runLine(some(), "plan "+line+" --draws 1 --json", "")
		var p plan.Plan
		must.OK(t, json.Unmarshal([]byte(stdout), &p))
		least := int(p.Total.MemoryBytes)
		want = strings.ReplaceAll(want, "%s", memoryText(least)) + "\n"
		data := " --yes --data " + filepath.Join(t.TempDir(), "d")
		if status, _, stderr := runLine(some(), fmt.Sprintf("solve %s --memory %d%s", line, least-1, data), ""); status != 2 || !strings.Contains(stderr, want) {
			t.Errorf("solve %s with a byte less than %d: status %d, %s, want %s", line, least, status, stderr, want)
		}
		var text strings.Builder
		writePlan(&text, &p)
		if want := "(--memory " + memoryText(least) + ")\n"; !strings.Contains(text.String(), want) {
			t.Errorf("plan %s: %s, want %s", line, text.String(), want)
		}
	}
}
