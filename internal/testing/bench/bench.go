// Package bench measures the commands of treereduce as whole processes, with the operating
// system's accounting of time and memory, and prints medians.
package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
	"github.com/treereduce/treereduce/table"
)

// Options select what is measured.
type Options struct {
	Bin   string // the directory of the commands
	Runs  int    // number of runs of each command
	Large bool   // also measure what takes minutes
	Tax   bool   // on a cluster: measure only the tax
	Board string // for the tax: the board
	Above int64  // for the tax: only jobs that read more records than this
}

// bencher performs all measurements of a run.
type bencher struct {
	Options
	out io.Writer
	dir string // scratch directory
}

// usage is the resources used by a process and its children.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // resident memory of the largest process in bytes
}

// Run measures and prints the results.
func Run(ctx context.Context, out io.Writer, o Options) error {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bencher{o, out, dir}
	for _, measure := range []func() error{b.solve, b.rules, b.sizes, b.streams} {
		if err := measure(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	return errors.Join(RunGo(ctx, out, o, "Lookup", "./internal/engine/solve"), RunSync(ctx, out, o))
}

// rules measures driver solve of games that provide only their rules, without operations on
// bitmaps, and counts the moves that the forward jobs sent. Several moves from one position
// to the same successor count once.
func (b *bencher) rules() error {
	fmt.Fprint(b.out, "\n| driver solve, rules only | positions | moves | wall s | CPU s | CPU µs a move | peak MB |\n|---|---|---|---|---|---|---|\n")
	for _, flags := range []string{
		"mnk --width 4 --height 4 --connect 4",
		"mnk --width 4 --height 4 --connect 4 --memory 64M",
		"mancala --pits 4 --stones 4",
	} {
		dir, u, _, err := b.solved(flags + " --final no")
		if err != nil {
			return err
		}
		journal, err := solve.ReadJournal(store.Local{}, dir)
		if err != nil {
			return err
		}
		var positions, moves int64
		for _, job := range journal.Jobs {
			if job.Step != step.Solve {
				positions += job.Positions
				moves += job.Messages
			}
		}
		fmt.Fprintf(b.out, "| `%s` | %d | %d | %.2f | %.2f | %.2f | %d |\n", flags, positions, moves, u.wall.Seconds(), u.cpu.Seconds(), float64(u.cpu.Microseconds())/float64(moves), u.peak/1e6)
	}
	return nil
}

// command returns one of our commands.
func (b *bencher) command(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(b.Bin, name), args...)
}

// timed runs a process and measures it.
func timed(cmd *exec.Cmd) (usage, error) {
	var stderr bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	began := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(began)}
	if err != nil {
		return u, fmt.Errorf("%v: %w: %s", cmd, err, stderr.String())
	}
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	u.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return u, nil
}

// median returns the medians of some measurements, separately for each field.
func median(us []usage) usage {
	var walls, cpus []time.Duration
	var peaks []int64
	for _, u := range us {
		walls, cpus, peaks = append(walls, u.wall), append(cpus, u.cpu), append(peaks, u.peak)
	}
	return usage{middle(walls), middle(cpus), middle(peaks)}
}

