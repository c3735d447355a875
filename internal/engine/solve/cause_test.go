package solve

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
)

// silent is a file system whose Stat fails with an error, if it is not nil.
type silent struct {
	store.Local
	err error
}

func (s *silent) Stat(name string) (fs.FileInfo, error) {
	if s.err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: s.err}
	}
	return s.Local.Stat(name)
}

// TestCause checks the error of a run whose files another driver may have deleted.
func TestCause(t *testing.T) {
	fsys := new(silent)
	data, err := store.Create(fsys, t.TempDir(), "game", store.Fresh, IsRunArtifact, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	refused, lease := errors.New("connection refused"), errors.New("the lease has expired")
	write := func(err error) error { return &fs.PathError{Op: "write", Path: "part", Err: err} }
	for _, test := range []struct {
		stat, err error
		both      bool // the error has both causes
	}{
		{nil, write(lease), false},
		{refused, write(lease), true},
		{refused, write(refused), false},
	} {
		fsys.err = test.stat
		got := cause(data, test.err)
		if !errors.Is(got, test.err) || errors.Is(got, test.stat) != (test.stat != nil) || test.both == (got == test.err) {
			t.Errorf("%v, while the owner is unknown for %v: %v", test.err, test.stat, got)
		}
	}
	fsys.err = fs.ErrNotExist
	if got := cause(data, write(lease)); !errors.Is(got, store.ErrTakenOver) {
		t.Errorf("after a take-over: %v", got)
	}
	fsys.err = nil
}
