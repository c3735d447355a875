//go:build hadoop

package hadoop_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/internal/engine/solve"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// A cutter is a proxy for a name node. It forwards calls and answers, except for one call: the
// name node executes it, but the cutter closes the connection instead of sending the answer.
type cutter struct {
	net.Listener
	nameNode string

	mu   sync.Mutex
	left int // number of calls until the cut; 0: no cut
}

// cutAfter cuts at the n-th call from now on.
func (c *cutter) cutAfter(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = n
}

// done reports whether the connection has been cut.
func (c *cutter) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left == 0
}

// cuts counts a call, and reports whether its answer is to be lost.
func (c *cutter) cuts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return false
	}
	c.left--
	return c.left == 0
}

func (c *cutter) serve() {
	for {
		near, err := c.Accept()
		if err != nil {
			return
		}
		go func() {
			defer near.Close()
			far, err := net.Dial("tcp", c.nameNode)
			if err != nil {
				return
			}
			defer far.Close()
			c.pass(near, far)
		}()
	}
}

// pass forwards a connection: a header, the packet with the user, then calls and answers in
// turn, each a packet with its length before it.
func (c *cutter) pass(near, far net.Conn) {
	packet := func(to io.Writer, from io.Reader) error {
		var length uint32
		if err := binary.Read(from, binary.BigEndian, &length); err != nil {
			return err
		}
		var all bytes.Buffer
		binary.Write(&all, binary.BigEndian, length)
		if _, err := io.CopyN(&all, from, int64(length)); err != nil {
			return err
		}
		_, err := to.Write(all.Bytes())
		return err
	}
	if _, err := io.CopyN(far, near, 7); err != nil {
		return
	}
	if packet(far, near) != nil {
		return
	}
	for packet(far, near) == nil {
		if c.cuts() {
			packet(io.Discard, far)
			return
		}
		if packet(near, far) != nil {
			return
		}
	}
}

// testLostAnswers loses the answer to each call of a commit and of a deletion in turn. Both
// must succeed and leave nothing behind.
func testLostAnswers(t *testing.T, c *minicluster.Cluster) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer listener.Close()
	between := &cutter{Listener: listener, nameNode: c.NameNode()}
	go between.serve()
	f, _, err := hadoop.Dial("hdfs://" + listener.Addr().String() + "/lost")
	must.OK(t, err)
	defer f.Close()
	data, err := store.Create(f, "/lost", "a game", store.Fresh, solve.IsRunArtifact, nil)
	must.OK(t, err)
	defer data.Close()
	part := []store.SealedFile{{Name: "part-00000", Length: 4}}
	attempt := func() string {
		t.Helper()
		dir, err := data.Attempt("data_first1")
		must.OK(t, err)
		write(t, f, dir+"/part-00000", "good")
		return dir
	}
	list := func(dir string) string {
		t.Helper()
		entries, err := f.ReadDir(dir)
		must.OK(t, err)
		var names []string
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), "_driver-") {
				below, err := f.ReadDir(dir + "/" + e.Name())
				must.OK(t, err)
				for _, e := range below {
					names = append(names, e.Name())
				}
			} else if e.Name() != "_lock" && e.Name() != store.ManifestFile {
				names = append(names, e.Name())
			}
		}
		return strings.Join(names, " ")
	}
	committed, failed := 0, 0
	for lost := 1; ; lost++ {
		dir := attempt()
		between.cutAfter(lost)
		err := data.Commit(dir, "data_first1", part)
		cut := between.done()
		between.cutAfter(0)
		if err != nil { // the seal could not be written
			failed++
			if _, there := f.Stat(dir); there != nil {
				t.Errorf("answer %d is lost: %v, but the attempt is gone", lost, err)
			}
			err = data.Commit(dir, "data_first1", part)
		}
		if err != nil {
			t.Errorf("answer %d is lost: commit: %v", lost, err)
		}
		if _, _, err := store.OpenDir(f, "/lost/data_first1", "a game"); err != nil || list("/lost") != "data_first1" {
			t.Errorf("answer %d is lost: commit: %v; there is %s", lost, err, list("/lost"))
		}
		if committed++; !cut {
			break
		}
	}
	if committed < 10 || failed > 1 {
		t.Errorf("%d calls in a commit, %d of them made it fail", committed, failed)
	}
	removed := 0
	for lost := 1; ; lost++ {
		must.OK(t, data.Commit(attempt(), "data_first1", part))
		between.cutAfter(lost)
		err := data.Remove("data_first1")
		cut := between.done()
		between.cutAfter(0)
		if err != nil || list("/lost") != "" {
			t.Errorf("answer %d is lost: remove: %v; there is %s", lost, err, list("/lost"))
		}
		if removed++; !cut {
			break
		}
	}
	if removed < 5 {
		t.Errorf("%d calls in a removal", removed)
	}
}

// testPaused stops a driver process at work until its lease has ended and a second driver has
// taken over and finished, and then continues it. It must exit without changing anything.
func testPaused(ctx context.Context, t *testing.T, c *minicluster.Cluster) {
	f := dial(t, c)
	const board = "connectn --width 5 --height 4 --connect 4 --runner hadoop --data "
	first := driver(ctx, c, "solve "+board+c.DefaultFS()+"/paused")
	var said bytes.Buffer
	first.Stdout, first.Stderr = &said, &said
	must.OK(t, first.Start())
	defer first.Process.Kill()
	for {
		if _, err := f.Stat("/paused/data_second18"); err == nil {
			break
		}
		if ctx.Err() != nil || first.ProcessState != nil {
			t.Fatalf("%v: %s", ctx.Err(), said.String())
		}
		time.Sleep(time.Millisecond)
	}
	must.OK(t, first.Process.Signal(syscall.SIGSTOP))
	if _, err := f.Stat("/paused/table/" + store.Success); err == nil {
		t.Fatal("it was done before it was paused")
	}
	begun := time.Now()
	for {
		out, err := driverOn(ctx, c, "solve "+board+c.DefaultFS()+"/paused --resume")
		if err == nil {
			break
		}
		if !strings.Contains(out, store.ErrLocked.Error()) || time.Since(begun) > 10*time.Minute {
			t.Fatalf("%v: %s", err, out)
		}
		time.Sleep(time.Second)
	}
	list := func() (names string) {
		for _, dir := range []string{"/paused", "/paused/table", "/paused/final"} {
			entries, err := f.ReadDir(dir)
			must.OK(t, err)
			for _, e := range entries {
				info, err := e.Info()
				must.OK(t, err)
				switch {
				case strings.HasPrefix(e.Name(), "_attempt-"):
					continue // incomplete output of the first driver, which does not count
				case e.Name() == "table" || e.Name() == "final":
					continue // such output changes the time of its directory; its files are listed
				}
				names += e.Name() + " " + info.ModTime().String() + "\n"
			}
		}
		return names
	}
	before := list()
	must.OK(t, first.Process.Signal(syscall.SIGCONT))
	err := first.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said.String(), store.ErrTakenOver.Error()) {
		t.Errorf("%v: %s", err, said.String())
	}
	if after := list(); after != before {
		t.Errorf("there was\n%s\nand is\n%s", before, after)
	}
	if out, err := driverOn(ctx, c, "verify --data "+c.DefaultFS()+"/paused"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
