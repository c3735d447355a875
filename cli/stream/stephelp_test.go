//go:build linux && !race

package stream_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// TestStepHelp runs the example in the help of each step, under every name of the step, and
// compares the output with the help.
func TestStepHelp(t *testing.T) {
	examples := 0
	for _, name := range step.AllNames() {
		for _, line := range []string{"mapper " + name, "reducer " + name, name + "_map", name + "_reduce"} {
			status, help, stderr := process.Run(programs.Command(t.TempDir(), line+" --help"))
			if status != 0 || stderr != "" || !strings.Contains(help, "DESCRIPTION:") {
				t.Errorf("%s --help: exit status %d, %s%s", line, status, help, stderr)
			}
			_, rest, ok := strings.Cut(help, "   $ ")
			if !ok {
				continue
			}
			examples++
			shown, rest, _ := strings.Cut(rest, "\n")
			want := ""
			for out := range strings.Lines(rest) {
				if strings.TrimSpace(out) == "" {
					break
				}
				want += strings.ReplaceAll(strings.TrimPrefix(out, "   "), "⇥", "\t")
			}
			cmd := exec.Command("bash", "-o", "pipefail", "-c", shown)
			out, err := cmd.Output()
			if err != nil || string(out) != want {
				t.Errorf("%s: %s\nprints %q, %v, want %q", line, shown, out, err, want)
			}
		}
	}
	if examples != 16 {
		t.Errorf("%d examples, want 16", examples)
	}
}
