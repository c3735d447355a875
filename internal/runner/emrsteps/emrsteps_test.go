package emrsteps_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/emr"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/jobdir"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/runner/emrsteps"
	"github.com/treereduce/treereduce/internal/runner/inline"
	"github.com/treereduce/treereduce/internal/step"
	"github.com/treereduce/treereduce/internal/store"
	"github.com/treereduce/treereduce/solve"
)

// bucket is a folder of this machine in the place of S3.
type bucket struct {
	store.Local
	root string
	puts []string // what was put there
}

const scheme = "s3://bucket/"

func (b *bucket) Name(name string) string { return scheme + strings.TrimPrefix(name, b.root+"/") }

func (b *bucket) at(uri string) string {
	return filepath.Join(b.root, strings.TrimPrefix(uri, scheme))
}

// Create makes the folders that S3 need not have.
func (b *bucket) Create(name string) (w io.WriteCloser, err error) {
	b.puts = append(b.puts, strings.TrimPrefix(name, b.root+"/"))
	if err := os.MkdirAll(path.Dir(name), 0o777); err != nil {
		return nil, err
	}
	return b.Local.Create(name)
}

// cluster does steps as Hadoop Streaming does, in this process.
type cluster struct {
	t         *testing.T
	b         *bucket
	g         game.Game
	ran       []emr.Step
	before    func(n int, out string) error // of the n-th step; an error is how it ends
	cancelled []string
}

func (c *cluster) Cancel(_ context.Context, ids ...string) error {
	c.cancelled = append(c.cancelled, ids...)
	return nil
}

// RunStep runs a step: every file through the mapper, all through sort, and each part of
// it through the reducer.
func (c *cluster) RunStep(_ context.Context, s emr.Step) (id string, err error) {
	id = fmt.Sprintf("s-%d", len(c.ran)+1)
	c.ran = append(c.ran, s)
	if s.Args[0] != "hadoop-streaming" {
		c.t.Fatalf("the step is %q", s.Args)
	}
	options := make(map[string][]string)
	for i := 1; i < len(s.Args); i += 2 {
		options[s.Args[i]] = append(options[s.Args[i]], s.Args[i+1])
	}
	properties := make(map[string]string)
	for _, d := range options["-D"] {
		name, value, _ := strings.Cut(d, "=")
		properties[name] = value
	}
	out := c.b.at(options["-output"][0])
	if c.before != nil {
		if err := c.before(len(c.ran), out); err != nil {
			return id, err
		}
	}
	for _, file := range strings.Split(options["-files"][0], ",") {
		uri, link, _ := strings.Cut(file, "#")
		if _, err := os.Stat(c.b.at(uri)); err != nil || link != options["-mapper"][0] && link != options["-reducer"][0] {
			c.t.Errorf("-files %s: %v", file, err)
		}
	}
	name := strings.TrimSuffix(options["-mapper"][0], "_map")
	o := step.Options{Source: "test", Turn: properties["treereduce.turn"], Combine: properties["treereduce.combine"] == "true"}
	var said bytes.Buffer
	for _, dir := range options["-input"] {
		files, err := filepath.Glob(filepath.Join(c.b.at(dir), store.PartPrefix+"*"))
		if _, whole := os.Stat(filepath.Join(c.b.at(dir), store.Success)); err != nil || whole != nil || len(files) == 0 {
			c.t.Errorf("%s: %v, %v, %v", dir, files, err, whole)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return id, err
			}
			if _, err := step.Map(name, c.g, bytes.NewReader(text), &said, o); err != nil {
				return id, err
			}
		}
	}
	// By their key, as Hadoop sorts; a part ends where the next begins.
	lines := slices.Collect(strings.Lines(said.String()))
	key := func(line string) string { k, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); return k }
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(key(a), key(b)) })
	keys := c.borders(properties["mapreduce.totalorderpartitioner.path"])
	if want := properties["mapreduce.job.reduces"]; want != fmt.Sprint(len(keys)+1) {
		c.t.Errorf("%s reducers, and %d ranges", want, len(keys)+1)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return id, err
	}
	for i := range len(keys) + 1 {
		end := len(lines)
		if i < len(keys) {
			end = slices.IndexFunc(lines, func(line string) bool { return key(line) >= keys[i] })
			if end < 0 {
				end = len(lines)
			}
		}
		var part bytes.Buffer
		if _, err := step.Reduce(name, c.g, strings.NewReader(strings.Join(lines[:end], "")), &part, o); err != nil {
			return id, err
		}
		lines = lines[end:]
		var text strings.Builder
		for line := range strings.Lines(part.String()) {
			if line = strings.TrimSuffix(line, "\n"); !strings.Contains(line, "\t") {
				line += "\t" // as TextOutputFormat has it
			}
			text.WriteString(line + "\n")
		}
		if err := os.WriteFile(filepath.Join(out, fmt.Sprintf("part-%05d", i)), []byte(text.String()), 0o666); err != nil {
			return id, err
		}
	}
	return id, os.WriteFile(filepath.Join(out, store.Success), nil, 0o666)
}

