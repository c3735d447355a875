package driver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestExport checks, for every kind of game, that the lines have the fields of lookup --json, and that the filters
// by outcome and remoteness select the right ones.
func TestExport(t *testing.T) {
	type line struct {
		Position, Value, Outcome string
		Hash                     game.Position
		Remoteness               *int
	}
	for name, dir := range solved(t) {
		ofValue := make(map[string]int) // lines
		for text := range strings.Lines(runs(t, "export --format jsonl --data "+dir)) {
			var exported, looked line
			must.OK(t, json.Unmarshal([]byte(text), &exported))
			_, output, _ := runLine(some(), "lookup --json --data "+dir, fmt.Sprintf("#%d\n", exported.Hash))
			must.OK(t, json.Unmarshal([]byte(output), &looked))
			if !reflect.DeepEqual(exported, looked) {
				t.Errorf("%s: export has %+v, lookup %+v", name, exported, looked)
			}
			flag := ""
			if exported.Remoteness != nil {
				flag = fmt.Sprintf("\t--remoteness\t%d", *exported.Remoteness)
			}
			ofValue[exported.Outcome+flag]++
		}
		for value, n := range ofValue {
			var out, errs strings.Builder
			words := append([]string{"driver", "export", "--data", dir, "--outcome"}, strings.Split(value, "\t")...)
			if status := Run(some(), words, nil, &out, &errs); status != 0 || strings.Count(out.String(), "\n") != n {
				t.Errorf("%s: %s: status %d, %s, want %d lines, found %s", name, value, status, &errs, n, &out)
			}
		}
	}
}
