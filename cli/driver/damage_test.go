//go:build linux && !race

package driver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	inprocess "github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/parallel"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/runner/inline"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// A subject is a game whose runs are damaged, with its correct results.
type subject struct {
	spec   string
	stop   string // a directory of a retrograde pass; a run is stopped before it
	until  string // --until-tier of a run that stops in the forward part
	look   []string
	weight int

	solve  string // the command line of solve
	solved string // a data directory with the correct table
	final  string
	output map[string]string // the output of a command, by its line
	result string            // the value that solve prints
	jobs   map[string]string // the line of a job that status prints
	runs   []string          // directories of runs at several stages
}

// runDriver runs a command of driver on a data directory in this process.
func runDriver(dir, line string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = inprocess.Run(all.Kinds(), append(strings.Fields("driver "+line), "--data", dir), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// A stopper is a runner that fails at a job.
type stopper struct {
	inline.Runner
	at string
}

var errStop = errors.New("stopped")

func (s *stopper) Run(ctx context.Context, job *runner.Job) (runner.Stats, error) {
	if job.Name == s.at {
		return runner.Stats{}, errStop
	}
	return s.Runner.Run(ctx, job)
}

// prepare makes the runs of a subject, and stores the correct results.
func (s *subject) prepare(t *testing.T) {
	t.Helper()
	s.solve = "solve " + datadir.Flags(s.spec) + " "
	s.output, s.jobs = make(map[string]string), make(map[string]string)
	run := func(flags string) string {
		dir := filepath.Join(t.TempDir(), "d")
		if status, _, errs := runDriver(dir, s.solve+flags); status != 0 {
			t.Fatalf("%s: %s", flags, errs)
		}
		s.runs = append(s.runs, dir)
		return dir
	}
	half := func(o solve.Options) {
		g := solved.Game(t, s.spec)
		dir := filepath.Join(t.TempDir(), "d")
		data := must.Get(store.Create(store.Local{}, dir, s.spec, store.Fresh, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		o.Runner, o.UntilTier, o.Final, o.Combine = &stopper{at: s.stop}, -1, solve.FinalYes, true
		o.Remember = map[string]string{"final": "yes", "keep": "final", "reducers": "2", "compress": fmt.Sprint(!o.Lines)}
		if o.KeepAll {
			o.Remember["keep"] = "all"
		}
		if _, err := solve.Run(context.Background(), data, g, o); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		s.runs = append(s.runs, dir)
	}
	s.solved = run("--reducers 2 --final yes")
	run("--keep all --final yes --reducers 2")
	run("--keep all --compress --final yes")
	run("--reducers 2 --final yes --until-tier " + s.until)
	run("--reducers 2 --final yes --keep all --until-tier " + s.until)
	half(solve.Options{Reducers: 2})
	half(solve.Options{Reducers: 2, KeepAll: true})
	half(solve.Options{Reducers: 2, KeepAll: true, Lines: true})

	s.final = must.Get(finalText(s.solved))(t)
	for _, line := range append([]string{"lookup --start", "stats", "stats --json", "verify"}, s.look...) {
		status, out, errs := runDriver(s.solved, line)
		if status != 0 {
			t.Fatalf("%s: %s", line, errs)
		}
		s.output[line] = out
	}
	_, out, _ := runDriver(s.solved, s.solve+"--resume")
	s.result = firstLine(out)
	for _, dir := range s.runs {
		_, out, _ := runDriver(dir, "status --all")
		for _, row := range jobRow.FindAllStringSubmatch(out, -1) {
			s.jobs[row[1]] = inColumns(row[2])
		}
	}
}

// jobRow matches the line of a job that status prints: its name, positions and terminal
// positions.
var jobRow = regexp.MustCompile(`(?m)^ *([a-z_]+\d*) +([\d,]+(?: +[\d,]+)?) +.*\d\.\d\d`)

// inColumns removes the padding between columns.
func inColumns(row string) string { return strings.Join(strings.Fields(row), " ") }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// finalText returns the text of all positions of a run: its shards, concatenated.
func finalText(dir string) (string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "final", "part-*"))
	var all strings.Builder
	for _, name := range names {
		text, failed := os.ReadFile(name)
		err = errors.Join(err, failed)
		all.Write(text)
	}
	return all.String(), err
}

// A damager damages the copy of a run.
type damager struct {
	*rand.Rand
	dir    string
	files  []string // of the copy, without the lock
	dirs   []string
	other  string // another run
	took   bool   // whether a file of other was copied; table and manifest together would make it another game's directory
	output []string
}

func newDamager(t *testing.T, r *rand.Rand, dir, other string) *damager {
	d := &damager{Rand: r, dir: dir, other: other}
	must.OK(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir || e.Name() == "_lock":
		case e.IsDir():
			d.dirs = append(d.dirs, name)
		default:
			d.files = append(d.files, name)
		}
		return nil
	}))
	return d
}