// middle returns the median of some numbers.
func middle[T cmp.Ordered](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// solved runs driver solve with these flags into a scratch directory.
func (b *bencher) solved(flags string) (dir string, u usage, stdout string, err error) {
	dir = filepath.Join(b.dir, "data")
	if err := os.RemoveAll(dir); err != nil {
		return "", u, "", err
	}
	cmd := b.command("driver", append(strings.Fields("solve "+flags), "--data", dir)...)
	var said bytes.Buffer
	cmd.Stdout = &said
	u, err = timed(cmd)
	return dir, u, said.String(), err
}

// positions matches the number of positions that driver solve prints.
var positions = regexp.MustCompile(`(?m)^[\d,]+ positions in `)

// solve measures driver solve, and checks the number of positions.
func (b *bencher) solve() error {
	fmt.Fprint(b.out, "| driver solve | runs | wall s | CPU s | CPU ns a position | peak MB |\n|---|---|---|---|---|---|\n")
	for _, test := range []struct {
		flags     string
		positions int64
		large     bool
	}{
		{"connectn --width 4 --height 5 --connect 3 --final yes", 195_472, false},
		{"connectn --width 5 --height 4 --connect 4 --final no", 3_945_711, false},
		{"connectn --width 5 --height 5 --connect 4 --final no", 69_763_700, false},
		{"connectn --width 5 --height 5 --connect 4 --final yes", 69_763_700, false},
		{"connectn --width 5 --height 5 --connect 4 --final no --memory 256M", 69_763_700, false},
		{"connectn --width 4 --height 5 --connect 3 --runner pipe", 195_472, false},
		{"quickcross --width 4 --height 4 --connect 3 --final no", 28_999_497, false},
		{"quickcross --width 4 --height 4 --connect 4 --final no", 42_658_929, false},
		{"quickcross --width 4 --height 3 --connect 3 --runner pipe", 453_831, false},
		{"connectn --width 5 --height 5 --connect 4 --runner pipe --memory 4G --final no", 69_763_700, true},
		{"connectn --width 6 --height 5 --connect 4 --final no", 2_818_972_642, true},
	} {
		runs := b.Runs
		if test.large {
			if !b.Large {
				continue
			}
			runs = 1
		}
		var us []usage
		for range runs {
			_, u, said, err := b.solved(test.flags)
			if err != nil {
				return err
			}
			if found, _, _ := strings.Cut(positions.FindString(said), " "); found != numfmt.Number(test.positions) {
				return fmt.Errorf("driver solve %s: expected %s positions, found %q", test.flags, numfmt.Number(test.positions), found)
			}
			us = append(us, u)
		}
		m := median(us)
		fmt.Fprintf(b.out, "| `%s` | %d | %.2f | %.2f | %.0f | %d |\n", test.flags, runs, m.wall.Seconds(), m.cpu.Seconds(), float64(m.cpu.Nanoseconds())/float64(test.positions), m.peak/1e6)
	}
	return nil
}

// sizes prints the sizes of directories on disk.
func (b *bencher) sizes() error {
	fmt.Fprint(b.out, "\n| on disk | bytes | |\n|---|---|---|\n")
	for _, flags := range []string{"--keep all", "--keep all --compress"} {
		dir, _, _, err := b.solved("connectn --width 4 --height 5 --connect 3 " + flags)
		if err != nil {
			return err
		}
		du, err := exec.Command("du", "-s", "--block-size=1", dir).Output()
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "| 4×5 connect 3 `%s` | %s | all of the data directory, by du |\n", flags, strings.Fields(string(du))[0])
	}
	return b.states()
}

// states prints the sizes of the states and the table of a game with cycles, and of a table
// of blocks.
func (b *bencher) states() error {
	const hashes = 43_046_721
	dir, _, _, err := b.solved("quickcross --width 4 --height 4 --connect 4 --keep all --compress --final no")
	if err != nil {
		return err
	}
	most := int64(0)
	passes, err := filepath.Glob(filepath.Join(dir, "*", "_ranges-*"))
	if err != nil {
		return err
	}
	for _, name := range passes {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		most = max(most, info.Size())
	}
	info, err := os.Stat(filepath.Join(dir, table.CyclicFile))
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| 4×4 Quick Cross connect 4, states | %d | %.2f bytes a hash: those that the pass wrote that wrote most |\n", most, float64(most)/hashes)
	fmt.Fprintf(b.out, "| 4×4 Quick Cross connect 4, table | %d | %.2f bytes a hash |\n", info.Size(), float64(info.Size())/hashes)

	const positions = 69_763_700
	if dir, _, _, err = b.solved("connectn --width 5 --height 5 --connect 4 --final no"); err != nil {
		return err
	}
	size := bytesIn(filepath.Join(dir, table.Dir))
	fmt.Fprintf(b.out, "| 5×5 connect 4, table | %d | %.2f bytes a position |\n", size, float64(size)/positions)
	g, err := connectn.New(5, 5, 4)
	if err != nil {
		return err
	}
	slots := 0.0
	for tier := range g.Tiers() + 1 {
		slots += g.Slots(tier)
	}
	fmt.Fprintf(b.out, "| 5×5 connect 4, slots | %.0f | of them %.0f %% are positions |\n", slots, 100*positions/slots)
	return nil
}

