package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
		measures = []func() error{b.whole, b.sets, b.techniques, b.wholeBitBully}
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
	values               []game.Value
}

// cpuTime is what this process has worked.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// run solves positions, one after the other with the same table.
func (b *searchBench) run(o search.Options, l search.Limit, positions []game.Position) (r searchRun, err error) {
	o.Memory, l.Bare = tableMemory, true
	s, err := search.New(b.g, o)
	if err != nil {
		return r, err
	}
	began := time.Now()
	before, err := cpuTime()
	if err != nil {
		return r, err
	}
	for _, p := range positions {
		found, err := s.Search(b.ctx, p, l)
		if err != nil {
			return r, err
		}
		if !found.Exact {
			return r, b.ctx.Err()
		}
		r.nodes += found.Nodes
		r.lookups += found.Lookups
		r.hits += found.Hits
		r.values = append(r.values, found.Value)
	}
	after, err := cpuTime()
	r.wall, r.cpu = time.Since(began), after-before
	return r, err
}

// row prints a line of a table.
func (r *searchRun) row(out io.Writer, name string) {
	fmt.Fprintf(out, "| %s | %.2f | %.2f | %d | %.1f | %.2f | %.1f %% |\n", name, r.wall.Seconds(), r.cpu.Seconds(), r.nodes,
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

// wholeBitBully has BitBully solve the game from the empty board.
func (b *searchBench) wholeBitBully() error {
	start := []game.Position{b.g.Start()}
	fmt.Fprintf(b.out, "\nBitBully on the empty board: %s µs of CPU.\n", b.bitBully(start, []game.Value{game.NewValue(game.FirstWins, 41)}))
	return nil
}

// A set is positions at random, by how many stones lie and how many moves are left.
type set struct {
	name          string
	stones, moves [2]int // from, to
}

// positions makes n positions of a set. What takes long to prove is left out: its end is
// not near.
func (b *searchBench) positions(of set, n int) ([]game.Position, error) {
	s, err := search.New(b.g, search.Options{Memory: tableMemory})
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	var list []game.Position
	for len(list) < n {
		stones := of.stones[0] + r.IntN(of.stones[1]-of.stones[0]+1)
		walk := gametest.Walk(r, b.g, stones)
		p := walk[len(walk)-1]
		if b.g.Tier(p) != stones || b.g.Primitive(p) != 0 {
			continue
		}
		found, err := s.Search(b.ctx, p, search.Limit{Time: 100 * time.Millisecond, Bare: true})
		if err != nil {
			return nil, err
		}
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		if in := found.Value.Remoteness(); found.Exact && of.moves[0] <= in && in <= of.moves[1] {
			list = append(list, p)
		}
	}
	return list, nil
}

// sets times sets of positions.
func (b *searchBench) sets() error {
	fmt.Fprint(b.out, "| 1,000 positions at random | µs a position, exact | nodes a position | µs, who wins | BitBully: µs, exact |\n|---|---|---|---|---|\n")
	for _, of := range []set{
		{"late: 29 to 40 stones, up to 13 moves left", [2]int{29, 40}, [2]int{1, 13}},
		{"middle: 15 to 28 stones, 14 to 27 moves left", [2]int{15, 28}, [2]int{14, 27}},
		{"early but easy: 8 to 13 stones, up to 13 moves left", [2]int{8, 13}, [2]int{1, 13}},
	} {
		const n = 1000
		positions, err := b.positions(of, n)
		if err != nil {
			return err
		}
		exact, err := b.run(search.Options{}, search.Limit{}, positions)
		if err != nil {
			return err
		}
		weak, err := b.run(search.Options{}, search.Limit{Weak: true}, positions)
		if err != nil {
			return err
		}
		us := func(r searchRun) float64 { return r.cpu.Seconds() * 1e6 / n }
		fmt.Fprintf(b.out, "| %s | %.1f | %.0f | %.1f | %s |\n", of.name, us(exact), float64(exact.nodes)/n, us(weak), b.bitBully(positions, exact.values))
	}
	fmt.Fprintln(b.out)
	return nil
}

// techniques leaves out each technique, on positions of eight stones.
func (b *searchBench) techniques() error {
	r := rand.New(rand.NewPCG(3, 4))
	var positions []game.Position
	for len(positions) < 10 {
		if walk := gametest.Walk(r, b.g, 8); len(walk) == 9 && b.g.Primitive(walk[8]) == 0 {
			positions = append(positions, walk[8])
		}
	}
	fmt.Fprint(b.out, "| ten positions of 8 stones, exact"+searchHead)
	all, err := b.run(search.Options{}, search.Limit{}, positions)
	if err != nil {
		return err
	}
	all.row(b.out, "all techniques")
	for _, name := range slices.Sorted(maps.Keys(search.ByName())) {
		r, err := b.run(search.Options{Without: search.ByName()[name]}, search.Limit{}, positions)
		if err != nil {
			return err
		}
		if !slices.Equal(r.values, all.values) {
			return fmt.Errorf("without %s: values %v, with it %v", name, r.values, all.values)
		}
		r.row(b.out, "without "+name)
	}
	two, err := b.run(search.Options{Threads: 2}, search.Limit{}, positions)
	if err != nil {
		return err
	}
	two.row(b.out, "two cores")
	fmt.Fprintf(b.out, "\nBitBully on these: %s µs a position.\n", b.bitBully(positions, all.values))
	return nil
}

// bitBullyScript solves lines of columns, and prints its CPU seconds, then for each line
// the score: how many stones of the winner's are left, in half plies.
const bitBullyScript = `
import sys, time
from bitbully import bitbully_core as core
boards = []
for line in sys.stdin:
    b = core.BoardCore()
    rows = [[int(s) for s in row] for row in line.split()]
    assert b.setBoard(rows), line
    boards.append(b)
solver = core.BitBullyCore()
began = time.process_time()
scores = [solver.mtdf(b, 0) for b in boards]
print(time.process_time() - began)
for s in scores: print(s)
`

// bitBully is the CPU time of BitBully (PyPI, for comparison only) for a position in µs,
// or why there is none. Who wins must be as we have it.
func (b *searchBench) bitBully(positions []game.Position, values []game.Value) string {
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
	cmd := exec.CommandContext(b.ctx, python, "-c", bitBullyScript)
	cmd.Stdin = &in
	text, err := cmd.Output()
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
