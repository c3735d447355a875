//go:build unix

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/calibrate"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// BenchmarkPlan calibrates this machine, plans boards with the measured rates, and solves them.
func BenchmarkPlan(b *testing.B) {
	rates, err := calibrate.Machine(b.Context(), calibrate.Options{Time: 2 * time.Minute, Dir: b.TempDir(), Self: []string{filepath.Join(bin, "driver"), "--version"}})
	must.OK(b, err)
	b.Run("rates", func(b *testing.B) {
		report(b, rates.Blocks.Value, "cpu-ns/value-bit", rates.Blocks.Slot, "cpu-ns/slot", rates.Blocks.Range/1e3, "µs/range",
			1e3*rates.Blocks.Tier, "ms/tier", 100*rates.Serial, "%serial", float64(rates.Cores), "cores")
	})
	boards := [][3]int{{5, 4, 4}, {5, 5, 4}}
	if os.Getenv("TREEREDUCE_LONG") != "" {
		boards = append(boards, [3]int{6, 5, 4})
	}
	for _, board := range boards {
		flags := fmt.Sprintf("connectn --width %d --height %d --connect %d --final no", board[0], board[1], board[2])
		b.Run(flags, func(b *testing.B) {
			g := must.Get(connectn.New(board[0], board[1], board[2]))(b)
			counts := must.Get(count.Of(b.Context(), g, count.Options{Time: 30 * time.Second, Seed: 1}))(b)
			p, err := plan.Make(g, counts, rates, plan.Where{Runner: plan.Inline, Machine: plan.Machine{Name: "this machine", Cores: rates.Cores, MemoryBytes: 8 << 30}})
			must.OK(b, err)
			dir := filepath.Join(b.TempDir(), "data")
			peak := watch(func() int64 { return bytesIn(dir) })
			u := timed(b, exec.Command(filepath.Join(bin, "driver"), append(strings.Fields("solve "+flags), "--data", dir)...))
			most := float64(peak())
			t := &p.Total
			for what, figures := range map[string][2]float64{
				"cpu-s":        {3600 * t.CPUHours, u.cpu.Seconds()},
				"wall-s":       {3600 * t.WallHours, u.wall.Seconds()},
				"disk-peak-MB": {t.PeakBytes / 1e6, most / 1e6},
				"table-MB":     {t.KeptBytes / 1e6, float64(bytesIn(filepath.Join(dir, table.Dir))) / 1e6},
			} {
				report(b, figures[0], "planned-"+what, figures[1], "measured-"+what)
			}
		})
	}
}
