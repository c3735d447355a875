package store_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
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
	data := must.Get(store.Create(fsys, t.TempDir(), spec, store.Fresh, artifact, nil))(t)
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
		got := data.Cause(test.err)
		if !errors.Is(got, test.err) || errors.Is(got, test.stat) != (test.stat != nil) || test.both == (got == test.err) {
			t.Errorf("%v, while the owner is unknown for %v: %v", test.err, test.stat, got)
		}
	}
	fsys.err = fs.ErrNotExist
	if got := data.Cause(write(lease)); !errors.Is(got, store.ErrTakenOver) {
		t.Errorf("after a take-over: %v", got)
	}
	fsys.err = nil
}

// lost is a file system whose directories cannot be read, nor an owner be found, after a driver has
// created its own directory.
type lost struct {
	silent
	made bool
}

func (l *lost) MkdirAll(name string) error {
	if l.made = strings.Contains(name, "_driver-"); l.made {
		l.err = errors.New("connection refused")
	}
	return l.Local.MkdirAll(name)
}

func (l *lost) ReadDir(name string) ([]fs.DirEntry, error) {
	if l.made {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return l.Local.ReadDir(name)
}

// TestCauseCreate checks that Create says so if it is not known whether another driver has taken over.
func TestCauseCreate(t *testing.T) {
	fsys := new(lost)
	if _, err := store.Create(fsys, t.TempDir(), spec, store.Fresh, artifact, nil); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fsys.err) {
		t.Errorf("got %v", err)
	}
}
