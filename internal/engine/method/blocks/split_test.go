package blocks

import (
	"os"
	"path"
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
