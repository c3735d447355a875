// Package calibrate measures the rates of a machine, and of a cluster, by which package plan
// reckons: it solves small games and looks at what they took. It knows the runner in process
// and the loop of jobs; of a cluster it is given the journals of runs there. It knows no
// command line, and keeps nothing.
package calibrate

import (
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
	"syscall"
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
)

// Options are what is measured, and how long it may take.
type Options struct {
	// Time is about how long it may take; below twenty seconds the games are so small that
	// the rates are rough.
	Time time.Duration
	Dir  string // an empty directory on the disk that is measured
	// Self is a program that does nothing with these arguments: what the start of a process
	// costs.
	Self []string
	// Probe is the share of the cores' time that is free, 0 to 1, before and after the
	// measurements: a busy machine is refused. Nil: Idle.
	Probe func() float64
	// Progress is told what is being measured, and which share of all is done. May be nil.
	Progress func(what string, share float64)
}

// roughBelow is below which time the small games are taken.
const roughBelow = 20 * time.Second

// A size is the games that are solved: boards of Connect N with many positions in a block and
// with few; one by lists; and games with cycles.
type size struct {
	dense, sparse        [3]int // width, height, connect
	lists, states, plain [3]int
	file                 int64 // bytes that are written to the disk
}

var (
	rough = size{dense: [3]int{4, 5, 4}, sparse: [3]int{4, 5, 3}, lists: [3]int{4, 3, 3}, states: [3]int{4, 3, 3}, plain: [3]int{3, 3, 3}, file: 8 << 20}
	full  = size{dense: [3]int{5, 5, 4}, sparse: [3]int{5, 5, 3}, lists: [3]int{4, 4, 3}, states: [3]int{4, 4, 3}, plain: [3]int{4, 3, 3}, file: 512 << 20}
)

// A took is what solving a game took.
type took struct {
	g                game.Game
	cpu, wall        float64 // seconds
	positions, moves float64
	tiers            int
}

// Machine measures this machine, and fills in all rates but those of a cluster.
func Machine(ctx context.Context, o Options) (*plan.Rates, error) {
	r := plan.Builtin()
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
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
	// idleFrom is which share of the time of all cores a process must get for rates to be worth
	// something.
	idleFrom = 0.85
	// probeTime is how long a probe takes.
	probeTime = 500 * time.Millisecond
)

// idle refuses a machine that is busy.
func (m *measurer) idle() error {
	if share := m.o.Probe(); share < idleFrom {
		return fmt.Errorf("this machine is busy: %.0f %% of the time of its cores is free, and rates need %.0f %%; stop other programs and calibrate again, or give --busy", 100*share, 100*idleFrom)
	}
	return nil
}

// Idle is the share of the cores' time that this process gets when it can use all of it.
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

// processes is how often a process is started, syncs how many files are synced.
const (
	processes = 5
	syncs     = 40
)

// process is the median start of one.
func (m *measurer) process(r *plan.Rates) error {
	var all []float64
	for range processes {
		begun := time.Now()
		if out, err := exec.CommandContext(m.ctx, m.o.Self[0], m.o.Self[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w: %s", m.o.Self, err, out)
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

// disk writes a file and reads it, past the memory of the machine where that can be had, and
// syncs small ones.
func (m *measurer) disk(size int64, r *plan.Rates) error {
	name := filepath.Join(m.o.Dir, "file")
	defer os.Remove(name)
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = byte(i * i >> 8)
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
	// fitDraws are how many boards are drawn to count those that are solved.
	fitDraws = 50_000
	// fitBounds is how many times a rate may be above or below the one that is built in: of
	// noise a difference may make nonsense.
	fitBounds = 20
)

// fitBlocks fits the rates of blocks to three boards: a tiny one tells what a tier costs, two
// with many and few positions in a block how fast the machine is. How the other rates stand
// to one another follows from the code, and is built in: small boards tell it badly.
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
	for _, rate := range []*float64{&base.Start, &base.Value, &base.Slot, &base.Range, &base.Table} {
		*rate *= times
	}
	r.Blocks = base
	return nil
}

// within is how many times as much was measured as by the rates that are built in, but no
// farther from them than fitBounds.
func within(times float64) float64 {
	if math.IsNaN(times) {
		return 1
	}
	return min(max(times, 1/float64(fitBounds)), fitBounds)
}

// serial is the share of the CPU time on which one core alone can be at work, as Amdahl has it,
// if so much of it took so long on some cores.
func serial(cpu, wall float64, cores int) float64 {
	speed := cpu / wall // as if all cores did the same work
	return min(max((float64(cores)/speed-1)/float64(cores-1), 0.005), 0.5)
}

// lists solves Mancala of few stones, whose many tiers are small, and m,n,k tic-tac-toe.
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

// states solves Quick Cross by its bitmaps, and by nothing but its rules.
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
	if t, err = m.solve(game.PlainRanges(rulesOnly{g}, 1<<14)); err != nil {
		return err
	}
	r.States.Move = 1e9 * t.cpu / t.moves
	return nil
}

// rulesOnly is a game of which nothing is known but its rules.
type rulesOnly struct{ game.Game }

// solve solves a game in this process.
func (m *measurer) solve(g game.Game) (t took, err error) {
	dir := filepath.Join(m.o.Dir, "data")
	defer os.RemoveAll(dir)
	data, err := store.Create(store.Local{}, dir, g.Spec(), store.Overwrite, func(string) (bool, error) { return false, nil })
	if err != nil {
		return t, err
	}
	defer data.Close()
	begun, before := time.Now(), cpu()
	result, err := solve.Run(m.ctx, data, g, solve.Options{
		Runner: &inline.Runner{}, Reducers: 1, Combine: true, Codec: jobdir.Blocks, Final: solve.FinalNo, UntilTier: -1,
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

// cpu is how many seconds of CPU this process has had.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	of := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return of(u.Utime) + of(u.Stime)
}
