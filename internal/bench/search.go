package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/gametest"
	"github.com/treereduce/treereduce/search"
)

// RunSearch measures the search of 7×6 connect 4, in this process, with tables of 85 MB;
// and, if pip can install it, BitBully beside it. What must be proven and is not, or is
// proven to be something else, ends it.
func RunSearch(ctx context.Context, out io.Writer, o Options) error {
	g, err := connectn.New(7, 6, 4)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &searchBench{ctx, out, g, dir}
	measures := []func() error{b.sets, b.techniques}
	if o.Large {
		measures = []func() error{b.whole, b.sets, b.techniques, b.hardTechniques, b.wholeBitBully} // what takes longest last
	}
	for _, measure := range measures {
		if err := measure(); err != nil {
			return err
		}
	}
	return nil
}

type searchBench struct {
	ctx context.Context
	out io.Writer
	g   *connectn.Rules
	dir string
}

// tableMemory is what both programs that we are held against had.
const tableMemory = 85 << 20

// A searchRun is what it took to solve some positions.
type searchRun struct {
	wall, cpu            time.Duration
	nodes, lookups, hits uint64
	values               []game.Value // 0 of what was not solved within its limit
	cut                  bool         // there are such
}

// cpuTime is what this process has worked.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// add solves positions with a searcher, one after the other, each within the limit.
func (r *searchRun) add(ctx context.Context, s *search.Searcher, positions []game.Position, l search.Limit) error {
	l.Bare = true
	began := time.Now()
	before, err := cpuTime()
	if err != nil {
		return err
	}
	for _, p := range positions {
		found, err := s.Search(ctx, p, l)
		if err != nil {
			return err
		}
		r.nodes += found.Nodes
		r.lookups += found.Lookups
		r.hits += found.Hits
		if err := ctx.Err(); err != nil {
			return err
		}
		if !found.Exact {
			r.cut, found.Value = true, 0
		}
		r.values = append(r.values, found.Value)
	}
	after, err := cpuTime()
	r.wall += time.Since(began)
	r.cpu += after - before
	return err
}

// run solves positions with a table of their own.
func (b *searchBench) run(o search.Options, l search.Limit, positions []game.Position) (r searchRun, err error) {
	o.Memory = tableMemory
	s, err := search.New(b.g, o)
	if err != nil {
		return r, err
	}
	err = r.add(b.ctx, s, positions, l)
	return r, err
}

// setTime is for how long a set is solved again and again, by whomever: one pass through a
// quick one takes no longer than what the system does by the way.
const setTime = time.Second

// median solves positions with an empty table, again and again, and returns the pass of
// median CPU time.
func (b *searchBench) median(l search.Limit, positions []game.Position) (searchRun, error) {
	s, err := search.New(b.g, search.Options{Memory: tableMemory})
	if err != nil {
		return searchRun{}, err
	}
	var passes []searchRun
	for took := time.Duration(0); took < setTime; took += passes[len(passes)-1].cpu {
		var r searchRun
		s.Forget()
		runtime.GC() // what others have left is not in anyone's time
		if err := r.add(b.ctx, s, positions, l); err != nil {
			return r, err
		}
		passes = append(passes, r)
	}
	slices.SortFunc(passes, func(a, b searchRun) int { return cmp.Compare(a.cpu, b.cpu) })
	return passes[len(passes)/2], nil
}

// row prints a line of a table.
func (r *searchRun) row(out io.Writer, name string) {
	more := ""
	if r.cut {
		more = "more than "
	}
	fmt.Fprintf(out, "| %s | %s%.2f | %s%.2f | %s%d | %.1f | %.2f | %.1f %% |\n", name, more, r.wall.Seconds(), more, r.cpu.Seconds(), more, r.nodes,
		float64(r.nodes)/r.cpu.Seconds()/1e6, float64(r.lookups)/float64(r.nodes), 100*float64(r.hits)/float64(r.lookups))
}

const searchHead = " | wall s | CPU s | nodes | million nodes a CPU second | look-ups a node | of them hits |\n|---|---|---|---|---|---|---|\n"

// whole solves the game from the empty board.
func (b *searchBench) whole() error {
	fmt.Fprint(b.out, "| 7×6 connect 4, empty board"+searchHead)
	for _, tt := range []struct {
		name    string
		threads int
		limit   search.Limit
	}{
		{"who wins, one core", 1, search.Limit{Weak: true}},
		{"in how many moves, one core", 1, search.Limit{}},
		{"who wins, two cores", 2, search.Limit{Weak: true}},
		{"in how many moves, two cores", 2, search.Limit{}},
	} {
		r, err := b.run(search.Options{Threads: tt.threads}, tt.limit, []game.Position{b.g.Start()})
		if err != nil {
			return err
		}
		if v := r.values[0]; v.Outcome() != game.FirstWins || !tt.limit.Weak && v.Remoteness() != 41 {
			return fmt.Errorf("%s: %s, expected X wins in 41", b.g.Spec(), b.g.Values().Text(v))
		}
		r.row(b.out, tt.name)
	}
	fmt.Fprintln(b.out)
	return nil
}

