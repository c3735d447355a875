package bench

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/calibrate"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/table"
)

// planned is a board to plan and to solve.
type planned struct {
	width, height, connect int
	large                  bool
}

// diskEvery is the time between two measurements of disk use.
const diskEvery = 50 * time.Millisecond

// RunPlan calibrates this machine, plans boards with the measured rates, and solves them.
// It prints planned and measured figures.
func RunPlan(ctx context.Context, out io.Writer, o Options) error {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bencher{o, out, dir}
	measured := filepath.Join(dir, "measured")
	if err := os.Mkdir(measured, 0o777); err != nil {
		return err
	}
	rates, err := calibrate.Machine(ctx, calibrate.Options{Time: 2 * time.Minute, Dir: measured, Self: []string{filepath.Join(o.Bin, "driver"), "--version"}})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Calibrated: %.1f ns of CPU a position for each bit of its value, %.2f a slot, %.1f µs a range, %.1f ms a tier; %.1f %% on one core alone of %d.\n\n",
		rates.Blocks.Value, rates.Blocks.Slot, rates.Blocks.Range/1e3, 1e3*rates.Blocks.Tier, 100*rates.Serial, rates.Cores)
	fmt.Fprint(out, "| board | | planned | measured | times |\n|---|---|---|---|---|\n")
	for _, board := range []planned{{5, 4, 4, false}, {5, 5, 4, false}, {6, 5, 4, true}} {
		if board.large && !o.Large {
			continue
		}
		if err := b.plan(ctx, board, rates); err != nil {
			return err
		}
	}
	return nil
}

// plan plans a board, solves it, and prints both results.
func (b *bencher) plan(ctx context.Context, board planned, rates *plan.Rates) error {
	g, err := connectn.New(board.width, board.height, board.connect)
	if err != nil {
		return err
	}
	counts, err := count.Of(ctx, g, count.Options{Time: 30 * time.Second, Seed: 1})
	if err != nil {
		return err
	}
	p, err := plan.Make(g, counts, rates, plan.Where{Runner: plan.Inline, Machine: plan.Machine{Name: "this machine", Cores: rates.Cores, MemoryBytes: 8 << 30}})
	if err != nil {
		return err
	}
	peak := watchDisk(filepath.Join(b.dir, "data"))
	dir, u, _, err := b.solved(fmt.Sprintf("connectn --width %d --height %d --connect %d --final no", board.width, board.height, board.connect))
	most := peak()
	if err != nil {
		return err
	}
	t := &p.Total
	for _, row := range []struct {
		what              string
		planned, measured float64
	}{
		{"CPU s", 3600 * t.CPUHours, u.cpu.Seconds()},
		{"wall s", 3600 * t.WallHours, u.wall.Seconds()},
		{"disk at the peak, MB", t.PeakBytes / 1e6, float64(most) / 1e6},
		{"table, MB", t.KeptBytes / 1e6, float64(bytesIn(filepath.Join(dir, table.Dir))) / 1e6},
	} {
		fmt.Fprintf(b.out, "| %s | %s | %.2f | %.2f | %.2f |\n", p.Title, row.what, row.planned, row.measured, row.planned/row.measured)
	}
	return nil
}

// watchDisk measures the size of a directory at regular intervals, until the returned
// function is called, which returns the largest size.
func watchDisk(dir string) (end func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		var n int64
		for ticker := time.NewTicker(diskEvery); ; {
			select {
			case <-stop:
				ticker.Stop()
				most <- max(n, bytesIn(dir))
				return
			case <-ticker.C:
				n = max(n, bytesIn(dir))
			}
		}
	}()
	return func() int64 { close(stop); return <-most }
}

// bytesIn returns the total size of the files in a directory. It ignores files that
// disappear meanwhile.
func bytesIn(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
