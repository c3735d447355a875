package driver

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// refusing is a file system on which Stat always fails.
type refusing struct {
	store.Local
	err error
}

func (f refusing) Stat(string) (fs.FileInfo, error) { return nil, f.err }

// TestCalibrateFree checks that calibrate, which deletes its directory at the end, only uses
// one that does not exist. An error of Stat does not show that.
func TestCalibrateFree(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		fs   store.FS
		name string
		want string
	}{
		{store.Local{}, filepath.Join(dir, "new"), ""},
		{store.Local{}, dir, dir + " exists already: --data must name a new directory"},
		{refusing{err: fs.ErrPermission}, dir, "cannot check whether it exists: permission denied"},
		{refusing{err: errors.New("connection refused")}, dir, "connection refused"},
	} {
		err := freeFor(test.fs, test.name)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
