//go:build linux

package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/block"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/streamfmt"
	"github.com/treereduce/treereduce/table"
)

// wrongCounts is the error of verify for a file whose counts are wrong.
const wrongCounts = "the recorded counts differ from the positions in the file"

// solvedOnce solves each of the two games once, for all tests of verify.
var solvedOnce = map[string]func() (string, error){"connectn": solveOnce("connectn"), "quickcross": solveOnce("quickcross")}

func solveOnce(name string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		dir := filepath.Join(filepath.Dir(bin), "solved-"+name) // deleted with the commands
		words := map[string][]string{"connectn": board, "quickcross": cyclic}[name]
		out, err := driver(words, dir, "--final=no").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return dir, err
	})
}

// copyTable copies the table of one of the two games, to be damaged.
func copyTable(t *testing.T, name string) (dir string) {
	t.Helper()
	from := must.Get(solvedOnce[name]())(t)
	dir = t.TempDir()
	must.OK(t, os.CopyFS(filepath.Join(dir, table.Dir), os.DirFS(filepath.Join(from, table.Dir))))
	return dir
}

// reseal makes the _SUCCESS of a damaged table match its files, because these tests are about
// the check of the contents.
func reseal(t *testing.T, dir, spec string) {
	t.Helper()
	must.OK(t, table.Seal(store.Local{}, dir, spec))
}

// changeTier rewrites a tier of a table: change may modify each of its blocks, counts the
// number of positions that the file states.
func changeTier(t *testing.T, dir string, whole game.Tiered, tier int, change func(*block.Block), counts func(*streamfmt.Counts)) {
	t.Helper()
	g := game.HalfOf(whole)
	name := filepath.Join(dir, table.TierFile(g, tier))
	in := must.Get(jobdir.OpenTierFiles(store.Local{}, []string{name}, g, tier))(t)
	text := must.Get(os.ReadFile(name))(t)
	file := must.Get(streamfmt.OpenFile(bytes.NewReader(text), int64(len(text)), name))(t)
	var out bytes.Buffer
	w := must.Get(streamfmt.NewCompactWriter(&out, g.Spec(), tier, true, file.Model()))(t)
	ranges := must.Get(in.Ranges())(t)
	c := in.Cursor(0)
	for i := range in.Len() {
		var b block.Block
		must.Get(c.Load(&b, ranges[i]))(t)
		if change != nil {
			change(&b)
		}
		var p streamfmt.Packer
		p.SetCompact(game.DeducerOf(g), file.Model())
		_, balanced := g.Stored(tier, b.Range)
		p.AddHalf(&b, balanced)
		if i == 0 && counts != nil {
			counts(&p.Counts)
		}
		must.OK(t, w.Append(&p))
	}
	must.OK(t, errors.Join(in.Close(), w.Close(), os.WriteFile(name, out.Bytes(), 0o666)))
	reseal(t, dir, g.Spec())
}

// changeStates rewrites the table of a game with cycles, as changeTier does.
func changeStates(t *testing.T, dir string, g game.Cyclic, change func(rng uint64, s *block.State), counts func(*streamfmt.Counts)) {
	t.Helper()
	name := filepath.Join(dir, table.CyclicFile)
	in := must.Get(jobdir.OpenStateFile(store.Local{}, name, g))(t)
	var out bytes.Buffer
	w := must.Get(streamfmt.NewRangeWriter(&out, g.Spec()))(t)
	c := in.Cursor()
	for i := range in.Len() {
		var s block.State
		must.OK(t, c.Read(i, &s))
		if change != nil {
			change(in.Range(i), &s)
		}
		var p streamfmt.Packer
		p.AddState(in.Range(i), game.RangeLen(g, in.Range(i)), &s)
		s.Count((*[256]uint64)(&p.Counts))
		if i == 0 && counts != nil {
			counts(&p.Counts)
		}
		must.OK(t, w.Append(&p))
	}
	must.OK(t, errors.Join(in.Close(), w.Close(), os.WriteFile(name, out.Bytes(), 0o666)))
	reseal(t, dir, g.Spec())
}

// setValues changes the values of positions of a game with cycles; positions with the value
// gone are removed.
func setValues(t *testing.T, dir string, g game.Cyclic, values map[game.Position]game.Value) {
	t.Helper()
	changeStates(t, dir, g, func(rng uint64, s *block.State) {
		for p, w := range values {
			if p/uint64(g.RangeSize()) != rng {
				continue
			}
			slot := int(p % uint64(g.RangeSize()))
			one := make(block.Set, len(s.Reached))
			one.Add(slot)
			for _, plane := range s.Planes() {
				plane.Subtract(one)
			}
			if w != gone {
				s.Reached.Add(slot)
				s.Decide(uint8(w.Outcome()), w.Remoteness(), one)
			}
		}
	}, nil)
}