func pick[E any](r *rand.Rand, from []E) E { return from[r.IntN(len(from))] }

// damage does one kind of damage, and returns an error if that fails.
func (d *damager) damage() error {
	name := pick(d.Rand, d.files)
	kind := d.IntN(12)
	if d.took {
		kind %= 10
	}
	d.took = d.took || kind >= 10
	switch kind {
	case 0, 1, 2, 3:
		return d.change("flip", name, func(b []byte) []byte {
			if len(b) > 0 {
				b[d.IntN(len(b))] ^= 1 << d.IntN(8)
			}
			return b
		})
	case 4:
		return d.change("cut", name, func(b []byte) []byte { return b[:d.IntN(len(b)+1)] })
	case 5:
		return d.change("empty", name, func([]byte) []byte { return nil })
	case 6:
		d.note("remove", name)
		return os.Remove(name)
	case 7:
		name := pick(d.Rand, append(d.dirs, filepath.Join(d.dir, "table")))
		d.note("remove", name)
		return os.RemoveAll(name)
	case 8:
		return d.exchange(name, pick(d.Rand, d.files))
	case 9:
		if len(d.dirs) == 0 {
			return nil
		}
		return d.exchange(pick(d.Rand, d.dirs), pick(d.Rand, d.dirs))
	case 10: // a directory of another run, replacing one or added
		entries, err := os.ReadDir(d.other)
		if err != nil {
			return err
		}
		e := pick(d.Rand, entries)
		to := filepath.Join(d.dir, e.Name())
		if d.IntN(3) == 0 && len(d.dirs) > 0 {
			to = pick(d.Rand, d.dirs)
		}
		d.note("from another run "+e.Name(), to)
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if !e.IsDir() {
			return copyFile(filepath.Join(d.other, e.Name()), to)
		}
		return os.CopyFS(to, os.DirFS(filepath.Join(d.other, e.Name())))
	default: // a file of another run, replacing the same file or another one
		from := filepath.Join(d.other, strings.TrimPrefix(name, d.dir))
		if d.IntN(3) == 0 {
			entries, err := filepath.Glob(filepath.Join(d.other, "*", "*"))
			if err != nil || len(entries) == 0 {
				return err
			}
			from = pick(d.Rand, entries)
			if d.IntN(2) == 0 {
				name = filepath.Join(filepath.Dir(name), filepath.Base(from))
			}
		}
		if info, err := os.Stat(from); err != nil || info.IsDir() {
			return nil
		}
		d.note("from another run "+from, name)
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return nil
		}
		return copyFile(from, name)
	}
}

func (d *damager) note(what, name string) {
	d.output = append(d.output, what+" "+strings.TrimPrefix(name, d.dir+"/"))
}

func (d *damager) change(what, name string, change func([]byte) []byte) error {
	d.note(what, name)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, change(text), 0o666)
}

