package amazon

import (
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/mirror"
	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// boards contains a small board for each method.
var boards = map[string]string{
	"connectn":   "--width 3 --height 2 --connect 2",
	"quickcross": "--width 2 --height 2 --connect 2",
	"mnk":        "--width 2 --height 2 --connect 2",
}

// files reads the files of a data directory, by name, except for its lock and the temporary
// directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "_lock" || e.Name() == "temp" {
			return err
		}
		content, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, dir+"/")] = string(content)
		return err
	})
	must.OK(t, err)
	return found
}

// isCopy checks that the copy is equal to the data directory, file by file.
func isCopy(t *testing.T, fake *s3test.Fake, key, dir string) {
	t.Helper()
	here := files(t, dir)
	for _, name := range fake.Keys("bucket") {
		below, ok := strings.CutPrefix(name, key+"/")
		if !ok {
			continue
		}
		if content, ok := here[below]; !ok || content != string(fake.Get("bucket", name)) {
			t.Errorf("%s: in the data directory: %v", name, ok)
		}
		delete(here, below)
	}
	for name := range here {
		t.Errorf("%s is not in the copy", name)
	}
}

// TestCopy checks that a copy in S3 is equal to the data directory, for all methods, and also
// if all directories are kept; that commands can read it; and that a run can be resumed from it
// on a machine without the data.
func TestCopy(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	for game, board := range boards {
		for _, keep := range []string{"", " --keep all"} {
			key := game + strings.ReplaceAll(keep, " ", "")
			dir := filepath.Join(t.TempDir(), "data")
			out := runs(t, "solve "+game+" "+board+" --data "+dir+" --copy s3://bucket/"+key+keep)
			if !strings.HasSuffix(out, "\ncopy: s3://bucket/"+key+"\n") {
				t.Error(out)
			}
			isCopy(t, fake, key, dir)
			if got, want := runs(t, "stats --data s3://bucket/"+key), runs(t, "stats --data "+dir); got != want {
				t.Error(got)
			}
			again := filepath.Join(t.TempDir(), "data")
			status, out, stderr := runLine("solve " + game + " " + board + " --resume --data " + again + " --copy s3://bucket/" + key)
			if status != 0 || !strings.Contains(out, "positions, solved by an earlier run\n") || !strings.Contains(stderr, " from s3://bucket/"+key+"\n") {
				t.Errorf("status %d, %s%s", status, out, stderr)
			}
			isCopy(t, fake, key, again)
			asked := len(fake.Asked())
			runs(t, "solve "+game+" "+board+" --resume --data "+again+" --copy s3://bucket/"+key)
			for _, request := range fake.Asked()[asked:] {
				if strings.HasPrefix(request, "PUT ") && !strings.HasSuffix(request, ".json") && !strings.HasSuffix(request, mirror.OwnerFile) {
					t.Errorf("put again: %s", request)
				}
			}
			// Another game replaces it.
			runs(t, "solve connectn --width 2 --height 2 --connect 2 --overwrite --data "+again+" --copy s3://bucket/"+key)
			isCopy(t, fake, key, again)
		}
	}
}

// TestCopyCutAnywhere cuts runs off after different numbers of requests, and checks that
// another driver on another machine can resume them from the copy to the same bytes.
func TestCopyCutAnywhere(t *testing.T) { cutAnywhere(t, func(n int64) int64 { return n + 2 + n/2 }) }

func TestLongCopyCutAnywhere(t *testing.T) {
	longtest.Skip(t)
	cutAnywhere(t, func(n int64) int64 { return n + 1 })
}

// cutAnywhere cuts runs off after n writes, for the n that next returns in succession.
func cutAnywhere(t *testing.T, next func(n int64) int64) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	for game, board := range boards {
		want := filepath.Join(t.TempDir(), "data")
		runs(t, "solve "+game+" "+board+" --data "+want)
		fetched := 0
		for n := int64(1); ; n = next(n) {
			for _, key := range fake.Keys("bucket") {
				fake.Set(nil)
				if !strings.HasSuffix(key, mirror.OwnerFile) {
					continue
				}
				fake.Age("bucket", key, time.Hour)
			}
			key := "cut" + game + time.Unix(n, 0).UTC().Format("150405")
			line := "solve " + game + " " + board + " --copy s3://bucket/" + key + " --data "
			var writes atomic.Int64
			fake.Set(faults.Denied.If(func(r *http.Request) bool {
				return r.Method != http.MethodGet && r.Method != http.MethodHead && writes.Add(1) > n
			}))
			status, _, stderr := runLine(line + filepath.Join(t.TempDir(), "data"))
			fake.Set(nil)
			if status == 0 {
				break
			}
			if status != 1 || !strings.Contains(stderr, "--copy: ") || !strings.Contains(stderr, "AccessDenied") {
				t.Fatalf("after %d writes: status %d, %s", n, status, stderr)
			}
			owner := key + "/" + mirror.OwnerFile
			if fake.Get("bucket", owner) == nil { // so that the claim could be released
				t.Fatalf("after %d writes no driver owns the copy", n)
			}
			again := filepath.Join(t.TempDir(), "data")
			if status, _, stderr := runLine(line + again + " --resume"); status != 1 || !strings.Contains(stderr, "_owner: in use by driver") {
				t.Fatalf("after %d writes, by a second driver: status %d, %s", n, status, stderr)
			}
			fake.Age("bucket", owner, time.Hour)
			mode := " --resume"
			if fake.Get("bucket", key+"/"+store.ManifestFile) == nil {
				mode = ""
			}
			status, _, stderr = runLine(line + again + mode)
			if status != 0 || !strings.Contains(stderr, "taken over from driver ") {
				t.Fatalf("after %d writes: status %d, %s", n, status, stderr)
			}
			if mode != "" {
				fetched++
			}
			isCopy(t, fake, key, again)
			here, there := files(t, want), files(t, again)
			for name, content := range here {
				if !strings.HasSuffix(name, ".json") && there[name] != content {
					t.Errorf("after %d writes %s is another", n, name)
				}
			}
		}
		if fetched < 2 {
			t.Errorf("%s was gone on with %d times", game, fetched)
		}
	}
}