// gone is the value of a position to remove from the table.
var gone = game.NewValue(game.Undecided, 1)

// verify runs driver verify on a damaged table, and returns its one line.
func verify(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "driver"), append([]string{"verify", "--data", dir}, flags...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=4")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	text := stderr.String()
	if code := cmd.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || strings.Count(text, "\n") != 1 {
		t.Errorf("verify %v: %v, stdout %q, stderr %q; want exit status 1 and one line", flags, err, stdout.String(), text)
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "driver: verify: "), "\n")
	return strings.ReplaceAll(text, dir, "DIR")
}

// TestVerifyRight checks that both checks find no error in both tables, which were written again
// without changes.
func TestVerifyRight(t *testing.T) {
	t.Parallel()
	g, q := connect453(t), cross433(t)
	dirs := map[string]string{"connectn": copyTable(t, "connectn"), "quickcross": copyTable(t, "quickcross")}
	changeTier(t, dirs["connectn"], g, 9, nil, nil)
	changeStates(t, dirs["quickcross"], q, nil, nil)
	for _, test := range []struct{ name, flags, want string }{
		{"connectn", "", "connectn width=4 height=5 connect=3: 195,472 positions verified, all correct\n"},
		{"quickcross", "", "quickcross width=4 height=3 connect=3: 453,831 positions verified, all correct\n"},
		{"connectn", "--rules", "connectn width=4 height=5 connect=3: 195,472 of 195,472 positions verified by the rules, all correct\n"},
		{"quickcross", "--rules", "quickcross width=4 height=3 connect=3: 453,831 of 453,831 positions verified by the rules, all correct\n"},
		{"connectn", "--seed 7 --rules 1000", "connectn width=4 height=5 connect=3: 1,000 of 195,472 positions verified by the rules, all correct (seed 7)\n"},
		{"quickcross", "--rules=453000 --seed=8", "quickcross width=4 height=3 connect=3: 453,000 of 453,831 positions verified by the rules, all correct (seed 8)\n"},
		{"connectn", "--rules=195472", "connectn width=4 height=5 connect=3: 195,472 of 195,472 positions verified by the rules, all correct\n"},
	} {
		words := append([]string{"verify", "--data", dirs[test.name]}, strings.Fields(test.flags)...)
		out, err := exec.Command(filepath.Join(bin, "driver"), words...).Output() // progress goes to stderr
		if err != nil || string(out) != test.want {
			t.Errorf("%s %s: %v, %q; want %q", test.name, test.flags, err, out, test.want)
		}
	}
}

func connect453(t *testing.T) game.Tiered {
	t.Helper()
	return must.Get(connectn.New(4, 5, 3))(t)
}

func cross433(t *testing.T) game.Cyclic {
	t.Helper()
	return must.Get(quickcross.New(4, 3, 3))(t)
}

// TestVerifyCounts changes the numbers of positions that a file states, not its blocks. A
// sample (--rules N) does not count the positions of a tier.
func TestVerifyCounts(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--rules"}} {
		dir := copyTable(t, "connectn")
		changeTier(t, dir, connect453(t), 9, nil, func(c *streamfmt.Counts) { c[5*4+1]++; c[5*4+2]-- })
		if got, want := verify(t, dir, flags...), "DIR/table/tier-09.blocks: "+wrongCounts; got != want {
			t.Errorf("%v: %q, want %q", flags, got, want)
		}
		dir = copyTable(t, "quickcross")
		changeStates(t, dir, cross433(t), nil, func(c *streamfmt.Counts) { c[1]++; c[1*4+2]-- })
		if got, want := verify(t, dir, flags...), "DIR/table/positions.blocks: "+wrongCounts; got != want {
			t.Errorf("%v: %q, want %q", flags, got, want)
		}
	}
}

