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
	var names []string
	for i := range parts {
		names = append(names, path.Join(dir, jobdir.PartName(i)))
	}
	if found, err := jobdir.Find(fsys, names...); err != nil || len(found) != parts || fsys.n != 1 {
		t.Errorf("%d of %d files found, the seal read %d times, %v; want once", len(found), parts, fsys.n, err)
	}
	job := &runner.Job{Step: step.Possible, Tier: 1, FS: fsys, Input: []string{dir}}
	for tasks, opened := range map[int]int{1: 0, parts + 1: 1} {
		fsys.n, fsys.others = 0, 0
		inputs, records, err := New(g).Splits(job, func(int64) int { return tasks })
		if err != nil || len(inputs) != 1 || records != 1 || fsys.n != 1 || fsys.others != opened {
			t.Errorf("%d tasks: %d inputs, %d records, the seal read %d times, %d others opened, %v; want 1, 1, once, %d", tasks, len(inputs), records, fsys.n, fsys.others, err, opened)
		}
	}
}

// TestReadSplits checks that a mapper reads all splits of its lines, however long these are, and that the error for
// an invalid split names its line and has its text.
func TestReadSplits(t *testing.T) {
	var want []step.Split
	for i := range 10_000 {
		want = append(want, step.Split{File: fmt.Sprintf("data/part-%05d.pack", i), From: uint64(i), To: allRanges})
	}
	splits, err := step.ReadSplits(strings.NewReader(step.SplitsLine(want[:1])+step.SplitsLine(want[1:])), "in")
	if err != nil || !slices.Equal(splits, want) {
		t.Errorf("%d splits, %v, want %d", len(splits), err, len(want))
	}
	splits, err = step.ReadSplits(strings.NewReader(step.SplitsLine(want[:2])+strings.TrimSuffix(step.SplitsLine(want[2:3]), "\n")+"\tx\t1g\n"), "in")
	if err == nil || !strings.HasPrefix(err.Error(), "in:2: expected an input split") || !strings.HasSuffix(err.Error(), `found "x\t1g"`) || len(splits) != 3 {
		t.Errorf("%d splits, %v", len(splits), err)
	}
}

// FuzzSplits checks that splits that were read are written as a line of the same splits.
func FuzzSplits(f *testing.F) {
	f.Add("data/part-00000.pack\t0\tff")
	f.Add("a\t0\t1\tb\t2\t3\nc\t4\t5\n")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, text string) {
		splits, err := step.ReadSplits(strings.NewReader(text), "in")
		if err != nil || len(splits) == 0 {
			return
		}
		if again, err := step.ReadSplits(strings.NewReader(step.SplitsLine(splits)), "in"); err != nil || !slices.Equal(again, splits) {
			t.Errorf("%q: %+v, then %+v, %v", text, splits, again, err)
		}
	})
}