func (d *damager) exchange(a, b string) error {
	d.note("exchange "+strings.TrimPrefix(a, d.dir+"/"), b)
	if a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") {
		return nil
	}
	aside := filepath.Join(d.dir, "_aside")
	return errors.Join(os.Rename(a, aside), os.Rename(b, a), os.Rename(aside, b))
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}

// TestDamage damages runs of both games at several stages: a flipped bit, a truncated, lost or
// exchanged file, or the effect of a power failure. No command may exit with 0 and a wrong
// answer. After --resume, either the result is right, or one line describes the error, and then
// --overwrite works.
func TestDamage(t *testing.T) {
	t.Parallel()
	damage(t, 50)
}

// TestLongDamage does this several hundred times, or TREEREDUCE_DAMAGES times.
func TestLongDamage(t *testing.T) {
	longtest.Skip(t)
	damage(t, longtest.Number(t, "TREEREDUCE_DAMAGES", 400))
}

func damage(t *testing.T, n int) {
	subjects := []*subject{
		{spec: "connectn width=3 height=3 connect=3", stop: "data_second3", until: "6", look: []string{"lookup 0 1 2", "lookup 2 2 1 0"}, weight: 12},
		{spec: "connectn width=4 height=5 connect=3", stop: "data_second9", until: "10", look: []string{"lookup 1 1 2"}, weight: 1},
		{spec: "mnk width=3 height=2 connect=2", stop: "data_second3", until: "4", look: []string{"lookup a1 b2"}, weight: 8},
		{spec: "quickcross width=2 height=3 connect=2", stop: "data_second0.2", until: "0", look: []string{"lookup a1-"}, weight: 10},
		{spec: "quickcross width=3 height=3 connect=3", stop: "data_second0.3", until: "0", look: []string{"lookup a1- b2|"}, weight: 2},
	}
	var draw []*subject
	for _, s := range subjects {
		s.prepare(t)
		for range s.weight {
			draw = append(draw, s)
		}
	}
	first := longtest.Number(t, "TREEREDUCE_SEED", 1)
	if os.Getenv("TREEREDUCE_SEED") != "" {
		n = 1
	}
	var ended [2]atomic.Int64 // resumed, refused
	root := t.TempDir()
	must.OK(t, parallel.All(t.Context(), n, func() func(int) error {
		return func(i int) error {
			if seed := first + i; !t.Failed() {
				trial(t, uint64(seed), draw, subjects, filepath.Join(root, fmt.Sprint(seed)), &ended)
			}
			return nil
		}
	}))
	t.Logf("%d damages: %d resumed, %d refused", n, ended[0].Load(), ended[1].Load())
	if n > 1 && (ended[0].Load() == 0 || ended[1].Load() == 0) {
		t.Error("none was resumed, or none refused")
	}
}

// helps matches the remedies that an error suggests.
var helps = regexp.MustCompile(`--overwrite|leave --resume out|move it away|of another game: expected .*, found`)

