package amazon

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// putData copies a data directory into a bucket.
func putData(t *testing.T, s *s3test.Fake, dir, bucket, key string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		s.Put(bucket, key+"/"+filepath.ToSlash(below), content)
		return err
	})
	must.OK(t, err)
}

// TestReadInS3 checks that every command that reads prints the same for a table in S3 as for a
// local one.
func TestReadInS3(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	for name, dir := range solved(t) {
		putData(t, fake, dir, "bucket", "solved/"+name)
		there := "s3://bucket/solved/" + name
		for _, line := range []string{"lookup --data DIR --start --line --parents", "stats --data DIR", "stats --data DIR --svg -", "verify --data DIR", "verify --data DIR --rules", "export --data DIR", "status --data DIR --all"} {
			here := runs(t, strings.ReplaceAll(line, "DIR", dir))
			if got := runs(t, strings.ReplaceAll(line, "DIR", there)); got != here || got == "" {
				t.Errorf("%s: %s\nexpected\n%s", line, got, here)
			}
		}
		if got, want := runs(t, "status "+there+" --all"), runs(t, "status --data "+dir+" --all"); got != want {
			t.Error(got, want)
		}
		if got := runs(t, "compare "+there+" "+dir+"/final"); !strings.Contains(got, " are the same: ") {
			t.Error(got)
		}
		runs(t, "stats --data "+dir+" --svg "+there+".svg")
		if got, want := string(fake.Get("bucket", "solved/"+name+".svg")), runs(t, "stats --data "+dir+" --svg -"); got != want {
			t.Errorf("the picture in S3: %.100s", got)
		}
	}
}

// TestWrongInS3 checks that a missing or damaged file causes an error that contains its name.
func TestWrongInS3(t *testing.T) {
	fake := s3test.StartFake(t, "bucket")
	s3test.Use(t, fake.Env())
	putData(t, fake, solved(t)["connectn"], "bucket", "d/two")
	for _, test := range []struct {
		line   string
		status int
		want   string
	}{
		{"lookup --data s3://bucket/d/twoo --start", 1, "s3://bucket/d/twoo: no such directory: did you mean s3://bucket/d/two?"},
		{"lookup --data s3://nothing/d --start", 1, "s3://nothing: no such bucket"},
		{"lookup --data s3://bucket --start", 2, `--data "s3://bucket": expected s3://bucket/path`},
		{"status s3://bucket/d/twoo", 1, "s3://bucket/d/twoo: no such directory: did you mean s3://bucket/d/two?"},
		{"status s3://bucket/d/two more", 2, `unexpected argument "s3://bucket/d/two": --data names the directory`},
		{"solve mnk --data s3://bucket/d/three", 2, "--data s3://bucket/d/three: not possible as the data directory of a run: --copy s3://bucket/d/three keeps a copy there"},
	} {
		if status, _, stderr := runLine(test.line); status != test.status || !strings.HasPrefix(stderr, "driver: "+test.want+"\n") {
			t.Errorf("%s: status %d, %s\nexpected %s", test.line, status, stderr, test.want)
		}
	}
	seal := fake.Get("bucket", "d/two/table/_SUCCESS")
	fake.Put("bucket", "d/two/table/_SUCCESS", append([]byte(" "), seal...))
	if status, _, stderr := runLine("lookup --data s3://bucket/d/two --start"); status != 1 || !strings.Contains(stderr, "d/two/table/_SUCCESS: damaged") {
		t.Errorf("%d: %s", status, stderr)
	}
	// Without credentials, the error describes what to set.
	s3test.Use(t, append(s3test.Environ(), "AWS_ACCESS_KEY_ID="))
	if status, _, stderr := runLine("status s3://bucket/d/two"); status != 1 || !strings.HasPrefix(stderr, "driver: s3://bucket/d/two: no AWS credentials: set AWS_ACCESS_KEY_ID") {
		t.Errorf("%d: %s", status, stderr)
	}
}
