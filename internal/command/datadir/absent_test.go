package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/status"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// inHDFS is a file system whose locks cannot be queried.
type inHDFS struct{ store.Local }

// TestAbsentDriver checks that the error for a run without a table agrees with driver status on
// whether the driver is at work or died.
func TestAbsentDriver(t *testing.T) {
	const goOn = "; to continue: driver solve connectn --width 3 --data d --resume"
	for _, test := range []struct {
		name    string
		fsys    store.FS
		working bool
		age     time.Duration
		want    string
	}{
		{"locked", store.Local{}, true, time.Hour, "running"},
		{"not locked", store.Local{}, false, 0, "died after data_first3" + goOn},
		{"in HDFS", inHDFS{}, false, 0, "running"},
		{"silent in HDFS", inHDFS{}, true, 2 * solve.Silent, "died after data_first3" + goOn},
	} {
		dir := t.TempDir()
		data := must.Get(store.Create(store.Local{}, dir, "connectn width=3", store.Fresh, solve.IsRunArtifact, nil))(t)
		defer data.Close()
		if !test.working {
			data.Close()
		}
		text, err := store.MarshalSummed(solve.Journal{Game: data.Game, State: solve.Running, Updated: time.Now().Add(-test.age),
			Jobs: []solve.JobRecord{{Job: "data_first3", Step: "possible", Tier: 3}}})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, store.JournalFile), text, 0o666)
		}
		must.OK(t, err)
		err = Absent(&filesys.Place{FS: test.fsys, Path: dir}, "d")
		if want := "d: connectn width=3 is not solved yet: " + test.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", test.name, err, want)
		}
		r, err := status.Read(test.fsys, dir)
		if err != nil || (r.Status == status.Died) != strings.Contains(test.want, "died") {
			t.Errorf("%s: status %s, %v", test.name, r.Status, err)
		}
	}
}
