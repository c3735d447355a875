package mirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// dial starts a fake S3, and dials a directory in it.
func dial(t *testing.T) (fake *s3test.Fake, to *s3.FS, dir string) {
	t.Helper()
	fake = s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	to, dir, err := s3.Dial(t.Context(), "s3://bucket/d", aws.Options{})
	must.OK(t, err)
	return fake, to, dir
}

// start starts a run with a data directory, and its copy.
func start(t *testing.T, to *s3.FS, dir, data string, mode store.Mode, warn func(string)) (*Copy, *store.Data) {
	t.Helper()
	c, err := Open(t.Context(), to, dir, "test", warn)
	must.OK(t, err)
	d, err := store.Create(c.FS(store.Local{}, data), data, "game", mode, solve.IsRunArtifact, nil)
	must.OK(t, err)
	must.OK(t, c.Start(mode))
	return c, d
}

// commit commits a directory with one file.
func commit(t *testing.T, d *store.Data, name string) {
	t.Helper()
	attempt, err := d.Attempt(name)
	must.OK(t, err)
	must.OK(t, os.WriteFile(filepath.Join(attempt, "part-00000"), []byte(name), 0o666))
	must.OK(t, d.Commit(attempt, name, nil))
}

// holdPut makes the upload of a file whose path has this end wait until release is closed; held is closed
// when it waits.
func holdPut(fake *s3test.Fake, end string) (held, release chan struct{}) {
	held, release = make(chan struct{}), make(chan struct{})
	fake.Set(func(r *http.Request) *faults.Fault {
		if strings.HasSuffix(r.URL.Path, end) {
			close(held)
			<-release
		}
		return nil
	})
	return held, release
}

// TestOvertake checks that the journal overtakes a directory that is being copied, as long as
// its state is running. The end of the run is copied last.
func TestOvertake(t *testing.T) {
	fake, to, dir := dial(t)
	c, d := start(t, to, dir, filepath.Join(t.TempDir(), "data"), store.Fresh, func(text string) { t.Error(text) })
	defer d.Close()
	held, release := holdPut(fake, "/data_first0/part-00000")
	commit(t, d, "data_first0")
	<-held
	journal := func(state string) string {
		must.OK(t, d.WriteFile(store.JournalFile, []byte(`{"state": "`+state+`"}`)))
		c.overtake()
		return string(fake.Get("bucket", "d/"+store.JournalFile))
	}
	if got := journal("running"); got != `{"state": "running"}` {
		t.Errorf("while a directory is put: %q", got)
	}
	if got := journal("solved"); got != `{"state": "running"}` {
		t.Errorf("before all is put: %q", got)
	}
	close(release)
	must.OK(t, c.Finish())
	if got := string(fake.Get("bucket", "d/"+store.JournalFile)); got != `{"state": "solved"}` {
		t.Errorf("at the end: %q", got)
	}
	if fake.Get("bucket", "d/data_first0/"+store.Success) == nil {
		t.Error("the directory is not there")
	}
	must.OK(t, c.Close())
}

// TestRefused checks that what S3 has refused never counts as copied: neither at the end, nor
// when a run is about to delete its source.
func TestRefused(t *testing.T) {
	fake, to, dir := dial(t)
	// The waiting goroutine may wake up before or after the error is set.
	for i := range 10 {
		committed := make(chan struct{}) // a commit fails once S3 has refused
		fake.Set(faults.Denied.If(func(r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/part-00000") {
				return false
			}
			select {
			case <-committed:
			case <-r.Context().Done():
			}
			return true
		}))
		c, d := start(t, to, fmt.Sprint(dir, i), filepath.Join(t.TempDir(), "data"), store.Fresh, func(string) {})
		commit(t, d, "data_first0")
		close(committed)
		gone := make(chan error, 4)
		for range cap(gone) {
			go func() { gone <- c.settle("data_first0") }()
		}
		if err := c.Finish(); err == nil {
			t.Errorf("run %d: the copy is reported as complete", i)
		}
		for range cap(gone) {
			if err := <-gone; err == nil {
				t.Errorf("run %d: the directory could be removed", i)
			}
		}
		must.OK(t, errors.Join(c.Close(), d.Close()))
	}
}

