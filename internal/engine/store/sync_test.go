package store_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/storetest"
)

// powerCut makes all kinds of commits, on a disk that may leave out one sync. It reports what
// a power cut could have destroyed, during the commits or after each of them.
func powerCut(t *testing.T, disk *storetest.Disk) (faults []string) {
	t.Helper()
	data := must.Get(store.Create(disk, filepath.Join(t.TempDir(), "data"), spec, store.Fresh, artifact, nil))(t)
	defer data.Close()
	check := func(err error) {
		t.Helper()
		must.OK(t, err)
		for _, path := range disk.AtRisk() {
			faults = append(faults, path+" is at risk")
		}
	}
	file := func(dir, name string) {
		t.Helper()
		must.OK(t, store.WriteFile(data.FS, filepath.Join(dir, name), []byte("good")))
	}
	check(data.EnableSync())
	files := []store.SealedFile{{Name: "part-00000", Length: 4}, {Name: "part-00001", Length: 4}, {Name: "_to-00000", Length: 4}}
	for _, name := range []string{"mark1", "mark2", "mark1"} {
		dir := attempt(t, data, name)
		for _, f := range files {
			file(dir, f.Name)
		}
		check(data.Commit(dir, sealOf(name, files)))
	}
	check(data.Remove("mark1"))
	check(data.Remember(map[string]string{"keep": "all"}))
	must.OK(t, data.FS.MkdirAll(data.Dir("table")))
	must.OK(t, data.FS.Sync(data.Path))
	tiers := &store.Seal{Game: spec, Job: "table"}
	dir := attempt(t, data, "table")
	for _, name := range []string{"tier-01.pack", "tier-00.pack"} {
		file(dir, name)
		must.OK(t, data.CommitFile(filepath.Join(dir, name), "table/"+name))
		tiers.Files = append(tiers.Files, store.SealedFile{Name: name, Length: 4})
		check(tiers.Replace(data.FS, data.Dir("table"), "_tiers"))
	}
	check(tiers.Replace(data.FS, data.Dir("table"), store.Success))
	check(data.Remove("table/_tiers"))
	return append(disk.Faults(), faults...)
}

// TestPowerCut checks that a disk that can lose power at any time never has a directory
// without its parts, and that every sync is needed for that.
func TestPowerCut(t *testing.T) {
	disk := new(storetest.Disk)
	if faults := powerCut(t, disk); faults != nil {
		t.Fatalf("with every sync:\n%s", strings.Join(faults, "\n"))
	}
	if disk.Syncs() < 25 {
		t.Errorf("%d syncs", disk.Syncs())
	}
	for skip := range disk.Syncs() {
		if faults := powerCut(t, &storetest.Disk{Skip: skip + 1}); faults == nil {
			t.Errorf("without sync %d of %d nothing is at risk", skip+1, disk.Syncs())
		}
	}
}

// TestNotSynced checks that quick work is not synced before a call of Last, except the
// manifest, which may replace that of a long run.
func TestNotSynced(t *testing.T) {
	disk := new(storetest.Disk)
	data := must.Get(store.Create(disk, t.TempDir(), spec, store.Fresh, artifact, nil))(t)
	defer data.Close()
	dir := attempt(t, data, "data_first1")
	must.OK(t, store.WriteFile(data.FS, filepath.Join(dir, "part-00000"), []byte("good")))
	must.OK(t, data.Commit(dir, sealOf("data_first1", good)))
	if got := disk.Syncs(); got != 1 {
		t.Errorf("%d syncs, want that of the manifest", got)
	}
	if part := data.Dir("data_first1/part-00000"); !slices.Contains(disk.AtRisk(), part) {
		t.Errorf("at risk is %s, want %s among it", disk.AtRisk(), part)
	}
}

// TestSyncLocal checks that Sync works for files and directories, and fails if there is no
// such file.
func TestSyncLocal(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good")
	for _, name := range []string{dir, filepath.Join(dir, "part-00000")} {
		if err := (store.Local{}).Sync(name); err != nil {
			t.Error(err)
		}
	}
	if err := (store.Local{}).Sync(filepath.Join(dir, "none")); !store.Damaged(err) {
		t.Errorf("of nothing: %v", err)
	}
}