// borders are the keys in a file of ranges; "": there is none.
func (c *cluster) borders(uri string) (keys []string) {
	if uri == "" {
		return nil
	}
	text, err := os.ReadFile(c.b.at(uri))
	if err != nil {
		c.t.Error(err)
		return nil
	}
	// A record ends with its key: lengths, the length of a Text, the Text.
	head := hadoop.SequenceFile(hadoop.TextClass, nil)
	for rest := text[len(head):]; len(rest) > 0; {
		n := int(rest[8])
		keys = append(keys, string(rest[9:9+n]))
		rest = rest[9+n:]
	}
	return keys
}

// board is Connect N.
func board(t *testing.T, w, h, connect int) game.Game {
	t.Helper()
	g, err := connectn.New(w, h, connect)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newRunner is a runner with an empty bucket.
func newRunner(t *testing.T, g game.Game) (*emrsteps.Runner, *cluster) {
	t.Helper()
	b := &bucket{root: t.TempDir()}
	c := &cluster{t: t, b: b, g: g}
	r := &emrsteps.Runner{Cluster: c, FS: b, Dir: path.Join(b.root, "prefix", "steps"), Bin: path.Join(b.root, "bin")}
	for _, name := range []string{"mapper", "reducer"} {
		if err := store.WriteFile(b, path.Join(r.Bin, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	return r, c
}

// solved solves a game into a directory.
func solved(ctx context.Context, dir string, g game.Game, r runner.Runner, mode store.Mode, reducers int) error {
	data, err := store.Create(store.Local{}, dir, g.Spec(), mode, nil)
	if err != nil {
		return err
	}
	defer data.Close()
	_, err = solve.Run(ctx, data, g, solve.Options{Runner: r, Reducers: reducers, Combine: true, Codec: jobdir.Text, Final: solve.FinalYes, UntilTier: -1})
	return err
}

// result is all bytes of table and final, whose parts are taken as one.
func result(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"table/*", "final/part-*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}

// inlineResult is what a run in this process comes to.
func inlineResult(t *testing.T, g game.Game) string {
	t.Helper()
	dir := t.TempDir()
	if err := solved(t.Context(), dir, g, &inline.Runner{}, store.Fresh, 1); err != nil {
		t.Fatal(err)
	}
	return result(t, dir)
}

// Every job is a step, whatever comes of it is what a run in this process comes to, and
// what a step has made is not put into S3 again.
func TestSteps(t *testing.T) {
	for _, test := range []struct{ w, h, connect, reducers int }{{3, 3, 3, 1}, {3, 3, 3, 3}, {4, 3, 3, 1}, {1, 3, 2, 2}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			g := board(t, test.w, test.h, test.connect)
			r, c := newRunner(t, g)
			dir := t.TempDir()
			if err := solved(t.Context(), dir, g, r, store.Fresh, test.reducers); err != nil {
				t.Fatal(err)
			}
			if result(t, dir) != inlineResult(t, g) {
				t.Error("the bytes differ")
			}
			tiers := test.w * test.h
			if len(c.ran) != 2*tiers+2 {
				t.Errorf("%d steps, want %d", len(c.ran), 2*tiers+2)
			}
			names := make(map[string]bool)
			for _, s := range c.ran {
				names[s.Name] = true
			}
			if name := "treereduce data_second0: " + g.Spec(); !names[name] {
				t.Errorf("no step is called %s: %v", name, names)
			}
			// With one reducer only the programs and the first line have to be put there.
			if test.reducers == 1 && len(c.b.puts) != 4 {
				t.Errorf("put were %v", c.b.puts)
			}
			if err := r.Clean(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(filepath.Join(c.b.root, "prefix")); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
		})
	}
}

// A step that fails, one whose output is not whole, a run that is stopped: one error, and
// the run goes on there, to the same bytes, also with an empty bucket.
func TestStopped(t *testing.T) {
	g := board(t, 3, 3, 3)
	want := inlineResult(t, g)
	failed := &emr.StepError{Cluster: "j-1", Step: emr.StepState{ID: "s-7", Name: "n", State: "FAILED"}}
	for _, test := range []struct {
		name   string
		at     int
		before func(stop context.CancelFunc, out string) error
		want   string
		cancel bool
	}{
		{"failed", 7, func(context.CancelFunc, string) error { return failed }, "FAILED: FILE:3: it is the test", false},
		{"cluster gone", 12, func(context.CancelFunc, string) error { return emr.ErrEnded }, emr.ErrEnded.Error(), false},
		{"stopped", 15, func(stop context.CancelFunc, _ string) error { stop(); return context.Canceled }, context.Canceled.Error(), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			r, c := newRunner(t, g)
			r.Cause = func(_ context.Context, id string) (string, error) { return "FILE:3: it is the test", nil }
			c.before = func(n int, out string) error {
				if n != test.at {
					return nil
				}
				return test.before(stop, out)
			}
			dir := t.TempDir()
			err := solved(ctx, dir, g, r, store.Fresh, 1)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v, want %s", err, test.want)
			}
			if got := len(c.cancelled) == 1; got != test.cancel {
				t.Errorf("cancelled were %v", c.cancelled)
			}
			then, c2 := newRunner(t, g)
			if err := solved(t.Context(), dir, g, then, store.Resume, 1); err != nil {
				t.Fatal(err)
			}
			if result(t, dir) != want {
				t.Error("the bytes differ")
			}
			if n := len(c.ran) - 1 + len(c2.ran); n != 2*9+2 {
				t.Errorf("%d steps were run, want %d", n, 2*9+2)
			}
		})
	}
}

// notWhole is a cluster whose steps end well without a word that their output is whole.
type notWhole struct{ *cluster }

func (c notWhole) RunStep(ctx context.Context, s emr.Step) (string, error) {
	id, err := c.cluster.RunStep(ctx, s)
	return id, errors.Join(err, os.Remove(filepath.Join(c.b.at(s.Args[len(s.Args)-1]), store.Success)))
}

func TestNotWhole(t *testing.T) {
	g := board(t, 2, 2, 2)
	r, c := newRunner(t, g)
	r.Cluster = notWhole{c}
	err := solved(t.Context(), t.TempDir(), g, r, store.Fresh, 1)
	if err == nil || !strings.Contains(err.Error(), "data_first0: step s-1: it has ended, but s3://bucket/prefix/steps/out/data_first0-") {
		t.Error(err)
	}
}

// Games whose tasks keep files, and boards of hours, are refused in a line.
func TestCheck(t *testing.T) {
	cross, err := quickcross.New(3, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		g    game.Game
		want string
	}{
		{board(t, 5, 4, 4), ""},
		{board(t, 5, 5, 4), "too large for a step each job"},
		{cross, "keep files of their own"},
	} {
		err := emrsteps.Check(test.g)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.g.Spec(), err, test.want)
		}
	}
}

// A step has at most so many letters, of whatever directory.
func TestTooLong(t *testing.T) {
	g := board(t, 2, 2, 2)
	r, c := newRunner(t, g)
	for i := range 200 {
		r.Define = append(r.Define, fmt.Sprintf("a.property.with.a.long.name.%d=%040d", i, i))
	}
	err := solved(t.Context(), t.TempDir(), g, r, store.Fresh, 1)
	if err == nil || !strings.Contains(err.Error(), "letters") || len(c.ran) > 0 {
		t.Errorf("%v, %d steps", err, len(c.ran))
	}
}