// TestCopyRefused checks that a copy that must not be written, or not be fetched, causes an
// error, and does not change.
func TestCopyRefused(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	line := "solve mnk " + boards["mnk"] + " --data "
	first := filepath.Join(t.TempDir(), "first")
	runs(t, line+first+" --copy s3://bucket/d")
	second := filepath.Join(t.TempDir(), "second")
	runs(t, line+second+" --copy s3://bucket/e")
	before := runs(t, line+first+" --resume --copy s3://bucket/d") // of a later run than that of second
	fake.Put("bucket", "foreign/file", []byte("x"))
	keys := strings.Join(fake.Keys("bucket"), " ")
	none := filepath.Join(t.TempDir(), "none")
	for _, test := range []struct {
		line   string
		status int
		want   string
	}{
		{line + none + " --copy s3://bucket/d", 1, "--copy s3://bucket/d: already contains a run of this game: --resume continues it, --overwrite starts over"},
		{"solve connectn " + boards["connectn"] + " --resume --data " + none + " --copy s3://bucket/d", 1, `--copy s3://bucket/d: of another game: expected "connectn width=3 height=2 connect=2", found "mnk`},
		{line + second + " --resume --copy s3://bucket/d", 1, "--copy s3://bucket/d: it is from a later run, started "},
		{line + none + " --copy s3://bucket/foreign", 1, "--copy s3://bucket/foreign: not empty, and not treereduce's: it has no treereduce.json"},
		{line + none + " --overwrite --copy s3://bucket/foreign", 1, "--copy s3://bucket/foreign: not empty, and not treereduce's: it has no treereduce.json"},
		{line + none + " --resume --copy s3://bucket/nothing", 1, "nothing to resume in " + none},
		{line + none + " --copy s3://bucket", 2, `--copy "s3://bucket": expected s3://bucket/path`},
		{line + none + " --copy d", 2, `--copy "d": expected s3://bucket/path`},
		{line + none + " --copy s3://other/d", 1, "s3://other: no such bucket"},
	} {
		if status, _, stderr := runLine(test.line); status != test.status || !strings.Contains(stderr, "driver: "+test.want) {
			t.Errorf("%s: status %d, %s\nexpected %s", test.line, status, stderr, test.want)
		}
	}
	if now := strings.Join(fake.Keys("bucket"), " "); now != keys {
		t.Errorf("%s\nbefore\n%s", now, keys)
	}
	if before == "" {
		t.Error("nothing was gone on with")
	}
}

// TestCopyBusy checks that a run survives an S3 that is busy for a while, and one that cuts off
// its answers.
func TestCopyBusy(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	dir := filepath.Join(t.TempDir(), "data")
	var n atomic.Int64
	fake.Set(faults.Busy.If(func(*http.Request) bool { return n.Add(1)%20 == 0 }))
	runs(t, "solve mnk "+boards["mnk"]+" --data "+dir+" --copy s3://bucket/d")
	fake.Set(nil)
	isCopy(t, fake, "d", dir)
}

// A listener keeps what is written, and closes closed at the first write.
type listener struct {
	strings.Builder
	closed chan struct{}
}

func (l *listener) Write(b []byte) (int, error) {
	if l.Len() == 0 {
		close(l.closed)
	}
	return l.Builder.Write(b)
}

// TestCopyLate checks that a run that has finished, except for its copy, reports what it is
// waiting for.
func TestCopyLate(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	dir := filepath.Join(t.TempDir(), "data")
	stderr := &listener{closed: make(chan struct{})}
	fake.Set(func(r *http.Request) *faults.Fault {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/d/table/_SUCCESS") {
			select {
			case <-stderr.closed:
			case <-time.After(time.Minute):
			}
		}
		return nil
	})
	line := "solve mnk " + boards["mnk"] + " --data " + dir + " --copy s3://bucket/d"
	status := Extension().Run(some(), append([]string{"driver"}, strings.Fields(line)...), strings.NewReader(""), io.Discard, stderr)
	if got := stderr.String(); status != 0 || !regexp.MustCompile(`^driver: copying [1-9] changes? to s3://bucket/d\n$`).MatchString(got) {
		t.Errorf("status %d, %q", status, got)
	}
	isCopy(t, fake, "d", dir)
}
