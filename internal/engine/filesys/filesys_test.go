package filesys

import (
	"errors"
	"testing"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// TestOpen checks that a name without a known scheme is a local path, whether or not it
// exists, and that a name that refers to no file system is refused.
func TestOpen(t *testing.T) {
	for _, name := range []string{"d", "/no/such", "./a:b", "hdfs"} {
		place, err := Open(name)
		if err != nil || place.FS != (store.Local{}) || place.Path != name || place.HDFS != nil || place.Close() != nil {
			t.Errorf("%s: %+v, %v", name, place, err)
		}
	}
	for _, name := range []string{"", "s3a://bucket/d", "file:/d", "hdfs://h:1", "hdfs:/d"} {
		if place, err := Open(name); !errors.As(err, new(*hadoop.NameError)) {
			t.Errorf("%s: %+v, %v", name, place, err)
		}
	}
	further := Opener{Scheme: "s3://", Open: func(name string) (store.FS, string, error) {
		if name == "s3://" {
			return nil, "", errors.New("no bucket")
		}
		return store.Local{}, name[len("s3://"):], nil
	}}
	if place, err := Open("s3://b/d", further); err != nil || place.Path != "b/d" || place.Close() != nil {
		t.Errorf("%+v, %v", place, err)
	}
	if place, err := Open("s3://", further); err == nil || err.Error() != "no bucket" {
		t.Errorf("%+v, %v", place, err)
	}
	if place, err := Open("s3/d", further); err != nil || place.Path != "s3/d" {
		t.Errorf("%+v, %v", place, err)
	}
	// No process listens there.
	if place, err := Open("hdfs://127.0.0.1:1/d"); err == nil {
		t.Errorf("%+v", place)
	}
}
