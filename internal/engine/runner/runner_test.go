package runner_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/game/mnk"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/method/layers"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/streamfmt"
)

// TestOpenLines solves a board, and checks that the input of jobs as lines has the keys of the packed input, and that the
// lines of a directory are its rows.
func TestOpenLines(t *testing.T) {
	g := must.Get(mnk.New(3, 2, 2))(t)
	dir := solved.Dir(t, g, func(o *solve.Options) { o.Reducers, o.KeepAll, o.Lines = 2, true, true })
	open := func(name string) *layers.Dir {
		return must.Get(layers.OpenDir(store.Local{}, filepath.Join(dir, name), g))(t)
	}
	keysOf := func(text string) (keys []string) {
		for line := range strings.Lines(text) {
			key, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			keys = append(keys, fmt.Sprintf("%05s", key))
		}
		slices.Sort(keys)
		return slices.Compact(keys)
	}
	for _, job := range []*runner.Job{
		{Step: step.Possible, Tier: 3, Inbox: []runner.Sender{open("data_first2")}},
		{Step: step.Solve, Tier: 2, Edges: []string{filepath.Join(dir, "data_first2")}, Inbox: []runner.Sender{open("data_second3")}},
		{Step: step.Final, Tier: 3, Input: []string{filepath.Join(dir, "table/tier-02.pack"), filepath.Join(dir, "table/tier-03.pack")}},
	} {
		job.FS, job.Method = store.Local{}, method.Of(g)
		sources := must.Get(layers.New(g).Rows(job))(t)
		var want strings.Builder
		for _, s := range sources {
			must.OK(t, s.Each(func(rows []layers.Row) error {
				for _, row := range rows {
					fmt.Fprintf(&want, "%05x\n", row.Key)
				}
				return nil
			}))
		}
		in := must.Get(job.OpenLines())(t)
		var text bytes.Buffer
		for _, piece := range in.Pieces {
			must.OK(t, piece.Write(&text))
		}
		must.OK(t, errors.Join(in.Close(), layers.CloseAll(sources)))
		if got := keysOf(text.String()); len(got) == 0 || !slices.Equal(got, keysOf(want.String())) {
			t.Errorf("%s: %d keys of lines, %d packed", job.Step, len(got), len(keysOf(want.String())))
		}
	}
	for name, parts := range map[string]string{"data_first2": "part-0000?", "data_second3": "to-00002-*"} {
		kind := map[string]layers.Kind{"data_first2": layers.Predecessors, "data_second3": layers.Messages}[name]
		var text []byte
		for _, part := range must.Get(filepath.Glob(filepath.Join(dir, name, parts)))(t) {
			text = append(text, must.Get(os.ReadFile(part))(t)...)
		}
		source, err := layers.OpenInbox([]*layers.Dir{open(name)}, step.At(2, 0), kind)
		if kind == layers.Predecessors {
			source, err = layers.Open(store.Local{}, g, kind, 2, filepath.Join(dir, name))
		}
		must.OK(t, err)
		var want []byte
		must.OK(t, errors.Join(source.Each(func(rows []layers.Row) error {
			for _, row := range rows {
				want = streamfmt.AppendRow(want, row, kind, streamfmt.KeyWidth(g.KeyBits()))
			}
			return nil
		}), source.Close()))
		if len(text) == 0 || !bytes.Equal(text, want) {
			t.Errorf("%s: the lines differ from the rows", name)
		}
	}
}

// TestWriteShard checks that the lines of a reducer become a shard, and that a line of
// another kind is reported with its number.
func TestWriteShard(t *testing.T) {
	g := must.Get(mnk.New(2, 2, 2))(t)
	for _, test := range []struct {
		step, text string
		want       string // the error; "": the shard has the same lines
	}{
		{step.Possible, "", ""},
		{step.Possible, "00\n", ""},
		{step.Possible, "12\tp02\n12\tp10\n21\tp01\n", ""},
		{step.Solve, "12\t6\n21\t40000\n", ""},
		{step.Solve, "12\t6\n21\tp01\n", `:2: expected a position with a value, found "21\tp01"`},
		{step.Possible, "12\t6\n", `:1: expected a position with a predecessor: after the tab p and its key, found "12\t6"`},
		{step.Possible, "12\tp02\nx\n", `:2: expected a key of 2 hexadecimal digits, then nothing or a tab, found "x"`},
	} {
		job := &runner.Job{Name: "data", Step: test.step, Tier: 2, FS: store.Local{}, Method: method.Of(g), Output: t.TempDir(), Reducers: 1}
		err := job.WriteShard(0, strings.NewReader(test.text))
		if test.want != "" {
			if want := "output of reducer 0 of data" + test.want; err == nil || err.Error() != want {
				t.Errorf("%q: %v, want %q", test.text, err, want)
			}
			continue
		}
		must.OK(t, errors.Join(err, job.Method.WriteLines(job)))
		if got := must.Get(os.ReadFile(filepath.Join(job.Output, "part-00000")))(t); string(got) != test.text {
			t.Errorf("%q comes back as %q", test.text, got)
		}
	}
}

// TestCount checks which counters of a job's reducers become its statistics.
func TestCount(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	reduced := map[string]int64{step.RecordsOut: 100, step.RecordsDone: 90, step.Messages: 120}
	for name, finished := range map[string]int64{step.Possible: 90, step.Solve: 0} {
		var s runner.Stats
		s.Count(&runner.Job{Method: method.Of(g), Step: name}, reduced)
		if s.Records != 100 || s.Messages != 120 || s.Finished != finished {
			t.Errorf("%s: %+v", name, s.Counts)
		}
	}
}
