package blocks

import (
	"os"
	"path"
	"testing"

	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
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

// TestBlockInputsReadSeal checks that a directory of many shards is divided among mappers with its
// seal read once, and that only a shard that is divided is opened.
func TestBlockInputsReadSeal(t *testing.T) {
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
	for tasks, opened := range map[int]int{1: 0, parts + 1: 1} {
		fsys.n, fsys.others = 0, 0
		inputs, records, err := BlockInputs(fsys, dir, g, 0, func(int64) int { return tasks })
		if err != nil || len(inputs) != 1 || records != 1 || fsys.n != 1 || fsys.others != opened {
			t.Errorf("%d tasks: %d inputs, %d records, the seal read %d times, %d others opened, %v; want 1, 1, once, %d", tasks, len(inputs), records, fsys.n, fsys.others, err, opened)
		}
	}
}

// FuzzSplit checks that a line that parses as a split is formatted as the same line.
func FuzzSplit(f *testing.F) {
	f.Add("data/part-00000.pack\t0\tff")
	f.Add("\t\t")
	f.Fuzz(func(t *testing.T, line string) {
		s, ok := step.ParseSplit(line)
		if !ok {
			return
		}
		if again, ok := step.ParseSplit(s.String()); !ok || again != s {
			t.Errorf("%q: %+v, then %+v", line, s, again)
		}
	})
}

// TestSplitsName checks that the name of an input gives its splits. A name of another form, or of
// another plan, is an error.
func TestSplitsName(t *testing.T) {
	const plan = "_attempt-data_first2-0123456789.plan"
	if from, to, err := step.ParseSplitsName(plan, step.SplitsName(plan, 12, 345)); from != 12 || to != 345 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
	for _, name := range []string{"", "12", "12-345", "-1-2-" + plan, "5-4-" + plan, "+4-5-" + plan, "04-5-" + plan, "part-00000",
		step.SplitsName("_attempt-data_first2-987654321a.plan", 12, 345)} {
		if from, to, err := step.ParseSplitsName(plan, name); err == nil {
			t.Errorf("%q: %d to %d, want an error", name, from, to)
		}
	}
}

// FuzzSplitsName checks that a name that parses is that of its splits and its plan.
func FuzzSplitsName(f *testing.F) {
	f.Add("_attempt-x-0.plan", "12-345-_attempt-x-0.plan")
	f.Add("", "4-5-")
	f.Fuzz(func(t *testing.T, plan, name string) {
		from, to, err := step.ParseSplitsName(plan, name)
		if err == nil && (from < 0 || from > to || step.SplitsName(plan, from, to) != name) {
			t.Errorf("%q of %q: %d to %d", name, plan, from, to)
		}
	})
}
