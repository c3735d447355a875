// Package calibrate measures the rates of a machine, and of a cluster, for package plan. It
// solves small games and measures the cost. It uses the inline runner and the loop of
// jobs; for a cluster, callers pass in the journals of runs. It knows no command lines, and
// stores nothing.
package calibrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mancala"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/plan"
	"github.com/treereduce/treereduce/internal/plan/count"
	"github.com/treereduce/treereduce/internal/system"
)

// Options describe what to measure, and for how long.
type Options struct {
	// Time is the approximate duration; below twenty seconds, the games are so small that
	// the rates are rough.
	Time time.Duration
	Dir  string // an empty directory on the disk to be measured
	// Self is a command with arguments that does nothing; it measures the start of a
	// process.
	Self []string
	// Probe returns the share of the cores' time that is free, 0 to 1. It is called before and
	// after the measurements, to reject a busy machine. Nil: Idle.
	Probe func() float64
	// Progress is called with the current measurement and the share that is done. May be nil.
	Progress func(what string, share float64)
}

// roughBelow is the value of Options.Time below which the small games are used.
const roughBelow = 20 * time.Second

// A size is the set of games to solve: boards of Connect N with many and with few
// positions per block; a game solved by lists; and games with cycles.
type size struct {
	dense, sparse        [3]int // width, height, connect
	lists, states, plain [3]int
	file                 int64 // bytes to write to the disk
}

var (
	rough = size{dense: [3]int{4, 5, 4}, sparse: [3]int{4, 5, 3}, lists: [3]int{4, 3, 3}, states: [3]int{4, 3, 3}, plain: [3]int{3, 3, 3}, file: 8 << 20}
	full  = size{dense: [3]int{5, 5, 4}, sparse: [3]int{5, 5, 3}, lists: [3]int{4, 4, 3}, states: [3]int{4, 4, 3}, plain: [3]int{4, 3, 3}, file: 512 << 20}
)

// A took is the measured cost of solving a game.
type took struct {
	g                game.Game
	cpu, wall        float64 // seconds
	positions, moves float64
	tiers            int
}

// Machine measures this machine and sets all rates except those of a cluster.
func Machine(ctx context.Context, o Options) (*plan.Rates, error) {
	r := plan.Builtin()
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	r.Machine, r.Measured, r.Cores = host, time.Now().UTC().Truncate(time.Second), runtime.GOMAXPROCS(0)
	s := full
	if o.Time < roughBelow {
		s = rough
	}
	m := &measurer{ctx: ctx, o: o}
	if o.Probe == nil {
		m.o.Probe = Idle
	}
	if err := m.idle(); err != nil {
		return nil, err
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"start of a process", func() error { return m.process(r) }},
		{"disk", func() error { return m.disk(s.file, r) }},
		{"blocks", func() error { return m.blocks(s, r) }},
		{"lists", func() error { return m.lists(s, r) }},
		{"states", func() error { return m.states(s, r) }},
	}
	for i, step := range steps {
		if o.Progress != nil {
			o.Progress("measuring: "+step.what, float64(i)/float64(len(steps)))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("measuring %s: %w", step.what, err)
		}
	}
	if err := m.idle(); err != nil {
		return nil, err
	}
	return r, r.Check()
}

const (
	// idleFrom is the share of the time of all cores that a process must get for useful
	// rates.
	idleFrom = 0.85
	// probeTime is the duration of a probe.
	probeTime = 500 * time.Millisecond
)

// idle returns an error if the machine is busy.
func (m *measurer) idle() error {
	if share := m.o.Probe(); share < idleFrom {
		return fmt.Errorf("this machine is busy: %.0f%% of the time of its cores is free, and rates need %.0f%%; stop other programs and calibrate again, or use --busy", 100*share, 100*idleFrom)
	}
	return nil
}

// Idle returns the share of the cores' time that this process gets when it uses as much as it
// can.
func Idle() float64 {
	cores := runtime.GOMAXPROCS(0)
	begun, before := time.Now(), cpu()
	var all sync.WaitGroup
	for range cores {
		all.Go(func() {
			for time.Since(begun) < probeTime {
			}
		})
	}
	all.Wait()
	return min(1, (cpu()-before)/time.Since(begun).Seconds()/float64(cores))
}

