//go:build hadoop

package hadoop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoop tests the file system on a real cluster. The tests that wait for leases to expire,
// and those that run jobs, run in parallel at the end.
func TestHadoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	t.Cleanup(cancel)
	c := clustertest.Shared(ctx, t)
	t.Run("files", func(t *testing.T) { testFiles(t, c) })
	t.Run("blocks", func(t *testing.T) { testBlocks(t, c) })
	t.Run("lease of another", func(t *testing.T) { testLeaseOfAnother(t, c) })
	t.Run("connection", func(t *testing.T) { testConnection(t, c) })
	t.Run("permission", func(t *testing.T) { testPermission(t, c) })
	t.Run("umask", func(t *testing.T) { testUmask(t, c) })
	t.Run("other user", func(t *testing.T) {
		longtest.Share(t)
		testOtherUser(ctx, t, c)
	})
	t.Run("quota", func(t *testing.T) { testQuota(ctx, t, c) })
	for name, test := range map[string]func(*testing.T){
		"paused":  func(t *testing.T) { testPaused(ctx, t, c) },
		"readme":  func(t *testing.T) { testReadme(ctx, t, c, "hadoop.md", "## Job by job") },
		"recover": func(t *testing.T) { testRecover(t, c) },
	} {
		t.Run(name, func(t *testing.T) {
			longtest.Share(t)
			t.Parallel()
			test(t)
		})
	}
}

