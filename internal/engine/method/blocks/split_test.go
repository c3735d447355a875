package blocks

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/step"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// sealReads counts how often seals and other files are opened.
type sealReads struct {
	store.Local
	n, others int
}

func (f *sealReads) Open(name string) (store.File, error) {
	if path.Base(name) == store.Success {
		f.n++
	} else {
		f.others++
	}
	return f.Local.Open(name)
}

// TestSplitsReadSeal checks that a directory of many shards is divided among mappers with its
// seal read once, and that only a shard that is divided is opened.
func TestSplitsReadSeal(t *testing.T) {
	g := must.Get(connectn.New(3, 3, 3))(t)
	dir := path.Join(t.TempDir(), "data_first0")
	fsys := new(sealReads)
	must.OK(t, os.Mkdir(dir, 0o777))
	const parts = 20
	for i := range parts {
		out := must.Get(fsys.Create(path.Join(dir, jobdir.PartName(i))))(t)
		w := NewWriter(out, g, 0)
		if i == 0 {
			must.OK(t, w.Add(Start(g)))
		}
		must.OK(t, w.Finish(nil))
	}
	files := must.Get(jobdir.SealAll(fsys, dir))(t)
	must.OK(t, (&store.Seal{Game: g.Spec(), Job: path.Base(dir), Files: files}).Write(fsys, dir))
	job := &runner.Job{Step: step.Possible, Tier: 1, FS: fsys, Input: []string{dir}}
	for tasks, opened := range map[int]int{1: 0, parts + 1: 1} {
		fsys.n, fsys.others = 0, 0
		inputs, records, err := New(g).Splits(job, func(int64) int { return tasks })
		if err != nil || len(inputs) != 1 || records != 1 || fsys.n != 1 || fsys.others != opened {
			t.Errorf("%d tasks: %d inputs, %d records, the seal read %d times, %d others opened, %v; want 1, 1, once, %d", tasks, len(inputs), records, fsys.n, fsys.others, err, opened)
		}
	}
}

// TestEachSplit checks that a mapper reads all splits of its lines, however long these are, and that the error for
// an invalid split names its line and has its text.
func TestEachSplit(t *testing.T) {
	var want []step.Split
	for i := range 10_000 {
		want = append(want, step.Split{File: fmt.Sprintf("data/part-%05d.pack", i), From: uint64(i), To: allRanges})
	}
	splits, err := eachSplit(step.SplitsLine(want[:1]) + step.SplitsLine(want[1:]))
	if err != nil || !slices.Equal(splits, want) {
		t.Errorf("%d splits, %v, want %d", len(splits), err, len(want))
	}
	splits, err = eachSplit(step.SplitsLine(want[:2]) + strings.TrimSuffix(step.SplitsLine(want[2:3]), "\n") + "\tx\t1g\n")
	if err == nil || !strings.HasPrefix(err.Error(), "in:2: expected an input split") || !strings.HasSuffix(err.Error(), `found "x\t1g"`) || len(splits) != 3 {
		t.Errorf("%d splits, %v", len(splits), err)
	}
}

// eachSplit returns the splits before the first that is invalid.
func eachSplit(text string) (splits []step.Split, err error) {
	err = step.EachSplit(strings.NewReader(text), "in", func(s step.Split) error {
		splits = append(splits, s)
		return nil
	})
	return splits, err
}

// FuzzSplits checks that splits that were read are written as a line of the same splits.
func FuzzSplits(f *testing.F) {
	f.Add("data/part-00000.pack\t0\tff")
	f.Add("a\t0\t1\tb\t2\t3\nc\t4\t5\n")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, text string) {
		splits, err := eachSplit(text)
		if err != nil || len(splits) == 0 {
			return
		}
		if again, err := eachSplit(step.SplitsLine(splits)); err != nil || !slices.Equal(again, splits) {
			t.Errorf("%q: %+v, then %+v, %v", text, splits, again, err)
		}
	})
}
