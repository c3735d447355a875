//go:build unix

package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// BenchmarkPlan plans boards with driver plan, solves them, and reports what was planned divided by what was measured.
// TREEREDUCE_LONG=1 adds boards of half a minute and more.
func BenchmarkPlan(b *testing.B) {
	boards := []string{
		"connectn --width 5 --height 5 --connect 4", "connectn --width 4 --height 7 --connect 4", "connectn --width 3 --height 10 --connect 4",
		"connectn --width 10 --height 2 --connect 4", "connectn --width 8 --height 3 --connect 4", "connectn --width 5 --height 6 --connect 3",
		"mnk --width 4 --height 4 --connect 4", "mnk --width 5 --height 3 --connect 4", "mancala --pits 4 --stones 3",
		"quickcross --width 4 --height 4 --connect 4",
	}
	if os.Getenv("TREEREDUCE_LONG") != "" {
		boards = append(boards, "connectn --width 4 --height 8 --connect 4", "connectn --width 5 --height 6 --connect 4", "connectn --width 6 --height 5 --connect 4")
	}
	for _, board := range boards {
		b.Run(board, func(b *testing.B) {
			at := time.Now()
			out, err := exec.Command(filepath.Join(bin, "driver"), append(strings.Fields("plan "+board), "--json")...).Output()
			must.OK(b, err)
			took := time.Since(at).Seconds()
			p := new(struct{ Total plan.Tier })
			must.OK(b, json.Unmarshal(out, p))
			dir := filepath.Join(b.TempDir(), "data")
			peak := watch(func() int64 { return bytesIn(dir) })
			u := timed(b, exec.Command(filepath.Join(bin, "driver"), append(strings.Fields("solve "+board+" --final no"), "--data", dir)...))
			most := float64(peak())
			t := &p.Total
			report(b, took, "plan-s", u.cpu.Seconds(), "cpu-s", 3600*t.CPUHours/u.cpu.Seconds(), "cpu-planned/measured",
				3600*t.WallHours/u.wall.Seconds(), "wall-planned/measured", t.PeakBytes/most, "peak-planned/measured",
				t.KeptBytes/float64(bytesIn(filepath.Join(dir, table.Dir))), "table-planned/measured")
		})
	}
}