// wholeLimit is what BitBully gets for the empty board: five times as long as we need.
const wholeLimit = 10 * time.Minute

// wholeBitBully has BitBully solve the game from the empty board.
func (b *searchBench) wholeBitBully() error {
	start := []game.Position{b.g.Start()}
	fmt.Fprintf(b.out, "BitBully on the empty board, in how many moves, µs of CPU: %s.\n\n", b.bitBully(start, []game.Value{game.NewValue(game.FirstWins, 41)}, wholeLimit))
	return b.ctx.Err()
}

// A set is positions at random, by how many stones lie and how many moves are left.
type set struct {
	name          string
	stones, moves [2]int // from, to
}

// setNodes is what may be looked at to prove a position of a set: a tenth of a second's,
// but the same on every machine.
const setNodes = 600_000

// positions makes n positions of a set: by legal moves at random to so many stones, each
// number as likely, without a line; and of these those with so many moves left. What is not
// proven within setNodes is left out, and counted: of few stones its end is not near, of many
// there is hardly one.
func (b *searchBench) positions(of set, n int) (list []game.Position, unproven int, err error) {
	s, err := search.New(b.g, search.Options{Memory: tableMemory})
	if err != nil {
		return nil, 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	for len(list) < n {
		stones := of.stones[0] + r.IntN(of.stones[1]-of.stones[0]+1)
		walk := gametest.Walk(r, b.g, stones)
		p := walk[len(walk)-1]
		if b.g.Tier(p) != stones || b.g.Primitive(p) != 0 {
			continue
		}
		found, err := s.Search(b.ctx, p, search.Limit{Nodes: setNodes, Bare: true})
		if err != nil {
			return nil, 0, err
		}
		if err := b.ctx.Err(); err != nil {
			return nil, 0, err
		}
		if in := found.Value.Remoteness(); !found.Exact {
			unproven++
		} else if of.moves[0] <= in && in <= of.moves[1] {
			list = append(list, p)
		}
	}
	return list, unproven, nil
}

// sets times sets of positions.
func (b *searchBench) sets() error {
	fmt.Fprint(b.out, "| 1,000 positions at random, proven within 600,000 nodes | left out: not proven so | µs a position, exact | nodes a position | µs, who wins | BitBully: µs, exact |\n|---|---|---|---|---|---|\n")
	for _, of := range []set{
		{"late: 29 to 40 stones, up to 13 moves left", [2]int{29, 40}, [2]int{1, 13}},
		{"middle: 15 to 28 stones, 14 to 27 moves left", [2]int{15, 28}, [2]int{14, 27}},
		{"early but easy: 8 to 13 stones, up to 13 moves left", [2]int{8, 13}, [2]int{1, 13}},
	} {
		const n = 1000
		positions, unproven, err := b.positions(of, n)
		if err != nil {
			return err
		}
		exact, err := b.median(search.Limit{}, positions)
		if err != nil {
			return err
		}
		weak, err := b.median(search.Limit{Weak: true}, positions)
		if err != nil {
			return err
		}
		us := func(r searchRun) float64 { return r.cpu.Seconds() * 1e6 / n }
		fmt.Fprintf(b.out, "| %s | %d | %.1f | %.0f | %.1f | %s |\n", of.name, unproven, us(exact), float64(exact.nodes)/n, us(weak), b.bitBully(positions, exact.values, 0))
	}
	fmt.Fprintln(b.out)
	return nil
}

// random makes n positions of so many stones.
func (b *searchBench) random(r *rand.Rand, stones, n int) []game.Position {
	var positions []game.Position
	for len(positions) < n {
		if walk := gametest.Walk(r, b.g, stones); len(walk) == stones+1 && b.g.Primitive(walk[stones]) == 0 {
			positions = append(positions, walk[stones])
		}
	}
	return positions
}

// techniques leaves out each technique, on positions of eight stones.
func (b *searchBench) techniques() error {
	return b.without("ten positions of 8 stones, exact", b.random(rand.New(rand.NewPCG(3, 4)), 8, 10), 0)
}

// How many positions are looked at to prove a hard position, from and to; and without a
// technique at most how many times as many as with all.
const (
	hardFrom = 10_000_000
	hardTo   = 40_000_000
	hardMost = 4
)

// hardBitBully is what BitBully gets for all of them.
const hardBitBully = 3 * time.Minute

// hardTechniques does so on positions that take seconds: all of it less than a quarter of
// an hour.
func (b *searchBench) hardTechniques() error {
	s, err := search.New(b.g, search.Options{Memory: tableMemory})
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(5, 6))
	var hard []game.Position
	for len(hard) < 3 {
		p := b.random(r, 4, 1)[0]
		found, err := s.Search(b.ctx, p, search.Limit{Nodes: hardTo, Bare: true})
		if err != nil {
			return err
		}
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if found.Exact && found.Nodes > hardFrom {
			hard = append(hard, p)
		}
	}
	fmt.Fprintln(b.out)
	return b.without("three hard positions of 4 stones, exact", hard, hardMost)
}

