package hadoop

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestModes creates files and directories with the umask.
func TestModes(t *testing.T) {
	h, f := newFakeHDFS(t)
	for _, mask := range []fs.FileMode{0o022, 0o007} {
		f.umask = mask
		must.OK(t, errors.Join(f.MkdirAll("/a/b"), store.WriteFile(f, "/a/b/file", nil)))
		lock, err := f.Lock("/a/b/lock")
		must.OK(t, err)
		lock.Close()
		for name, want := range map[string]int{"/a": 0o777, "/a/b": 0o777, "/a/b/file": 0o666, "/a/b/lock": 0o666} {
			if got := h.files[name].mode; got != want&^int(mask) {
				t.Errorf("umask %o: mode of %s: %o, want %o", mask, name, got, want&^int(mask))
			}
		}
		must.OK(t, f.RemoveAll("/a"))
	}
}

// TestRename renames a file. The answer to the first call is lost, before or after the name node has
// renamed it; or there is no file.
func TestRename(t *testing.T) {
	for _, test := range []struct {
		what          string
		there, before bool // there is a file; the call is lost before it is executed
		lost          bool
		want          error
	}{
		{"answered", true, false, false, nil},
		{"lost before", true, true, true, nil},
		{"lost after", true, false, true, nil},
		{"none", false, false, false, fs.ErrNotExist},
		{"none, lost", false, true, true, fs.ErrNotExist},
	} {
		h, f := newFakeHDFS(t)
		if test.there {
			h.files["/from"] = &fakeFile{owner: "me"}
		}
		lost := !test.lost
		h.before = func(method string, _ message) (exception, bool) {
			if method != "rename2" || lost {
				return "", false
			}
			lost = true
			if !test.before {
				h.files["/to"] = h.files["/from"]
				delete(h.files, "/from")
			}
			return cut, true
		}
		if err := f.Rename("/from", "/to"); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.what, err, test.want)
		}
		if got := h.files["/to"] != nil && h.files["/from"] == nil; got != test.there {
			t.Errorf("%s: renamed: %v", test.what, got)
		}
	}
	// Another file has the new name: that is not the result of a first call.
	h, f := newFakeHDFS(t)
	h.files["/to"] = &fakeFile{owner: "me"}
	if err := f.Rename("/from", "/to"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file, and one with the new name: %v", err)
	}
}

// TestLock takes a lock that is free, or that another client has or had. A driver that loses it must not
// delete it.
func TestLock(t *testing.T) {
	h, f := newFakeHDFS(t)
	lock, err := f.Lock("/lock")
	must.OK(t, err)
	if _, err := f.Lock("/lock"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	h.before = func(method string, _ message) (exception, bool) { return inRecovery, method == "append" }
	if _, err := f.Lock("/lock"); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a lock whose lease is recovered: %v", err)
	}
	// Another client has taken the lock, so it cannot be closed.
	h.before = func(method string, _ message) (exception, bool) {
		return "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", method == "complete"
	}
	if err := lock.Close(); err == nil {
		t.Error("a lock that another client has taken was closed")
	}
	if h.files["/lock"] == nil {
		t.Error("the lock of another client was deleted")
	}
	h.before = nil
	h.files["/lock"].writer = ""
	if lock, err = f.Lock("/lock"); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil || h.files["/lock"].writer != "" {
		t.Errorf("%v, the lock belongs to %q", err, h.files["/lock"].writer)
	}
}