// trial damages one run, and checks what the commands do with it.
func trial(t *testing.T, seed uint64, draw, subjects []*subject, dir string, ended *[2]atomic.Int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	s := pick(r, draw)
	run, other := pick(r, s.runs), pick(r, pick(r, subjects).runs)
	var d *damager
	fail := func(format string, args ...any) {
		t.Errorf("TREEREDUCE_SEED=%d, %s, run %d, %q: %s", seed, s.spec, slices.Index(s.runs, run), d.output, fmt.Sprintf(format, args...))
	}
	defer func() {
		if p := recover(); p != nil {
			fail("panic: %v", p)
			panic(p)
		}
	}()
	if err := os.CopyFS(dir, os.DirFS(run)); err != nil {
		t.Error(err)
		return
	}
	defer os.RemoveAll(dir)
	d = newDamager(t, r, dir, other)
	if r.IntN(10) == 0 { // a power failure: the last writes are lost
		for _, name := range d.files {
			if r.IntN(4) == 0 {
				if err := d.change("lost", name, func(b []byte) []byte { return b[:r.IntN(2)*r.IntN(len(b)+1)] }); err != nil {
					fail("%v", err)
				}
			}
		}
	} else {
		for range 1 + r.IntN(2)*r.IntN(3) {
			// The file may be missing, or its directory be a file, because of earlier damage.
			if err := d.damage(); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.EISDIR) {
				fail("%v", err)
				return
			}
		}
	}
	s.ask(r, fail, dir, false)
	status, out, errs := runDriver(dir, s.solve+"--resume")
	if status == 0 {
		ended[0].Add(1)
	} else {
		ended[1].Add(1)
		if status != 1 || strings.Count(errs, "\n") < 1 || out != "" {
			fail("resume: %d, %q, %q", status, out, errs)
		}
		last := errs[strings.LastIndex(strings.TrimSuffix(errs, "\n"), "\n")+1:]
		if !helps.MatchString(last) {
			fail("resume does not say what helps: %q", errs)
		}
		s.ask(r, fail, dir, false)
		if r.IntN(3) > 0 {
			return
		}
		if status, out, errs = runDriver(dir, s.solve+"--overwrite --final=yes"); status != 0 {
			fail("overwrite: %d, %s", status, errs)
			return
		}
	}
	if firstLine(out) != s.result {
		fail("it prints %q, want %q", out, s.result)
	}
	s.ask(r, fail, dir, true)
}

// tableSize matches what stats prints of the size of the table. The size of a tier of Connect N depends on the number of
// reducers, which a run that has lost its manifest does not know.
var tableSize = regexp.MustCompile(`(?m)^table: .*|"(bytes|bits_per_position)": [0-9.]+`)

// ask runs verify, and some of the other commands that read, and checks their output. If well
// is true, none may fail.
func (s *subject) ask(r *rand.Rand, fail func(string, ...any), dir string, well bool) {
	for _, line := range slices.Sorted(maps.Keys(s.output)) {
		if line != "verify" && r.IntN(2) == 0 {
			continue
		}
		want := s.output[line]
		status, out, errs := runDriver(dir, line)
		switch {
		case status == 0 && (strings.Contains(out, "not solved yet") || strings.Contains(out, `"solved": false`)) && strings.HasPrefix(line, "stats") && !well:
			// stats of what the jobs of a run without a table found
		case status == 0 && tableSize.ReplaceAllString(out, "") != tableSize.ReplaceAllString(want, ""):
			fail("%s: %q, want %q", line, out, want)
		case status != 0 && well:
			fail("%s after it: %s", line, errs)
		case status != 0 && (status != 1 || strings.Count(errs, "\n") != 1):
			fail("%s: exit status %d, %q", line, status, errs)
		}
		if line == "verify" && status == 0 {
			s.compare(fail, dir)
		}
	}
	status, out, errs := runDriver(dir, "status --all")
	if status != 0 {
		if well || strings.Count(errs, "\n") != 1 {
			fail("status: %s", errs)
		}
		return
	}
	if game, _, _ := strings.Cut(out, ": "); well && game != s.spec {
		fail("status is of %s", game)
	}
	for _, row := range jobRow.FindAllStringSubmatch(out, -1) {
		if want, ok := s.jobs[row[1]]; strings.HasPrefix(out, s.spec) && (!ok || want != inColumns(row[2])) {
			fail("status prints %q of %s, want %q", row[2], row[1], want)
		}
	}
}

// compare compares the table and final with the correct ones.
func (s *subject) compare(fail func(string, ...any), dir string) {
	for _, diff := range solved.TableDifferences(store.Local{}, dir, s.solved) {
		if !strings.HasPrefix(diff, "left: ") {
			fail("verify passes, but the table is not right: %s", diff)
		}
	}
	if final, err := finalText(dir); err != nil || final != "" && final != s.final {
		fail("verify passes, but final is not right: %v", err)
	}
}