// streams prints the CPU time of mapper and reducer alone, without the sort and the driver,
// on tiers 17 and 18 of 5×5 connect 4 as text.
func (b *bencher) streams() error {
	const board = "--width 5 --height 5 --connect 4"
	game := strings.Fields(board)
	dir, _, _, err := b.solved("connectn --keep all --final no " + board)
	if err != nil {
		return err
	}
	fmt.Fprint(b.out, "\n| CPU of the processes, 5×5 connect 4, tiers 17 and 18, text | ns a position written | lines in | lines out |\n|---|---|---|---|\n")
	mapped, sorted, reduced := filepath.Join(b.dir, "mapped"), filepath.Join(b.dir, "sorted"), filepath.Join(b.dir, "reduced")
	// The output of the mapper if it prints each child every time, without combining.
	if _, err := b.stream("possible_map", []string{part(dir, "data_first", 17)}, mapped, append(game, "--combine=false")); err != nil {
		return err
	}
	uncombined, err := countLines(mapped)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, job := range []struct {
		name   string
		inputs []string
		result string
	}{
		{"possible", []string{part(dir, "data_first", 17)}, part(dir, "data_first", 18)},
		{"solve", []string{part(dir, "data_first", 17), part(dir, "data_second", 18)}, part(dir, "data_second", 17)},
	} {
		positions, err := countLines(job.result)
		if err != nil {
			return err
		}
		sort := func() error {
			cmd := exec.Command("sort", "-t", "\t", "-k1,1", "-s", "-o", sorted, mapped)
			cmd.Env = append(os.Environ(), "LC_ALL=C")
			_, err := timed(cmd)
			return err
		}
		for _, process := range []struct {
			side   string
			inputs []string
			output string
			after  func() error
		}{
			{"map", job.inputs, mapped, sort},
			{"reduce", []string{sorted}, reduced, func() error { return nil }},
		} {
			name := job.name + "_" + process.side
			u, err := b.stream(name, process.inputs, process.output, game)
			if err != nil {
				return err
			}
			in, err := countLines(process.inputs...)
			if err != nil {
				return err
			}
			out, err := countLines(process.output)
			if err != nil {
				return err
			}
			cpu := float64(u.cpu.Nanoseconds()) / float64(positions)
			sum += cpu
			fmt.Fprintf(b.out, "| `%s` | %.0f | %d | %d |\n", name, cpu, in, out)
			if err := process.after(); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(b.out, "| all four | %.0f | | |\n", sum)
	fmt.Fprintf(b.out, "| `possible_map --combine=false` | | | %d |\n", uncombined)
	return nil
}

// countLines counts the lines of files.
func countLines(names ...string) (int, error) {
	n := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		n += bytes.Count(text, []byte("\n"))
	}
	return n, nil
}

func part(dir, name string, tier int) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d", name, tier), "part-00000")
}

// stream runs a mapper or a reducer from files to a file, for the moves of O.
func (b *bencher) stream(name string, inputs []string, output string, game []string) (usage, error) {
	var readers []io.Reader
	for _, input := range inputs {
		f, err := os.Open(input)
		if err != nil {
			return usage{}, err
		}
		defer f.Close()
		readers = append(readers, f)
	}
	out, err := os.Create(output)
	if err != nil {
		return usage{}, err
	}
	cmd := b.command(name, append([]string{"--turn", "O"}, game...)...)
	cmd.Stdin = io.MultiReader(readers...)
	cmd.Stdout = out
	u, err := timed(cmd)
	return u, errors.Join(err, out.Close())
}