// TestVerifyEnds checks that an error in the very first or the very last position is found, and
// that this position is named.
func TestVerifyEnds(t *testing.T) {
	t.Parallel()
	g, q := connect453(t), cross433(t)
	dir := copyTable(t, "connectn")
	changeTier(t, dir, g, 0, func(b *block.Block) { b.Val[0] = byte(game.NewValue(game.FirstWins, 9)) }, nil)
	for _, flags := range [][]string{nil, {"--rules"}} {
		if got, want := verify(t, dir, flags...), "tier 0: '                    ' (0x0): expected X wins in 11, as its moves lead to, found X wins in 9"; got != want {
			t.Errorf("start, %v: %q, want %q", flags, got, want)
		}
	}

	dir = copyTable(t, "connectn")
	var last game.Position // of the last tier
	changeTier(t, dir, g, 20, func(b *block.Block) {
		slots := b.Done.Append(nil)
		last = b.Key(int(slots[len(slots)-1]))
	}, nil)
	value := g.Primitive(last)
	wrong := game.NewValue(game.Tie, 0)
	if value == wrong {
		wrong = game.NewValue(game.SecondWins, 0)
	}
	changeTier(t, dir, g, 20, func(b *block.Block) {
		if last>>g.LowBits() == b.Range {
			slots := b.Done.Append(nil)
			b.Val[slots[len(slots)-1]] = byte(wrong)
		}
	}, nil)
	want := fmt.Sprintf("tier 20: '%s' (%#x): expected %s (it is terminal), found %s", g.AppendText(nil, last), last, value, wrong)
	if got := verify(t, dir); got != want {
		t.Errorf("last tier: %q, want %q", got, want)
	}
	verify(t, dir, "--rules")

	// The initial position and the eight others that are lost in 8 become draws, so that no
	// position has that remoteness.
	dir = copyTable(t, "quickcross")
	eight := positionsOf(t, q, game.Loses.In(8))
	if len(eight) != 9 {
		t.Fatalf("%d positions are lost in 8, want 9", len(eight))
	}
	draws := make(map[game.Position]game.Value)
	for _, p := range eight {
		draws[p] = 0
	}
	setValues(t, dir, q, draws)
	for _, flags := range [][]string{nil, {"--rules"}} {
		if got, want := verify(t, dir, flags...), "'..../..../....' (0): expected LOSE in 8, as its moves lead to, found DRAW"; got != want {
			t.Errorf("no loss in 8, %v: %q, want %q", flags, got, want)
		}
	}

	// Only the initial position has another value.
	dir = copyTable(t, "quickcross")
	setValues(t, dir, q, map[game.Position]game.Value{0: game.Loses.In(6)})
	if got, want := verify(t, dir), "'..../..../....' (0): expected LOSE in 8, as its moves lead to, found LOSE in 6"; got != want {
		t.Errorf("start: %q, want %q", got, want)
	}
	setValues(t, dir, q, map[game.Position]game.Value{0: gone})
	for flags, want := range map[string]string{"": "'..../..../....' (0): is missing", "--rules": "'..../..../....' (0): is missing: it is the initial position"} {
		if got := verify(t, dir, strings.Fields(flags)...); got != want {
			t.Errorf("no start, %s: %q, want %q", flags, got, want)
		}
	}
}

// positionsOf lists the positions of the correct table that have a value, ascending.
func positionsOf(t *testing.T, q game.Cyclic, want game.Value) (all []game.Position) {
	t.Helper()
	dir := must.Get(solvedOnce["quickcross"]())(t)
	for p, w := range valuesOf(t, q, dir) {
		if w == want {
			all = append(all, game.Position(p))
		}
	}
	return all
}

// valuesOf returns the values of all positions of a table; gone for those that it does not
// contain.
func valuesOf(t *testing.T, q game.Cyclic, dir string) []game.Value {
	t.Helper()
	tab := must.Get(table.OpenOf(store.Local{}, dir, q))(t)
	defer tab.Close()
	all := make([]game.Value, q.Positions())
	for p := range all {
		w, ok, err := tab.Lookup(game.Position(p))
		must.OK(t, err)
		if !ok {
			w = gone
		}
		all[p] = w
	}
	return all
}

