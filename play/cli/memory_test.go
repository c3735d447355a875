//go:build linux && !race

package play_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestPlayMemory checks that searches that fill tables of different sizes need little more
// memory.
func TestPlayMemory(t *testing.T) {
	const program = 40 // MiB of everything except the table
	for _, flags := range []string{
		"find-winner connectn --width 7 --height 6 --memory 64M --time 200ms --start",
		"find-winner connectn --width 7 --height 6 --memory 200M --time 200ms --start",
		"find-winner mnk --width 4 --height 4 --connect 4 --memory 64M --time 200ms --start",
		"find-winner connectn --width 4 --height 4 --memory 16M --by memo --chains 100000 --start",
	} {
		t.Run(flags, func(t *testing.T) {
			_, rest, _ := strings.Cut(flags, "--memory ")
			var memory int64
			must.Get(fmt.Sscanf(rest, "%dM", &memory))(t)
			args := strings.Fields(flags)
			if got := process.Peak(t, 2, false, "play", args...); got > (memory+program)<<20 {
				t.Errorf("play %s: %d MiB in memory, want at most %d more than %d", flags, got>>20, program, memory)
			} else {
				t.Logf("play %s: %d MiB", flags, got>>20)
			}
		})
	}
}