// A measurer is one calibration.
type measurer struct {
	ctx context.Context
	o   Options
}

// processes is the number of processes to start, syncs the number of files to sync.
const (
	processes = 5
	syncs     = 40
)

// process measures the median time of starting a process.
func (m *measurer) process(r *plan.Rates) error {
	var all []float64
	for range processes {
		begun := time.Now()
		var out bytes.Buffer
		cmd := exec.Command(m.o.Self[0], m.o.Self[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := system.Run(m.ctx, cmd); err != nil {
			return fmt.Errorf("%v: %w: %s", m.o.Self, err, out.Bytes())
		}
		all = append(all, time.Since(begun).Seconds())
	}
	r.Process = median(all)
	return nil
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// disk writes a file, reads it back, bypassing the machine's file cache if possible, and
// syncs small files.
func (m *measurer) disk(size int64, r *plan.Rates) error {
	name := filepath.Join(m.o.Dir, "file")
	defer os.Remove(name)
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = byte(i * i >> 8) // the low bits, so that the bytes differ
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	begun := time.Now()
	for written := int64(0); written < size; written += int64(len(chunk)) {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if _, err := f.Write(chunk); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	r.Disk.Write = float64(size) / time.Since(begun).Seconds()
	forget(f)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	begun = time.Now()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, f, chunk); err != nil {
		return err
	}
	r.Disk.Read = float64(size) / time.Since(begun).Seconds()
	var all []float64
	for range syncs {
		small := name + ".small"
		if err := os.WriteFile(small, chunk[:100], 0o666); err != nil {
			return err
		}
		begun := time.Now()
		err := store.Local{}.Sync(small)
		all = append(all, time.Since(begun).Seconds())
		if err := errors.Join(err, os.Remove(small)); err != nil {
			return err
		}
	}
	r.Disk.Sync = median(all)
	return nil
}

// blocks solves boards of Connect N: see fitBlocks.
func (m *measurer) blocks(s size, r *plan.Rates) error {
	var boards [3]took
	var counts [3]*count.Counts
	for i, board := range [...][3]int{{3, 3, 3}, s.dense, s.sparse} {
		g, err := connectn.Kind.Make(board[:])
		if err != nil {
			return err
		}
		if boards[i], err = m.solve(g); err != nil {
			return err
		}
		if counts[i], err = count.Of(m.ctx, g, count.Options{Draws: fitDraws, Exact: fitDraws}); err != nil {
			return err
		}
	}
	if err := fitBlocks(r, boards, counts); err != nil {
		return err
	}
	if dense := boards[1]; r.Cores > 1 {
		r.Serial = serial(dense.cpu, dense.wall-float64(dense.tiers)*4*r.Disk.Sync, r.Cores)
	}
	return nil
}

const (
	// fitDraws is the number of samples for counting the positions of the boards.
	fitDraws = 50_000
	// fitBounds limits how many times larger or smaller a rate may be than the built-in one,
	// because noise can make differences meaningless.
	fitBounds = 20
)

// fitBlocks fits the rates of blocks to three boards: a tiny one shows the cost of a tier, two
// with many and few positions per block show the speed of the machine. The proportions of the
// other rates follow from the code, and are built in: small boards cannot measure them well.
func fitBlocks(r *plan.Rates, boards [3]took, counts [3]*count.Counts) error {
	of := func(i int, b plan.BlockRates) (float64, error) {
		rates := plan.Fastest()
		rates.Blocks = b
		p, err := plan.Make(boards[i].g, counts[i], rates, plan.Where{Runner: plan.Inline, Machine: plan.Machine{Name: "this machine", Cores: 1}})
		if err != nil {
			return 0, err
		}
		return p.Total.CPUHours * 3600, nil
	}
	base := plan.Fastest().Blocks
	base.Tier = boards[0].cpu / float64(boards[0].tiers)
	tiers, work := plan.BlockRates{Tier: base.Tier}, base
	work.Tier = 0
	measured, planned := 0.0, 0.0
	for i := 1; i <= 2; i++ {
		own, err := of(i, tiers)
		if err != nil {
			return err
		}
		all, err := of(i, work)
		if err != nil {
			return err
		}
		measured += max(0, boards[i].cpu-own)
		planned += all
	}
	times := within(measured / planned)
	for _, rate := range []*float64{&base.Start, &base.Value, &base.Slot, &base.Range, &base.Image, &base.Table} {
		*rate *= times
	}
	r.Blocks = base
	return nil
}

// within limits times, a measured time divided by that of the built-in rates, to a factor of
// fitBounds.
func within(times float64) float64 {
	if math.IsNaN(times) {
		return 1
	}
	return min(max(times, 1/float64(fitBounds)), fitBounds)
}

// serial returns the share of the CPU time in which only one core can work, by Amdahl's law,
// from the CPU time and the wall time of a run on several cores.
func serial(cpu, wall float64, cores int) float64 {
	speed := cpu / wall // number of cores that seem to have worked all the time
	return min(max((float64(cores)/speed-1)/float64(cores-1), 0.005), 0.5)
}

// lists solves Mancala with few stones, which has many small tiers, and m,n,k tic-tac-toe.
func (m *measurer) lists(s size, r *plan.Rates) error {
	var all [2]took
	for i, of := range []struct {
		kind game.Kind
		args []int
	}{{mancala.Kind, []int{3, 2}}, {mnk.Kind, s.lists[:]}} {
		g, err := of.kind.Make(of.args)
		if err != nil {
			return err
		}
		if all[i], err = m.solve(g); err != nil {
			return err
		}
	}
	fitLists(r, all[0], all[1])
	return nil
}

// fitLists fits the rates of lists to a game of many small tiers and a game of large ones.
func fitLists(r *plan.Rates, tiers, large took) {
	base := plan.Fastest().Lists
	base.Tier = tiers.cpu / float64(tiers.tiers)
	times := within(1e9 * (large.cpu - base.Tier*float64(large.tiers)) / (base.Position*large.positions + base.Move*large.moves))
	for _, rate := range []*float64{&base.Position, &base.Move, &base.Far} {
		*rate *= times
	}
	r.Lists = base
}

// states solves Quick Cross with its set methods, and with its rules alone.
func (m *measurer) states(s size, r *plan.Rates) error {
	g, err := quickcross.Kind.Make(s.states[:])
	if err != nil {
		return err
	}
	t, err := m.solve(g)
	if err != nil {
		return err
	}
	r.States.Position = 1e9 * t.cpu / t.positions
	if g, err = quickcross.Kind.Make(s.plain[:]); err != nil {
		return err
	}
	if t, err = m.solve(game.WithRanges(rulesOnly{g}, 1<<14)); err != nil {
		return err
	}
	r.States.Move = 1e9 * t.cpu / t.moves
	return nil
}

// rulesOnly hides all extensions of a game.
type rulesOnly struct{ game.Game }

// solve solves a game in this process.
func (m *measurer) solve(g game.Game) (t took, err error) {
	dir := filepath.Join(m.o.Dir, "data")
	defer os.RemoveAll(dir)
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Overwrite, solve.IsRunArtifact, func(string) (bool, error) { return false, nil })
	if err != nil {
		return t, err
	}
	defer data.Close()
	begun, before := time.Now(), cpu()
	result, err := solve.Run(m.ctx, data, g, solve.Options{
		Runner: &inline.Runner{}, Reducers: 1, Combine: true, Codec: jobdir.Packed, Final: solve.FinalNo, UntilTier: -1,
	})
	if err != nil {
		return t, err
	}
	t.cpu, t.wall, t.positions = cpu()-before, time.Since(begun).Seconds(), float64(result.Positions)
	journal, err := solve.ReadJournal(store.Local{}, dir)
	if err != nil {
		return t, err
	}
	for _, j := range journal.Jobs {
		if j.Step == step.Possible || j.Step == step.Init || j.Step == step.Mark || j.Step == step.Create {
			t.moves += float64(j.Messages)
		}
	}
	t.g, t.tiers = g, game.LastTier(g)+1
	return t, nil
}

// cpu returns the CPU time of this process, in seconds.
func cpu() float64 { return system.CPU().Seconds() }