// TestLost checks that a machine that slept while it copied a directory does not complete it
// after another driver has taken over: it writes neither a file nor the seal once the claim is
// lost.
func TestLost(t *testing.T) {
	fake, to, dir := dial(t)
	const short = 50 * time.Millisecond
	owner := filepath.Join(dir, OwnerFile)
	claim, _, err := to.Claim(t.Context(), owner, "first", short)
	must.OK(t, err)
	data := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(data, "table"), 0o777))
	for _, name := range []string{"part-00000", store.Success} {
		must.OK(t, os.WriteFile(filepath.Join(data, "table", name), []byte(name), 0o666))
	}
	held, release := holdPut(fake, "/part-00000")
	c := &Copy{ctx: t.Context(), to: to, dir: dir, claim: claim, from: store.Local{}, data: data}
	put := make(chan error)
	go func() { put <- c.make([]*change{{name: "table", dir: true}}) }()
	<-held
	var second *s3.Claim
	for second == nil { // the first renews its claim all the time
		if second, _, err = to.Claim(t.Context(), owner, "second", time.Hour); err != nil {
			time.Sleep(short / 10)
		}
	}
	for claim.Held(t.Context()) == nil {
		time.Sleep(short / 10)
	}
	close(release)
	if err := <-put; !errors.Is(err, s3.ErrLost) {
		t.Error(err)
	}
	if fake.Get("bucket", "d/table/"+store.Success) != nil {
		t.Error("what another has begun was sealed")
	}
	must.OK(t, errors.Join(claim.Release(t.Context()), second.Release(t.Context())))
}

// TestLostChanges checks that nothing in the copy changes once the claim is lost: by no kind
// of change, no overtaking journal, and not by Close.
func TestLostChanges(t *testing.T) {
	fake, to, dir := dial(t)
	claim, _, err := to.Claim(t.Context(), filepath.Join(dir, OwnerFile), "first", 50*time.Millisecond)
	must.OK(t, err)
	data := t.TempDir()
	journal, err := store.MarshalSummed(&solve.Journal{State: solve.Running})
	must.OK(t, err)
	must.OK(t, os.Mkdir(filepath.Join(data, "table"), 0o777))
	for name, text := range map[string]string{"table/part-00000": "mine", "table/" + store.Success: "mine", store.JournalFile: string(journal)} {
		must.OK(t, os.WriteFile(filepath.Join(data, name), []byte(text), 0o666))
	}
	for _, name := range []string{OwnerFile, store.JournalFile, "data_first0/part-00000", "table/part-00001", "table/" + store.Success} {
		fake.Put("bucket", "d/"+name, []byte(`{"who": "second", "since": "now", "seconds": 3600}`))
	}
	for claim.Held(t.Context()) == nil {
		time.Sleep(time.Millisecond)
	}
	content := func() string {
		var all strings.Builder
		for _, key := range fake.Keys("bucket") {
			fmt.Fprintf(&all, "%s: %s\n", key, fake.Get("bucket", key))
		}
		return all.String()
	}
	before := content()
	ctx, stop := context.WithCancel(t.Context())
	c := &Copy{ctx: ctx, to: to, dir: dir, claim: claim, from: store.Local{}, data: data, warn: func(text string) { t.Error(text) }, on: true, ended: make(chan struct{})}
	c.moved = sync.NewCond(&c.mu)
	for name, ch := range map[string]*change{
		"directory":  {name: "table", dir: true},
		"file":       {name: "table/part-00000"},
		"small file": {name: store.ManifestFile, content: []byte("mine")},
		"removal":    {name: "data_first0", remove: true},
	} {
		if err := c.persist([]*change{ch}); !errors.Is(err, s3.ErrLost) {
			t.Errorf("%s: %v, want %v", name, err, s3.ErrLost)
		}
		if after := content(); after != before {
			t.Errorf("%s: the copy is\n%s, was\n%s", name, after, before)
		}
	}
	c.queue = []*change{{name: "table", dir: true}, {name: store.JournalFile, content: journal}}
	c.overtake()
	if after := content(); after != before {
		t.Errorf("journal: the copy is\n%s, was\n%s", after, before)
	}
	close(c.ended)
	stop()
	must.OK(t, c.Close())
	if after := content(); after != before {
		t.Errorf("last words: the copy is\n%s, was\n%s", after, before)
	}
}
