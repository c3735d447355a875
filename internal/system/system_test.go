package system

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// role is the environment variable that makes this program one of TestGroup.
const role = "SYSTEM_TEST"

// TestMain runs the tests, or, as a program of TestGroup, starts another one and does not end by itself.
func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "parent":
		child := exec.Command(os.Args[0], "child")
		child.Env, child.Stdout = append(os.Environ(), role+"=child"), os.Stdout
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
		select {}
	case "child":
		fmt.Println(strings.Join(os.Args[1:], " "))
		select {}
	}
	os.Exit(m.Run())
}

// TestGroup kills a command of the shell that has started a program, which has started another one: their common
// stdout ends when all of them have ended.
func TestGroup(t *testing.T) {
	t.Setenv(role, "parent")
	cmd := Shell(`"`+must.Get(os.Executable())(t)+`"`, "a b")
	out := must.Get(cmd.StdoutPipe())(t)
	group, r := must.Get(Start(t.Context(), cmd))(t), bufio.NewReader(out)
	if line, err := r.ReadString('\n'); strings.TrimSpace(line) != "child" {
		t.Errorf("%q, %v", line, err)
	}
	must.OK(t, group.Kill())
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	cmd.Wait()
	if CPU() < 0 || MostFiles() < 1 {
		t.Error(CPU(), MostFiles())
	}
	if free, err := FreeBytes(t.TempDir()); err != nil || free <= 0 {
		t.Error(free, err)
	}
}

// TestLock checks that an exclusive lock excludes all others, and a shared one the exclusive one.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File { return must.Get(os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666))(t) }
	a, b := open(), open()
	defer b.Close()
	must.OK(t, Lock(a, false))
	for _, shared := range []bool{false, true} {
		if err := Lock(b, shared); !errors.Is(err, ErrLocked) {
			t.Errorf("shared %t: %v", shared, err)
		}
	}
	_, err := a.WriteString("content")
	must.OK(t, err)
	if text, err := io.ReadAll(b); err != nil || string(text) != "content" {
		t.Errorf("%q, %v", text, err)
	}
	must.OK(t, a.Close())
	must.OK(t, Lock(b, true))
	c := open()
	defer c.Close()
	must.OK(t, Lock(c, true))
}
