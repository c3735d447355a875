package amazon

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestRemovalPrintable checks that driver-aws emr rm escapes control characters in its list: keys
// in a bucket and games in a manifest may contain any characters.
func TestRemovalPrintable(t *testing.T) {
	var out strings.Builder
	r := &removal{groups: map[string]*removalGroup{"a\x1b[2Jb": {what: "game\r", data: true}}, others: 1, other: "c\nd"}
	must.OK(t, r.print(&out, bucketPlace{bucket: "bucket"}))
	if r.bucketToo(bucketPlace{bucket: "bucket"}) {
		t.Error("a bucket with other objects would be deleted")
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\r") || strings.Count(text, "\n") != 2 {
		t.Errorf("%q", text)
	}
}

// TestMadeFor checks which names of clusters are of a place, or of one below it.
func TestMadeFor(t *testing.T) {
	for name, want := range map[string]bool{
		"treereduce s3://b/games": true, "treereduce s3://b/games/six #AB": true, "treereduce s3://b/games #AB": true,
		"treereduce s3://b/games2": false, "treereduce s3://b/gamesx/six": false, "treereduce s3://b": false, "s3://b/games": false, "": false,
	} {
		if madeFor(name, bucketPlace{bucket: "b", prefix: "games"}) != want {
			t.Errorf("%q: %v, want %v", name, !want, want)
		}
	}
}

// TestRemove checks what driver-aws emr rm deletes, in which order, and when it deletes nothing.
func TestRemove(t *testing.T) {
	dir := solved(t)["connectn"]
	const data, other, program = "games/all_data/", "games/other", "games/bin/0123456789abcdef0123456789abcdef/mapper"
	none := func(*s3test.Fake) {}
	for name, test := range map[string]struct {
		keys  []string                // besides the data directory
		spoil func(fake *s3test.Fake) // between the list and the deletion
		err   string                  // "": none
		left  string                  // what is not deleted: some of seal, tiers, manifest, program and other, in this order
	}{
		"deleted": {[]string{other, program}, none, "", "other"},
		"changed": {[]string{program}, func(fake *s3test.Fake) { fake.Put("bucket", data+"data_first9/part-00000", nil) }, "have changed since they were listed", "seal tiers manifest program"},
		"claimed": {nil, func(fake *s3test.Fake) {
			fake.Put("bucket", data+"_owner", []byte(`{"who": "other", "seconds": 100}`))
		}, "nothing was deleted", "seal tiers manifest"},
		"interrupted after the seals": {nil, refuseDeletions(1), "AccessDenied", "tiers manifest"},
		"interrupted later":           {nil, refuseDeletions(2), "AccessDenied", "manifest"},
	} {
		fake := s3test.StartFake(t, "bucket")
		putData(t, fake, dir, "bucket", strings.TrimSuffix(data, "/"))
		for _, key := range test.keys {
			fake.Put("bucket", key, []byte("x"))
		}
		onEMR(t, fake, alive(""), func(run *emrSolve) {
			r := &remover{run.emrCommand, make(map[string]bool)}
			found, err := r.find(t.Context())
			must.OK(t, err)
			test.spoil(fake)
			if err = r.remove(t.Context(), found); (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q", name, err, test.err)
			}
			var left []string
			for _, of := range [][2]string{{"seal", data + "table/" + store.Success}, {"tiers", data + "table/tier-00.blocks"}, {"manifest", data + store.ManifestFile}, {"program", program}, {"other", other}} {
				if fake.Get("bucket", of[1]) != nil {
					left = append(left, of[0])
				}
			}
			if got := strings.Join(left, " "); got != test.left {
				t.Errorf("%s: left %q, want %q", name, got, test.left)
			}
		})
	}
}

// refuseDeletions returns a function that refuses the requests to delete objects after the first n.
func refuseDeletions(n int) func(fake *s3test.Fake) {
	return func(fake *s3test.Fake) {
		var deletions atomic.Int64
		fake.Set(faults.Denied.If(func(r *http.Request) bool {
			return r.Method == http.MethodPost && deletions.Add(1) > int64(n)
		}))
	}
}