func dial(t *testing.T, c *minicluster.Cluster) *hadoop.FS {
	t.Helper()
	f, path, err := hadoop.Dial(c.DefaultFS() + "/some/path")
	if err != nil || path != "/some/path" {
		t.Fatalf("%q, %v", path, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// testFiles creates, replaces, lists, renames and deletes files, reads them at several
// offsets, and reads one that does not exist.
func testFiles(t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	must.OK(t, f.MkdirAll("/files/deep"))
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	write(t, f, "/files/deep/big", string(big))
	write(t, f, "/files/deep/empty", "")
	write(t, f, "/files/deep/small", "first")
	write(t, f, "/files/deep/small", "second")

	entries, err := f.ReadDir("/files/deep")
	must.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "big empty small" {
		t.Errorf("listed %q", got)
	}
	small, err := f.Open("/files/deep/small")
	must.OK(t, err)
	text, err := io.ReadAll(small)
	must.OK(t, err)
	must.OK(t, small.Close())
	if string(text) != "second" {
		t.Errorf("replaced file holds %q", text)
	}
	r, err := f.Open("/files/deep/big")
	must.OK(t, err)
	for _, at := range []int64{0, 5, 16 << 19, 100, 16<<20 - 3, 108} {
		buf := make([]byte, 3)
		_, err := r.ReadAt(buf, at)
		must.OK(t, err)
		if !bytes.Equal(buf, big[at:at+3]) {
			t.Errorf("at %d: %q", at, buf)
		}
	}
	if _, err := r.ReadAt(make([]byte, 8), 16<<20-3); !errors.Is(err, io.EOF) {
		t.Errorf("past the end: %v", err)
	}
	must.OK(t, r.Close())
	must.OK(t, f.Rename("/files/deep", "/files/moved"))
	if _, err := f.Stat("/files/moved/big"); err != nil {
		t.Error(err)
	}
	must.OK(t, f.RemoveAll("/files/moved"))
	must.OK(t, f.RemoveAll("/files/moved"))
	if _, err := f.Open("/files/moved/big"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// testBlocks reads a file of several HDFS blocks at, before and after the block boundaries, in
// any order.
func testBlocks(t *testing.T, c *minicluster.Cluster) {
	const block = 128 << 20 // the default block size of HDFS
	const size = 2*block + 12345
	f := dial(t, c)
	must.OK(t, f.MkdirAll("/blocks"))
	t.Cleanup(func() { f.RemoveAll("/blocks") })
	// at returns the byte at an offset: no two ranges of 251 MB are equal.
	at := func(i int64) byte { return byte(i%251 + i>>20) }
	w, err := f.Create("/blocks/big")
	must.OK(t, err)
	buf := make([]byte, 1<<20)
	for i := int64(0); i < size; {
		n := min(size-i, int64(len(buf)))
		for j := range n {
			buf[j] = at(i + j)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			t.Fatal(err)
		}
		i += n
	}
	must.OK(t, w.Close())
	r, err := f.Open("/blocks/big")
	must.OK(t, err)
	defer r.Close()
	if info, err := r.Stat(); err != nil || info.Size() != size {
		t.Fatalf("size %d, %v, want %d", info.Size(), err, size)
	}
	for _, place := range []int64{block - 100_000, 2*block - 5, block, block - 1, 2 * block, 7, size - 200_000} {
		b := make([]byte, min(200_000, size-place))
		if n, err := r.ReadAt(b, place); err != nil {
			t.Errorf("at %d: %d bytes, %v", place, n, err)
		}
		for i, got := range b {
			if got != at(place+int64(i)) {
				t.Errorf("at %d: wrong from byte %d on", place, i)
				break
			}
		}
	}
	place := int64(0)
	for {
		n, err := r.Read(buf)
		for i, got := range buf[:n] {
			if got != at(place+int64(i)) {
				t.Fatalf("read on: wrong at %d", place+int64(i))
			}
		}
		place += int64(n)
		if err == io.EOF {
			break
		}
		must.OK(t, err)
	}
	if place != size {
		t.Errorf("read on: %d bytes, want %d", place, size)
	}
}

// testRecover leaves two files whose last block no name node will learn of, as after a
// failover at the wrong moment. One is recovered as it was written, once its lease has ended.
// The other, to which more had been written, is refused.
func testRecover(t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	gone, err := hdfs.New(c.NameNode())
	must.OK(t, err)
	const text = "what data nodes hold"
	sizes := map[string]int64{"/recover-whole": int64(len(text)), "/recover-short": int64(len(text)) + 1}
	errs := make(map[string]chan error)
	for name, size := range sizes {
		w, err := gone.Create(name)
		must.OK(t, err)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		must.OK(t, w.Flush())
		done := make(chan error, 1)
		errs[name] = done
		go func() { done <- f.Recover(name, size) }()
	}
	gone.Close()
	if err := <-errs["/recover-whole"]; err != nil {
		t.Error(err)
	}
	if got, err := store.ReadFile(f, "/recover-whole"); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-errs["/recover-short"]; err == nil {
		t.Error("a file that lacks a byte passes as whole")
	} else {
		t.Log(err)
	}
}

func write(t *testing.T, f *hadoop.FS, name, text string) {
	t.Helper()
	w, err := f.Create(name)
	must.OK(t, err)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	must.OK(t, w.Close())
}

// testLeaseOfAnother creates a file that another client has open: a client that died while
// writing would block its successor until its lease is recovered.
func testLeaseOfAnother(t *testing.T, c *minicluster.Cluster) {
	dead, alive := dial(t, c), dial(t, c)
	const name = "/lease-of-another"
	w, err := dead.Create(name)
	must.OK(t, err)
	t.Cleanup(func() { w.Close() })
	if _, err := io.WriteString(w, "half"); err != nil {
		t.Fatal(err)
	}
	write(t, alive, name, "whole")
	if got, err := store.ReadFile(alive, name); err != nil || string(got) != "whole" {
		t.Errorf("%q, %v", got, err)
	}
}

// testConnection breaks the idle connections, as a restart of the name node does, and checks
// that files can still be read.
func testConnection(t *testing.T, c *minicluster.Cluster) {
	between, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer between.Close()
	connections := make(chan net.Conn, 100)
	go func() {
		for {
			near, err := between.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", c.NameNode())
			if err != nil {
				near.Close()
				return
			}
			go io.Copy(near, far)
			go io.Copy(far, near)
			connections <- near
			connections <- far
		}
	}()
	f, _, err := hadoop.Dial("hdfs://" + between.Addr().String() + "/some/path")
	must.OK(t, err)
	defer f.Close()
	for _, wait := range []time.Duration{0, 2500 * time.Millisecond} { // at once; after failed renewals of leases
		if _, err := f.Stat("/"); err != nil {
			t.Fatal(err)
		}
		for len(connections) > 0 {
			(<-connections).Close()
		}
		time.Sleep(wait)
		if _, err := f.Stat("/"); err != nil {
			t.Errorf("%v after the connections broke: %v", wait, err)
		}
	}
}

// testPermission checks that a user without permissions gets an error of one line.
func testPermission(t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	must.OK(t, f.MkdirAll("/permission"))
	t.Cleanup(func() { f.RemoveAll("/permission") })
	write(t, f, "/permission/file", "x")
	run(t, c, "fs", "-chmod", "700", "/permission")
	t.Setenv("HADOOP_USER_NAME", "nobody")
	other := dial(t, c)
	w, create := other.Create("/permission/new")
	if w != nil {
		t.Errorf("create: a file %v beside the error", w)
	}
	_, open := other.Open("/permission/file")
	_, stat := other.Stat("/permission/file")
	_, list := other.ReadDir("/permission")
	_, lock := other.Lock("/permission/_lock")
	for what, err := range map[string]error{
		"create": create, "open": open, "stat": stat, "list": list, "lock": lock,
		"make":   other.MkdirAll("/permission/dir"),
		"rename": other.Rename("/permission/file", "/permission/other"),
		"remove": other.RemoveAll("/permission/file"),
	} {
		if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := f.Stat("/permission/file"); err != nil {
		t.Error(err)
	}
}

// testUmask checks the modes of new directories and files against those that Hadoop's own command makes.
func testUmask(t *testing.T, c *minicluster.Cluster) {
	for _, mask := range []string{"", "007"} {
		conf, args := c.ConfDir(), []string{"fs"}
		if mask != "" {
			conf, args = withProperty(t, c, "fs.permissions.umask-mode", mask), append(args, "-D", "fs.permissions.umask-mode="+mask)
		}
		t.Setenv("HADOOP_CONF_DIR", conf)
		f := dial(t, c)
		t.Cleanup(func() { f.RemoveAll("/umask") })
		must.OK(t, f.MkdirAll("/umask/ours/deep"))
		write(t, f, "/umask/ours/deep/file", "x")
		lock, err := f.Lock("/umask/ours/deep/lock")
		must.OK(t, err)
		lock.Close()
		run(t, c, append(args, "-mkdir", "-p", "/umask/theirs/deep")...)
		run(t, c, append(args, "-touchz", "/umask/theirs/deep/file", "/umask/theirs/deep/lock")...)
		for _, name := range []string{"", "/deep", "/deep/file", "/deep/lock"} {
			ours, err := f.Stat("/umask/ours" + name)
			must.OK(t, err)
			theirs, err := f.Stat("/umask/theirs" + name)
			must.OK(t, err)
			if ours.Mode() != theirs.Mode() {
				t.Errorf("umask %q, %s: %v, want %v", mask, name, ours.Mode(), theirs.Mode())
			}
		}
		must.OK(t, f.RemoveAll("/umask"))
	}
}

// testOtherUser runs a job, and checks that another user can neither replace the programs of jobs nor move
// or add files.
func testOtherUser(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	const dir = "/otheruser"
	f := dial(t, c)
	f.RemoveAll(dir)
	t.Cleanup(func() { f.RemoveAll(dir) })
	solve := func(flags string) (string, error) {
		return driverOn(ctx, c, "solve connectn --width 3 --height 2 --connect 2 --runner hadoop --cluster-above 0"+
			" --streaming-jar "+c.StreamingJar()+" --data "+c.DefaultFS()+dir+" "+flags)
	}
	if out, err := solve("--until-tier 1"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	programs, err := f.ReadDir(dir + "/_bin")
	if err != nil || len(programs) == 0 {
		t.Fatalf("%v, %v", programs, err)
	}
	program := dir + "/_bin/" + programs[0].Name()
	planted := filepath.Join(t.TempDir(), "planted")
	must.OK(t, os.WriteFile(planted, []byte("#!/bin/sh\n"), 0o755))
	other := func(args ...string) error {
		cmd := c.Command(ctx, append([]string{"fs"}, args...)...)
		cmd.Env = append(cmd.Env, "HADOOP_USER_NAME=mallory")
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "Permission denied") {
			t.Errorf("%q: %v: %s", args, err, out)
		}
		return err
	}
	before, err := store.ReadFile(f, program)
	must.OK(t, err)
	t.Setenv("HADOOP_USER_NAME", "mallory")
	mallory := dial(t, c)
	t.Setenv("HADOOP_USER_NAME", "")
	for what, err := range map[string]error{
		"move the programs":  mallory.Rename(dir+"/_bin", dir+"/_old"),
		"move a program":     mallory.Rename(program, dir+"/_bin/old"),
		"delete a program":   mallory.RemoveAll(program),
		"replace a program":  store.WriteFile(mallory, program, []byte("x")),
		"add a program":      store.WriteFile(mallory, dir+"/_bin/new", nil),
		"move a directory":   mallory.Rename(dir+"/data_first1", dir+"/old"),
		"create a directory": mallory.MkdirAll(dir + "/table"),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("another user: %s: %v, want %v", what, err, fs.ErrPermission)
		}
	}
	if other("-put", planted, dir+"/data_first1/new") == nil {
		t.Error("another user could put a file into a directory")
	}
	if after, err := store.ReadFile(f, program); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the program has changed: %v", err)
	}
}

// driver returns a command that runs the driver on a cluster.
func driver(ctx context.Context, c *minicluster.Cluster, args string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join("..", "bin", "driver"), strings.Fields(args)...)
	cmd.Env = c.Env()
	return cmd
}

// driverOn runs the driver on a cluster, and returns its output.
func driverOn(ctx context.Context, c *minicluster.Cluster, args string) (string, error) {
	out, err := driver(ctx, c, args).CombinedOutput()
	return string(out), err
}

// run runs Hadoop's own command.
func run(t *testing.T, c *minicluster.Cluster, args ...string) {
	t.Helper()
	if out, err := c.Command(t.Context(), args...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

// testQuota checks that exceeding a directory's quota is an error of one line, without delay,
// and that what was written does not count as a file.
func testQuota(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	data, err := store.Create(f, "/quota", "a game", store.Fresh, solve.IsRunArtifact, nil)
	must.OK(t, err)
	t.Cleanup(func() {
		data.Close()
		f.RemoveAll("/quota")
	})
	attempt, err := data.Attempt("data_first1")
	must.OK(t, err)
	run(t, c, "dfsadmin", "-setSpaceQuota", "1m", "/quota")
	begun := time.Now()
	w, err := f.Create(attempt + "/part-00000.pack")
	if err == nil {
		_, err = w.Write(make([]byte, 1<<20))
		w.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "quota") || strings.Contains(err.Error(), "\n") {
		t.Errorf("expected one line about a quota, found %v", err)
	}
	if took := time.Since(begun); took > 10*time.Minute {
		t.Errorf("it took %v", took)
	}
	if _, err := store.ReadSeal(data.FS, data.Dir("data_first1")); !errors.Is(err, store.ErrIncomplete) {
		t.Errorf("got %v", err)
	}
}
