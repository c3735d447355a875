// Package bench times the commands of treereduce as whole processes, by the
// operating system's own accounting, and prints medians.
package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/solve"
	"github.com/treereduce/treereduce/table"
)

// Options are what is measured.
type Options struct {
	Bin   string // directory of the commands
	Runs  int    // of each command
	Large bool   // also what takes minutes
	Sync  bool   // nothing but what syncs cost
	Tax   bool   // on a cluster: nothing but the tax
	Board string // of the tax
	Above int64  // of the tax: the jobs that read more records
}

// bencher is one run of all measurements.
type bencher struct {
	Options
	out io.Writer
	dir string // scratch
}

// usage is what a process took, its children included.
type usage struct {
	wall, cpu time.Duration
	peak      int64 // bytes of resident memory, of the largest process
}

// Run measures and prints.
func Run(out io.Writer, o Options) error {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bencher{o, out, dir}
	measures := []func() error{b.solve, b.rules, b.sizes, b.lookup, b.streams, b.syncs}
	if o.Sync {
		measures = []func() error{b.syncs}
	}
	for _, measure := range measures {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

// rules times driver solve of games of which only the rules are known, and counts the
// moves that the jobs forward told of: those of a position to the same one are one.
func (b *bencher) rules() error {
	fmt.Fprint(b.out, "\n| driver solve, rules only | positions | moves | wall s | CPU s | CPU µs a move | peak MB |\n|---|---|---|---|---|---|---|\n")
	for _, flags := range []string{
		"mnk --width 4 --height 4 --connect 4",
		"mnk --width 4 --height 4 --connect 4 --memory 64M",
		"mancala --pits 4 --stones 4",
	} {
		dir, err := b.scratch()
		if err != nil {
			return err
		}
		u, err := timed(b.command("driver", slices.Concat([]string{"solve"}, strings.Fields(flags), []string{"--final", "no", "--data", dir})...))
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

// command is a command of ours.
func (b *bencher) command(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(b.Bin, name), args...)
}

// timed runs a process to its end.
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

// median returns the middle one of some measurements, figure by figure.
func median(us []usage) usage {
	var walls, cpus []time.Duration
	var peaks []int64
	for _, u := range us {
		walls, cpus, peaks = append(walls, u.wall), append(cpus, u.cpu), append(peaks, u.peak)
	}
	return usage{middle(walls), middle(cpus), middle(peaks)}
}

// middle returns the middle one of some figures.
func middle[T cmp.Ordered](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// scratch is an empty place for a data directory.
func (b *bencher) scratch() (string, error) {
	dir := filepath.Join(b.dir, "data")
	return dir, os.RemoveAll(dir)
}

// positions are what driver solve says that a game has.
var positions = regexp.MustCompile(`(?m)^\d+ positions in `)

// solve times driver solve, and wants the right number of positions.
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
			dir, err := b.scratch()
			if err != nil {
				return err
			}
			args := append(append([]string{"solve"}, strings.Fields(test.flags)...), "--data", dir)
			cmd := b.command("driver", args...)
			var said bytes.Buffer
			cmd.Stdout = &said
			u, err := timed(cmd)
			if err != nil {
				return err
			}
			if found, _, _ := strings.Cut(positions.FindString(said.String()), " "); found != strconv.FormatInt(test.positions, 10) {
				return fmt.Errorf("driver solve %s: expected %d positions, found %q", test.flags, test.positions, found)
			}
			us = append(us, u)
		}
		m := median(us)
		fmt.Fprintf(b.out, "| `%s` | %d | %.2f | %.2f | %.0f | %d |\n", test.flags, runs, m.wall.Seconds(), m.cpu.Seconds(), float64(m.cpu.Nanoseconds())/float64(test.positions), m.peak/1e6)
	}
	return nil
}

// sizes tells what directories take on disk.
func (b *bencher) sizes() error {
	fmt.Fprint(b.out, "\n| on disk | bytes | |\n|---|---|---|\n")
	for _, flags := range []string{"--keep all", "--keep all --compress"} {
		dir, err := b.scratch()
		if err != nil {
			return err
		}
		args := append([]string{"solve", "connectn", "--width", "4", "--height", "5", "--connect", "3", "--data", dir}, strings.Fields(flags)...)
		if _, err := timed(b.command("driver", args...)); err != nil {
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

// states tells what the states and the table of a game with cycles take.
func (b *bencher) states() error {
	const hashes = 43_046_721
	dir, err := b.scratch()
	if err != nil {
		return err
	}
	if _, err := timed(b.command("driver", "solve", "quickcross", "--width", "4", "--height", "4", "--connect", "4",
		"--data", dir, "--keep", "all", "--compress", "--final", "no")); err != nil {
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
	return nil
}

// lookup times look-ups in the table of 5×5 connect 4, within this process.
func (b *bencher) lookup() error {
	dir, err := b.scratch()
	if err != nil {
		return err
	}
	if _, err := timed(b.command("driver", "solve", "connectn", "--width", "5", "--height", "5", "--connect", "4", "--data", dir)); err != nil {
		return err
	}
	var size int64
	err = filepath.WalkDir(filepath.Join(dir, table.Dir), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| 5×5 connect 4, table | %d | %.2f bytes a position |\n", size, float64(size)/69_763_700)

	began := time.Now()
	g, err := connectn.New(5, 5, 4)
	if err != nil {
		return err
	}
	t, err := table.OpenOf(store.Local{}, dir, g)
	if err != nil {
		return err
	}
	defer t.Close()
	opened := time.Since(began)
	slots := 0.0
	for tier := range g.Tiers() + 1 {
		slots += g.Slots(tier)
	}
	fmt.Fprintf(b.out, "| 5×5 connect 4, slots | %.0f | of them %.0f %% are positions |\n", slots, 100*69_763_700/slots)

	positions := randomPositions(g, 20_000)
	var times []time.Duration
	for _, p := range positions {
		began := time.Now()
		if _, ok, err := t.Lookup(p); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("%#x was not found", p))
		}
		times = append(times, time.Since(began))
	}
	first := times[0]
	slices.Sort(times)
	fmt.Fprintf(b.out, "\n| look-up in the table of 5×5 connect 4 | µs |\n|---|---|\n")
	for _, row := range []struct {
		name string
		d    time.Duration
	}{
		{"open the table", opened},
		{"first position", first},
		{fmt.Sprintf("median of %d random positions", len(times)), times[len(times)/2]},
		{"99 % below", times[len(times)*99/100]},
	} {
		fmt.Fprintf(b.out, "| %s | %.1f |\n", row.name, float64(row.d.Nanoseconds())/1000)
	}
	return nil
}

// randomPositions are positions of random games.
func randomPositions(g game.Game, n int) []game.Position {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []game.Position
	for len(all) < n {
		p := g.Start()
		for moves := g.Moves(nil, p); len(moves) > 0; moves = g.Moves(nil, p) {
			p = moves[rng.IntN(len(moves))].To
			all = append(all, p)
		}
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

// streams tells the CPU of mapper and reducer alone, without the sort and
// without the driver, on tiers 17 and 18 of 5×5 connect 4 as text.
func (b *bencher) streams() error {
	dir, err := b.scratch()
	if err != nil {
		return err
	}
	game := []string{"--width", "5", "--height", "5", "--connect", "4"}
	if _, err := timed(b.command("driver", append([]string{"solve", "connectn", "--data", dir, "--keep", "all", "--final", "no"}, game...)...)); err != nil {
		return err
	}
	fmt.Fprint(b.out, "\n| CPU of the processes, 5×5 connect 4, tiers 17 and 18, text | ns a position written | lines in | lines out |\n|---|---|---|---|\n")
	mapped, sorted, reduced := filepath.Join(b.dir, "mapped"), filepath.Join(b.dir, "sorted"), filepath.Join(b.dir, "reduced")
	// What the mapper says where it prints each child as often as it comes.
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
