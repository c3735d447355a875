package system

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// starts returns a channel of commands to start. One thread starts all of them, and lives as long as this process: the
// kernel sends Pdeathsig, as Bubblewrap's --die-with-parent, when the thread ends that has started a child.
var starts = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range c {
			start()
		}
	}()
	return c
})

// guarded starts a command whose group ends when this process does, or when the result is closed. Pdeathsig kills only
// the first process. A pipe kills the others: at the end of its writer, which is this process alone, the kernel sends
// F_SETSIG to F_SETOWN, the group, while a process of it has the reading end.
func guarded(cmd *exec.Cmd) (io.Closer, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.ExtraFiles, cmd.SysProcAttr.Pdeathsig = append(cmd.ExtraFiles, r), syscall.SIGKILL
	started := make(chan error)
	starts() <- func() {
		err := cmd.Start()
		if err == nil { // what the program starts before this is not signalled; an error means that the group has ended
			for _, set := range [][2]int{{unix.F_SETSIG, int(unix.SIGKILL)}, {unix.F_SETOWN, -cmd.Process.Pid}, {unix.F_SETFL, unix.O_ASYNC}} {
				unix.FcntlInt(r.Fd(), set[0], set[1])
			}
		}
		started <- err
	}
	if err := <-started; err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}
