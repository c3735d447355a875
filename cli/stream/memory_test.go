//go:build linux && !race

package stream_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestMapperMemory gives the combiner of a mapper unlimited, little, and very little memory:
// with less memory the mapper emits more duplicates; after merging, the output is the same.
func TestMapperMemory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mapper, flags string
		input         string // the files in the data directory
	}{
		{"possible_map", "--width 4 --height 5 --connect 3", "data_first9/part-*"},
		{"solve_map", "--width 4 --height 5 --connect 3 --turn X", "data_second9/part-*"},
		{"mark_map", "--game quickcross --width 4 --height 3 --connect 3", "data_first0.*/to-*"},
	} {
		t.Run(test.mapper, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			game := "solve connectn --width 4 --height 5 --connect 3"
			if test.mapper == "mark_map" {
				game = "solve quickcross --width 4 --height 3 --connect 3"
			}
			process.Output(t, exec.Command("driver", append(strings.Fields(game), "--keep=all", "--data", dir)...))
			var input []byte
			for _, name := range must.Get(filepath.Glob(filepath.Join(dir, test.input)))(t) {
				input = append(input, must.Get(os.ReadFile(name))(t)...)
			}
			var merged [][]string
			var output []int
			for _, memory := range []string{"100000000", "100000", "1000"} {
				cmd := exec.Command(test.mapper, append(strings.Fields(test.flags), "--memory", memory)...)
				cmd.Stdin = bytes.NewReader(input)
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v", test.mapper, err)
				}
				lines := strings.Fields(string(out))
				output = append(output, len(lines))
				slices.Sort(lines)
				merged = append(merged, slices.Compact(lines))
			}
			t.Logf("%s prints %d lines", test.mapper, output)
			if !slices.IsSorted(output) || output[0] == output[2] {
				t.Errorf("%s prints %d lines, want the more the less it may hold back", test.mapper, output)
			}
			if test.mapper != "solve_map" && !slices.Equal(merged[0], merged[2]) {
				t.Errorf("%s prints other positions with little memory", test.mapper)
			}
		})
	}
}