// TestVerifyLowest checks that the lowest wrong position is named, regardless of which worker
// finds an error first: the last position of a large range is wrong, and the first one of each
// later range.
func TestVerifyLowest(t *testing.T) {
	g, q := connect453(t), cross433(t)
	const tier = 11
	dir := copyTable(t, "connectn")
	counts := make(map[uint64]int)
	changeTier(t, dir, g, tier, func(b *block.Block) { counts[b.Range] = b.Count() }, nil)
	large := uint64(0)
	for rng, n := range counts {
		if later := len(counts) / 4; n > counts[large] && rank(counts, rng) < len(counts)-later {
			large = rng
		}
	}
	var first string
	changeTier(t, dir, g, tier, func(b *block.Block) {
		if b.Range < large {
			return
		}
		slots := b.Done.Append(nil)
		slot := slots[0]
		if b.Range == large {
			slot = slots[len(slots)-1]
			p := b.Key(int(slot))
			first = fmt.Sprintf("tier %d: '%s' (%#x): ", tier, g.AppendText(nil, p), p)
		}
		b.Val[slot] ^= 1 << 2 // the remoteness
	}, nil)
	for range 6 {
		if got := verify(t, dir); !strings.HasPrefix(got, first) {
			t.Fatalf("%q, want %q…", got, first)
		}
	}

	// The initial position differs in a bit of its remoteness; a higher position of the same
	// range in its result, which is checked first; and a third one is in another range.
	dir = copyTable(t, "quickcross")
	wins := positionsOf(t, q, game.Wins.In(5))
	if wins[0] >= game.Position(q.RangeSize()) {
		t.Fatalf("the first win in 5 is %d, in another range", wins[0])
	}
	setValues(t, dir, q, map[game.Position]game.Value{
		0:                 game.Loses.In(9),
		wins[0]:           game.Loses.In(5),
		wins[len(wins)-1]: game.Loses.In(5),
	})
	want := lowestWrong(t, q, dir)
	for range 3 {
		if got := verify(t, dir); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// rank returns how many ranges are lower.
func rank(counts map[uint64]int, rng uint64) (n int) {
	for other := range counts {
		if other < rng {
			n++
		}
	}
	return n
}

// lowestWrong returns the expected error of verify for a table of a game with cycles that
// contains exactly the reachable positions: it names the lowest position whose value does not
// follow from those of its successors. It implements the definition, without optimization.
func lowestWrong(t *testing.T, q game.Cyclic, dir string) string {
	t.Helper()
	all := valuesOf(t, q, dir)
	for i, found := range all {
		p := game.Position(i)
		if found == gone {
			continue
		}
		if want := follows(q, all, p); want != found {
			return fmt.Sprintf("'%s' (%d): expected %s, as its moves lead to, found %s", q.AppendText(nil, p), p, q.Values().Text(want), q.Values().Text(found))
		}
	}
	t.Fatal("nothing is wrong")
	return ""
}

// outcome returns the outcome of a value from the view of the player to move.
func outcome(v game.Value) game.Result { return game.Result(v.Outcome()) }

// follows returns the value of a position that its successors' values imply.
func follows(q game.Cyclic, all []game.Value, p game.Position) game.Value {
	if q.Primitive(p) != 0 {
		return game.Loses.In(0)
	}
	best, lost, farthest := game.Value(0), true, 0
	for _, m := range q.Moves(nil, p) {
		w := all[m.To]
		if outcome(w) == game.Loses && (outcome(best) != game.Wins || w.Remoteness()+1 < best.Remoteness()) {
			best = game.Wins.In(w.Remoteness() + 1)
		}
		lost = lost && outcome(w) == game.Wins
		farthest = max(farthest, w.Remoteness())
	}
	if lost {
		return game.Loses.In(farthest + 1)
	}
	return best
}

// TestVerifyNames checks, for positions of Quick Cross from the beginning to the end of the
// table, that verify names a position whose value is wrong, or that is missing.
func TestVerifyNames(t *testing.T) {
	t.Parallel()
	q := cross433(t)
	wins := positionsOf(t, q, game.Wins.In(5)) // not terminal, and with predecessors
	for _, p := range []game.Position{wins[0], wins[len(wins)/2], wins[len(wins)-1]} {
		dir := copyTable(t, "quickcross")
		setValues(t, dir, q, map[game.Position]game.Value{p: game.Wins.In(12)})
		if got, want := verify(t, dir), lowestWrong(t, q, dir); got != want {
			t.Errorf("%d: %q, want %q", p, got, want)
		}
		setValues(t, dir, q, map[game.Position]game.Value{p: gone})
		if got, want := verify(t, dir), fmt.Sprintf("'%s' (%d): is missing", q.AppendText(nil, p), p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		got := verify(t, dir, "--rules")
		if want := fmt.Sprintf(" leads to '%s' (%#x), which is missing", q.AppendText(nil, p), p); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want …%q", got, want)
		}
		// Looking it up does not report that there is no such position.
		_, _, stderr := process.Run(command(dir, fmt.Sprintf("driver lookup --data . #%d", p)))
		if want := fmt.Sprintf("driver: table: '%s' (%d): is missing: the move ", q.AppendText(nil, p), p); !strings.HasPrefix(stderr, want) {
			t.Errorf("%q, want %q", stderr, want)
		}
	}
}

// TestVerifyTooMany adds a position after the end of play, with the value that it would have.
func TestVerifyTooMany(t *testing.T) {
	t.Parallel()
	g, q := connect453(t), cross433(t)
	const text = "          XXXO OO   "
	p := must.Get(g.Parse(text))(t)
	dir := copyTable(t, "connectn")
	changeTier(t, dir, g, g.Tier(p), func(b *block.Block) {
		if slot, ok := b.Slot(uint32(p&(1<<g.LowBits()-1)), 0); ok && b.Range == p>>g.LowBits() {
			b.Done.Add(slot)
			b.Val[slot] = byte(g.Primitive(p))
		}
	}, nil)
	cyclicText := "||||/||||/||.."
	c := must.Get(q.Parse(cyclicText))(t)
	cyclicDir := copyTable(t, "quickcross")
	setValues(t, cyclicDir, q, map[game.Position]game.Value{c: game.Loses.In(0)})
	for flags, reason := range map[string]string{"": "cannot be reached", "--rules": "cannot be reached: no move of a position of the table leads to it"} {
		if got, want := verify(t, dir, strings.Fields(flags)...), fmt.Sprintf("tier 6: '%s' (%#x): %s", text, p, reason); got != want {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
		if got, want := verify(t, cyclicDir, strings.Fields(flags)...), fmt.Sprintf("'%s' (%d): %s", cyclicText, c, reason); got != want {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
	}
}

// TestVerifySample checks that a sample finds an error that affects many positions, and finds
// it again with the same seed.
func TestVerifySample(t *testing.T) {
	dir := copyTable(t, "connectn")
	changeTier(t, dir, connect453(t), 12, func(b *block.Block) {
		for _, slot := range b.Done.Append(nil) {
			b.Val[slot] ^= 1 << 3
		}
	}, nil)
	got := verify(t, dir, "--rules", "2000")
	match := regexp.MustCompile(`^tier 1[12]: .* \(seed (\d+)\)$`).FindStringSubmatch(got)
	if match == nil {
		t.Fatalf("%q names no position of tier 11 or 12 and no seed", got)
	}
	if again := verify(t, dir, "--seed", match[1], "--rules", "2000"); again != got {
		t.Errorf("%q, then %q", got, again)
	}
}

// TestVerifyUsage checks that a usage error is one line and a hint, with status 2.
func TestVerifyUsage(t *testing.T) {
	for words, want := range map[string]string{
		"--rules=0":           `--rules: expected a number of positions, found "0"`,
		"--rules -- -5":       `--rules: expected a number of positions, found "-5"`,
		"--rules many":        `--rules: expected a number of positions, found "many"`,
		"all_data":            `unexpected argument "all_data": --data names the directory, and --rules takes one number`,
		"--seed 5 --rules":    "--seed requires --rules N",
		"--seed 5":            "--seed requires --rules N",
		"--seed x --rules=10": `--seed x: expected an integer of 0 or more`,
	} {
		t.Run(words, func(t *testing.T) {
			cmd := exec.Command(filepath.Join(bin, "driver"), append([]string{"verify"}, strings.Fields(words)...)...)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 2 || string(out) != "driver: "+want+"\ndriver: see driver verify --help\n" {
				t.Errorf("%s: exit status %d, %q; want 2, %q", words, code, out, want)
			}
		})
	}
}

// TestVerifyInterrupted checks that Ctrl-C ends both checks with exit status 130.
func TestVerifyInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := filepath.Join(t.TempDir(), "d")
	drive(t, strings.Fields("solve connectn --width 5 --height 4 --connect 4 --final no"), dir)
	for _, flags := range [][]string{nil, {"--rules"}} {
		cmd := exec.Command(filepath.Join(bin, "driver"), append([]string{"verify", "--data", dir}, flags...)...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		start(t, cmd)
		waitOpen(t, cmd.Process.Pid, table.TierFile(connect453(t), 20))
		must.OK(t, cmd.Process.Signal(syscall.SIGINT))
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || out.String() != "driver: stopped\n" {
			t.Errorf("%v: exit status %d, %q", flags, code, out.String())
		}
	}
}

// waitOpen waits until a process has opened a file.
func waitOpen(t *testing.T, pid int, name string) {
	t.Helper()
	for {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil || len(links) == 0 {
			t.Fatalf("it has ended, or opens nothing: %v", err)
		}
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasSuffix(to, name) {
				return
			}
		}
	}
}