// without solves positions with all techniques, and without each, which may then look at
// most times as many positions; 0: any number. All take turns at every position: if the
// machine is at other work for a while, all of them notice.
func (b *searchBench) without(name string, positions []game.Position, most uint64) error {
	names := slices.Concat([]string{""}, slices.Sorted(maps.Keys(search.ByName())))
	names = slices.DeleteFunc(names, func(name string) bool { return search.ByName()[name] == search.Killers }) // of other games
	var searchers []*search.Searcher
	for _, name := range names {
		s, err := search.New(b.g, search.Options{Memory: tableMemory, Without: search.ByName()[name]})
		if err != nil {
			return err
		}
		searchers = append(searchers, s)
	}
	two, err := search.New(b.g, search.Options{Memory: tableMemory, Threads: 2})
	if err != nil {
		return err
	}
	names, searchers = append(names, "two cores"), append(searchers, two)
	runs := make([]searchRun, len(names))
	for one := range slices.Chunk(positions, 1) {
		var limit search.Limit
		before := runs[0].nodes
		for i, s := range searchers {
			if err := runs[i].add(b.ctx, s, one, limit); err != nil {
				return err
			}
			limit.Nodes = most * (runs[0].nodes - before)
		}
	}
	fmt.Fprint(b.out, "| "+name+searchHead)
	for i, r := range runs {
		for j, v := range r.values {
			if v != 0 && v != runs[0].values[j] {
				return fmt.Errorf("without %s: values %v, with it %v", names[i], r.values, runs[0].values)
			}
		}
		switch label := names[i]; label {
		case "":
			r.row(b.out, "all techniques")
		case "two cores":
			r.row(b.out, label)
		default:
			r.row(b.out, "without "+label)
		}
	}
	limit := time.Duration(0)
	if most > 0 {
		limit = hardBitBully
	}
	fmt.Fprintf(b.out, "\nBitBully on these, µs a position: %s.\n", b.bitBully(positions, runs[0].values, limit))
	return nil
}

// bitBullyScript solves lines of columns, again and again as we do, and prints the median of
// its CPU seconds, then for each line the score: how many stones of the winner's are left,
// in half plies. Its argument is setTime in seconds.
const bitBullyScript = `
import statistics, sys, time
from bitbully import bitbully_core as core
boards = []
for line in sys.stdin:
    b = core.BoardCore()
    rows = [[int(s) for s in row] for row in line.split()]
    assert b.setBoard(rows), line
    boards.append(b)
took = []
while sum(took) < float(sys.argv[1]):
    solver = core.BitBullyCore()
    began = time.process_time()
    scores = [solver.mtdf(b, 0) for b in boards]
    took.append(time.process_time() - began)
print(statistics.median(took))
for s in scores: print(s)
`

// bitBully is the CPU time of BitBully (PyPI, for comparison only) for a position in µs,
// or why there is none: it may take limit for all of them, if that is not 0. Who wins must
// be as we have it.
func (b *searchBench) bitBully(positions []game.Position, values []game.Value, limit time.Duration) string {
	python := filepath.Join(b.dir, "venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		for _, args := range [][]string{{"python3", "-m", "venv", filepath.Join(b.dir, "venv")}, {python, "-m", "pip", "install", "-q", "bitbully==0.0.79"}} {
			if err := exec.CommandContext(b.ctx, args[0], args[1:]...).Run(); err != nil {
				return "not installed"
			}
		}
	}
	var in bytes.Buffer
	for _, p := range positions {
		text := b.g.AppendText(nil, p)
		for row := 5; row >= 0; row-- {
			for column := range 7 {
				in.WriteByte("012"[strings.IndexByte(" XO", text[column*6+row])])
			}
			in.WriteString(" ")
		}
		in.WriteString("\n")
	}
	ctx := b.ctx
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, python, "-c", bitBullyScript, fmt.Sprint(setTime.Seconds()))
	cmd.Stdin = &in
	text, err := cmd.Output()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("not finished after %.0f s", limit.Seconds())
	}
	if err != nil {
		return "failed"
	}
	var seconds float64
	answers := bytes.NewReader(text)
	if _, err := fmt.Fscan(answers, &seconds); err != nil {
		return "failed"
	}
	for i, p := range positions {
		var score int
		if _, err := fmt.Fscan(answers, &score); err != nil {
			return "failed"
		}
		want := 0
		switch values[i].Outcome() {
		case game.WinFor(b.g.ToMove(p)):
			want = 1
		case game.WinFor(b.g.ToMove(p).Other()):
			want = -1
		}
		if min(max(score, -1), 1) != want {
			return fmt.Sprintf("wrong: %q", b.g.AppendText(nil, p))
		}
	}
	return fmt.Sprintf("%.1f", seconds*1e6/float64(len(positions)))
}
