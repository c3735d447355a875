package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRanges checks that the first keys of the partitions are written to stdout, or to the
// file, and that games without ranges do not have the command.
func TestRanges(t *testing.T) {
	const line = "ranges connectn --width 4 --height 5 --connect 3 --tier 7 --reducers 3"
	output := runs(t, line)
	for _, want := range []string{"SEQ", "040000", "180000"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q, want %q in it", output, want)
		}
	}
	name := filepath.Join(t.TempDir(), "ranges")
	if rest := runs(t, line+" --out "+name); rest != "" {
		t.Errorf("beside the file: %q", rest)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != output {
		t.Errorf("%q, %v, want %q", text, err, output)
	}
	refused(t, map[string]string{
		"ranges":                                 "expected a game: connectn, connect4, fourinarow",
		"ranges quickcross":                      `unknown game "quickcross", expected connectn, connect4, fourinarow`,
		"ranges mnk":                             `unknown game "mnk", expected connectn, connect4, fourinarow`,
		"ranges connectn --reducers 2":           "--tier is missing",
		"ranges connectn --tier 2":               "--reducers is missing",
		"ranges connectn --tier 2 two":           `unexpected argument "two"`,
		"ranges connectn --tier 10 --reducers 2": "connectn width=3 height=3 connect=3: tier 10, expected 0 to 9",
	})
}
