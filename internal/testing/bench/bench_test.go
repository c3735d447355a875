//go:build unix

// Package bench measures the commands of treereduce as whole processes, with the operating
// system's accounting of time and memory. Its benchmarks run the commands of bin/, or of the
// directory that TREEREDUCE_BIN names. scripts/bench.sh runs them and those beside the code.
package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/table"
)

// bin is the directory of the commands.
var bin = cmp.Or(os.Getenv("TREEREDUCE_BIN"), filepath.Join("..", "..", "..", "bin"))

// usage is the resources used by a process and its children.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // resident memory of the largest process in bytes
	own       int64 // resident memory of the process without its children, at its maximum
}

// timed runs a process and measures it.
func timed(b *testing.B, cmd *exec.Cmd) usage {
	b.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	begun := time.Now()
	err, own := cmd.Start(), int64(0)
	if err == nil {
		end := watch(func() int64 { return peak(cmd.Process.Pid) })
		err, own = cmd.Wait(), end()
	}
	if err != nil {
		b.Fatalf("%v: %v: %s", cmd, err, stderr.String())
	}
	return usage{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, own}
}

// watchEvery is the time between two measurements of watch.
const watchEvery = 50 * time.Millisecond

// watch measures something at regular intervals, until the returned function is called, which
// returns the largest value.
func watch(measure func() int64) (end func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		n := measure()
		for ticker := time.NewTicker(watchEvery); ; {
			select {
			case <-stop:
				ticker.Stop()
				most <- max(n, measure())
				return
			case <-ticker.C:
				n = max(n, measure())
			}
		}
	}()
	return func() int64 { close(stop); return <-most }
}

// highWater matches the largest resident memory of a process so far, in /proc/PID/status.
var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peak returns that memory in bytes; 0 if the process has ended.
func peak(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := highWater.FindSubmatch(text)
	if found == nil {
		return 0
	}
	kB, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits
	return kB << 10
}

// report reports metrics, in pairs of a value and a unit, instead of the time of the benchmark.
func report(b *testing.B, metrics ...any) {
	b.ReportMetric(0, "ns/op")
	for i := 0; i < len(metrics); i += 2 {
		b.ReportMetric(metrics[i].(float64), metrics[i+1].(string))
	}
}

// solved runs driver solve with these flags, and returns the data directory.
func solved(b *testing.B, flags string) (dir string, u usage, stdout string) {
	b.Helper()
	dir = filepath.Join(b.TempDir(), "data")
	cmd := exec.Command(filepath.Join(bin, "driver"), append(strings.Fields("solve "+flags), "--data", dir)...)
	var out strings.Builder
	cmd.Stdout = &out
	u = timed(b, cmd)
	return dir, u, out.String()
}

// positionsFound matches the number of positions that driver solve prints.
var positionsFound = regexp.MustCompile(`(?m)^([\d,]+) positions in `)

// benchSolve measures driver solve, and checks the number of positions.
func benchSolve(b *testing.B, positions int, flags string) {
	b.Run(flags, func(b *testing.B) {
		_, u, out := solved(b, flags)
		found := positionsFound.FindStringSubmatch(out)
		if found == nil || strings.ReplaceAll(found[1], ",", "") != strconv.Itoa(positions) {
			b.Fatalf("driver solve %s: expected %d positions, found %q", flags, positions, out)
		}
		report(b, u.wall.Seconds(), "wall-s", u.cpu.Seconds(), "cpu-s", float64(u.cpu.Nanoseconds())/float64(positions), "cpu-ns/position", float64(u.peak)/1e6, "peak-MB")
	})
}

func BenchmarkSolve(b *testing.B) {
	benchSolve(b, 195_472, "connectn --width 4 --height 5 --connect 3 --final yes")
	benchSolve(b, 3_945_711, "connectn --width 5 --height 4 --connect 4 --final no")
	benchSolve(b, 69_763_700, "connectn --width 5 --height 5 --connect 4 --final no")
	benchSolve(b, 69_763_700, "connectn --width 5 --height 5 --connect 4 --final yes")
	benchSolve(b, 69_763_700, "connectn --width 5 --height 5 --connect 4 --final no --memory 256M")
	benchSolve(b, 195_472, "connectn --width 4 --height 5 --connect 3 --runner pipe")
	benchSolve(b, 28_999_497, "quickcross --width 4 --height 4 --connect 3 --final no")
	benchSolve(b, 42_658_929, "quickcross --width 4 --height 4 --connect 4 --final no")
	benchSolve(b, 453_831, "quickcross --width 4 --height 3 --connect 3 --runner pipe")
}

// BenchmarkLongSolve measures what takes minutes; 6×5 needs 2 GB of disk.
func BenchmarkLongSolve(b *testing.B) {
	longtest.Skip(b)
	benchSolve(b, 69_763_700, "connectn --width 5 --height 5 --connect 4 --runner pipe --memory 4G --final no")
	benchSolve(b, 2_818_972_642, "connectn --width 6 --height 5 --connect 4 --final no")
}