// TestCreate replaces files, also one that another client has open for writing, and writes nothing.
func TestCreate(t *testing.T) {
	h, f := newFakeHDFS(t)
	h.files["/old"] = &fakeFile{owner: "other"}
	h.files["/open"] = &fakeFile{owner: "other", writer: "other"}
	for _, name := range []string{"/new", "/old", "/open"} {
		w, err := f.Create(name)
		must.OK(t, err)
		if n, err := w.Write(nil); n != 0 || err != nil { // a block would need a data node
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if err := w.Close(); err != nil || h.files[name].owner != "me" {
			t.Errorf("%s: %v, %+v", name, err, h.files[name])
		}
	}
}

// TestLostComplete loses the answer to the call that closes a file. The file is recovered, and stays.
func TestLostComplete(t *testing.T) {
	h, f := newFakeHDFS(t)
	recovered := false
	h.before = func(method string, _ message) (exception, bool) {
		recovered = recovered || method == "truncate"
		return cut, method == "complete"
	}
	if err := store.WriteFile(f, "/file", nil); err != nil || !recovered || h.files["/file"] == nil {
		t.Errorf("%v, recovered: %v, there is %v", err, recovered, h.files)
	}
}

// TestLostBytes loses the answer to the call that closes a file, and the data nodes of its last block, so that its lease is
// not recovered until an interrupt. The file must not stay.
func TestLostBytes(t *testing.T) {
	h, f := newFakeHDFS(t)
	ctx, interrupt := context.WithCancel(t.Context())
	f.EndWith(ctx)
	h.before = func(method string, _ message) (exception, bool) {
		switch method {
		case "complete":
			return cut, true
		case "truncate":
			interrupt()
			return inRecovery, true
		}
		return "", false
	}
	w := must.Get(f.Create("/file"))(t).(*writer)
	w.size = 1
	if err := w.Close(); !errors.Is(err, errLastBytes) || h.files["/file"] != nil {
		t.Errorf("%v, there is %v", err, h.files)
	}
}

// TestIdleClients checks how many idle connections are kept.
func TestIdleClients(t *testing.T) {
	_, f := newFakeHDFS(t)
	for range maxIdleClients + 2 {
		client, err := f.newClient()
		if err == nil {
			err = f.give(client)
		}
		must.OK(t, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) != maxIdleClients {
		t.Errorf("%d idle clients, want %d", len(f.idle), maxIdleClients)
	}
}

// TestTaskUmask checks that a task has the umask of its job.
func TestTaskUmask(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", t.TempDir())
	t.Setenv("fs_permissions_umask_mode", "077")
	t.Setenv("mapreduce_job_user_name", "me")
	f, err := DialTask("hdfs://fake", newFakeNode(t, nil).Addr().String())
	must.OK(t, err)
	defer f.Close()
	if f.umask != 0o077 {
		t.Errorf("umask %o", f.umask)
	}
}

// TestFailedWrite writes to a file for which there is no data node. The file must not stay.
func TestFailedWrite(t *testing.T) {
	h, f := newFakeHDFS(t)
	h.before = func(method string, _ message) (exception, bool) {
		return "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException", method == "addBlock"
	}
	w, err := f.Create("/file")
	must.OK(t, err)
	if _, err := io.WriteString(w, "x"); err == nil {
		t.Error("a write without a data node succeeded")
	}
	w.Close()
	if h.files["/file"] != nil {
		t.Error("an incomplete file stays")
	}
}

// TestPutProgram writes a program, and refuses others in its place.
func TestPutProgram(t *testing.T) {
	h, f := newFakeHDFS(t)
	f.umask = 0o002
	const program = "/data/_bin/mapper"
	put := func(content string) error { return f.PutProgram(program, []byte(content)) }
	for range 2 {
		must.OK(t, put(""))
	}
	if len(h.files) != 4 { // with the root
		t.Errorf("there is %v", h.files)
	}
	if mode, dir := h.files[program].mode, h.files["/data/_bin"].mode; mode != 0o644 || dir != 0o755 {
		t.Errorf("modes %o and %o", mode, dir)
	}
	for _, test := range []struct {
		name    string
		change  fakeFile
		content string
		want    string
	}{
		{program, fakeFile{mode: 0o644, owner: "me"}, "other", "is not the program"},
		{program, fakeFile{mode: 0o664, owner: "me"}, "", "is not the program"},
		{program, fakeFile{mode: 0o646, owner: "me"}, "", "is not the program"},
		{program, fakeFile{mode: 0o644, owner: "mallory"}, "", "belongs to mallory, not to me"},
		{"/data/_bin", fakeFile{dir: true, mode: 0o755, owner: "mallory"}, "", "belongs to mallory, not to me"},
		{"/data", fakeFile{dir: true, mode: 0o755, owner: "mallory"}, "", "belongs to mallory, not to me"},
	} {
		before := h.files[test.name]
		h.files[test.name] = &test.change
		err := put(test.content)
		if err == nil || !strings.HasPrefix(err.Error(), test.name+" "+test.want) || !strings.Contains(err.Error(), "hdfs://fake"+test.name) {
			t.Errorf("%+v: %v, want %s", test, err, test.want)
		}
		h.files[test.name] = before
	}
}

// TestCheckClosed checks directories that are open to others, more than the umask allows.
func TestCheckClosed(t *testing.T) {
	h, f := newFakeHDFS(t)
	for _, test := range []struct {
		dir, file int
		umask     fs.FileMode
		open      bool
	}{
		{0o755, 0o644, 0o022, false},
		{0o777, 0o644, 0o022, true},
		{0o775, 0o644, 0o022, true},
		{0o755, 0o646, 0o022, true},
		{0o775, 0o664, 0o002, false},
		{0o777, 0o664, 0o002, true},
	} {
		f.umask = test.umask
		h.files["/data"] = &fakeFile{dir: true, mode: test.dir}
		h.files["/data/file"] = &fakeFile{mode: test.file}
		err := f.CheckClosed("/data")
		if (err != nil) != test.open || test.open && !strings.HasSuffix(err.Error(), "hadoop fs -chmod -R go-w hdfs://fake/data") {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if err := f.CheckClosed("/none"); err != nil {
		t.Error(err)
	}
}
