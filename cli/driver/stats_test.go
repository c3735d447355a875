package driver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStats prints the statistics of every game in the three formats.
func TestStats(t *testing.T) {
	for name, dir := range solved(t) {
		if output := runs(t, "stats --data "+dir); !strings.HasPrefix(output, name+" width=2 height=2 connect=2: ") || strings.Count(output, "\n") < 4 {
			t.Errorf("%s: %s", name, output)
		}
		var all struct{ Game string }
		if err := json.Unmarshal([]byte(runs(t, "stats --json --data "+dir)), &all); err != nil || !strings.HasPrefix(all.Game, name+" ") {
			t.Errorf("%s: %q, %v", name, all.Game, err)
		}
		picture := filepath.Join(t.TempDir(), "picture.svg")
		runs(t, "stats --svg "+picture+" --data "+dir)
		if text, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(text), "<svg") {
			t.Errorf("%s: %.20q, %v", name, text, err)
		}
	}
	refused(t, map[string]string{
		"stats --json --svg x": "--json, --csv and --svg exclude each other",
		"stats here":           `unexpected argument "here": --data names the directory`,
	})
}