// BenchmarkRules measures driver solve of games that provide only their rules, without
// operations on bitmaps. The moves are those that the forward jobs sent: several moves from one
// position to the same successor count once.
func BenchmarkRules(b *testing.B) {
	for _, flags := range []string{
		"mnk --width 4 --height 4 --connect 4",
		"mnk --width 4 --height 4 --connect 4 --memory 64M",
		"mancala --pits 4 --stones 4",
	} {
		b.Run(flags, func(b *testing.B) {
			dir, u, _ := solved(b, flags+" --final no")
			journal := must.Get(solve.ReadJournal(store.Local{}, dir))(b)
			var positions, moves float64
			for _, job := range journal.Jobs {
				if job.Step != step.Solve {
					positions += float64(job.Positions)
					moves += float64(job.Messages)
				}
			}
			report(b, positions, "positions", moves, "moves", u.wall.Seconds(), "wall-s", u.cpu.Seconds(), "cpu-s",
				float64(u.cpu.Microseconds())/moves, "cpu-µs/move", float64(u.peak)/1e6, "peak-MB")
		})
	}
}

// BenchmarkDisk measures the sizes of data directories (by du), of the largest states of a pass and the table of
// a game with cycles, and of a table of blocks.
func BenchmarkDisk(b *testing.B) {
	for _, flags := range []string{"--keep all", "--keep all --compress"} {
		b.Run("4x5 "+flags, func(b *testing.B) {
			dir, _, _ := solved(b, "connectn --width 4 --height 5 --connect 3 "+flags)
			du := must.Get(exec.Command("du", "-s", "--block-size=1", dir).Output())(b)
			size := must.Get(strconv.ParseFloat(strings.Fields(string(du))[0], 64))(b)
			report(b, size, "B")
		})
	}
	b.Run("quickcross 4x4", func(b *testing.B) {
		const positions = 42_658_929 // with images
		dir, _, _ := solved(b, "quickcross --width 4 --height 4 --connect 4 --keep all --compress --final no")
		passes := must.Get(filepath.Glob(filepath.Join(dir, "*", "_states-*")))(b)
		most := int64(0) // bytes of the states of the pass that wrote most
		for _, name := range passes {
			most = max(most, bytesIn(name))
		}
		size := float64(bytesIn(filepath.Join(dir, table.Dir)))
		report(b, float64(most), "states-B", size, "table-B", 8*size/positions, "table-bits/position")
	})
	b.Run("connectn 5x5", func(b *testing.B) {
		const positions = 69_763_700
		dir, _, _ := solved(b, "connectn --width 5 --height 5 --connect 4 --final no")
		g := must.Get(connectn.New(5, 5, 4))(b)
		slots := 0.0
		for tier := range g.Tiers() + 1 {
			slots += g.Slots(tier)
		}
		size := float64(bytesIn(filepath.Join(dir, table.Dir)))
		report(b, size, "table-B", size/positions, "table-B/position", slots, "slots", 100*positions/slots, "%positions")
	})
}

// bytesIn returns the size of a file, or the total size of the files in a directory. It ignores
// files that disappear meanwhile.
func bytesIn(name string) (n int64) {
	filepath.WalkDir(name, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// BenchmarkStreams measures the CPU time of mapper and reducer alone, without the sort and the
// driver, on tiers 17 and 18 of 5×5 connect 4 as text.
func BenchmarkStreams(b *testing.B) {
	const board = "--width 5 --height 5 --connect 4"
	dir, _, _ := solved(b, "connectn --keep all --final no "+board)
	part := func(name string) string { return filepath.Join(dir, name, "part-00000") }
	mapped, sorted, reduced := filepath.Join(dir, "mapped"), filepath.Join(dir, "sorted"), filepath.Join(dir, "reduced")
	stream := func(b *testing.B, output, name, flags string, inputs ...string) usage {
		cmd := exec.Command(filepath.Join(bin, name), strings.Fields("--turn O "+board+flags)...)
		var readers []io.Reader
		for _, input := range inputs {
			f := must.Get(os.Open(input))(b)
			defer f.Close()
			readers = append(readers, f)
		}
		out := must.Get(os.Create(output))(b)
		defer out.Close()
		cmd.Stdin, cmd.Stdout = io.MultiReader(readers...), out
		return timed(b, cmd)
	}
	b.Run("possible_map --combine=false", func(b *testing.B) {
		stream(b, mapped, "possible_map", " --combine=false", part("data_first17"))
		report(b, lines(b, mapped), "lines-out")
	})
	all := 0.0
	for _, job := range []struct {
		name   string
		result string
		inputs []string
	}{
		{"possible", part("data_first18"), []string{part("data_first17")}},
		{"solve", part("data_second17"), []string{part("data_first17"), part("data_second18")}},
	} {
		positions := lines(b, job.result)
		measure := func(side, output string, inputs ...string) {
			b.Run(job.name+"_"+side, func(b *testing.B) {
				cpu := float64(stream(b, output, job.name+"_"+side, "", inputs...).cpu.Nanoseconds()) / positions
				report(b, cpu, "cpu-ns/position", lines(b, inputs...), "lines-in", lines(b, output), "lines-out")
				all += cpu
			})
		}
		measure("map", mapped, job.inputs...)
		sort := exec.Command("sort", "-t", "\t", "-k1,1", "-s", "-o", sorted, mapped)
		sort.Env = append(os.Environ(), "LC_ALL=C")
		timed(b, sort)
		measure("reduce", reduced, sorted)
	}
	b.Run("all four", func(b *testing.B) { report(b, all, "cpu-ns/position") })
}

// lines returns the number of lines in files.
func lines(b *testing.B, names ...string) (n float64) {
	b.Helper()
	for _, name := range names {
		text := must.Get(os.ReadFile(name))(b)
		n += float64(bytes.Count(text, []byte("\n")))
	}
	return n
}
