//go:build linux

package cmd_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestHelpFits checks that the help of every command fits a terminal of 80 columns, except for
// shell lines.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var fits func(words string)
	fits = func(words string) {
		status, help, stderr := process.Run(programs.Command(dir, words+" --help"))
		if status != 0 || stderr != "" || !strings.HasPrefix(help, "NAME:\n   "+words+" - ") {
			t.Fatalf("%s --help: exit status %d, %s%s", words, status, help, stderr)
		}
		commands := false
		for line := range strings.Lines(help) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "   $ ") {
				t.Errorf("%s --help: %d columns: %s", words, utf8.RuneCountInString(line), line)
			}
			if !strings.HasPrefix(line, " ") && line != "" {
				commands = line == "COMMANDS:" || strings.HasPrefix(line, "to play")
			}
			if name, _, ok := strings.Cut(strings.TrimPrefix(line, "   "), " "); ok && commands && strings.HasPrefix(line, "   ") && !strings.HasPrefix(line, "    ") {
				fits(words + " " + name)
			}
		}
	}
	for _, words := range []string{"driver", "play", "mapper", "reducer"} {
		fits(words)
	}
}
