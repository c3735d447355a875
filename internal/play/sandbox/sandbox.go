// Package sandbox runs programs that are not trusted with limits, which hold for all processes
// of a program together, and without the rights of root.
//
// On Linux a program runs in namespaces of its own, below a process of this package: our own
// executable, started again, which is the namespace's process 1. When it ends, the kernel kills
// all others, so that a program leaves no process behind, whatever it does. It ends when the
// program ends, when a limit is exceeded, and when the process that started it has ended.
//
//	play
//	└ treereduce-sandbox   process 1 of new user, process and mount namespaces
//	  └ sh -c COMMAND
//	    └ …
//
// Process 1 watches memory and CPU time every 20 ms in its own /proc, where it sees the
// program's processes only. Limits of the kernel do not suffice: rlimits hold for each process
// alone, and control groups need a delegation that a login session usually lacks. Bubblewrap is
// made of the same namespaces, but does not limit memory and time.
package sandbox

import (
	"cmp"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Limits are what a program may use. The zero value does not limit anything.
type Limits struct {
	Memory    int64         // bytes of all its processes together, resident; 0: no limit
	CPU       time.Duration // CPU time of all its processes together since Control.Reset; 0: no limit
	NoNetwork bool          // it has no network, not even this machine's
	// ReadOnly makes all files read-only, and hides all but those of the system and the
	// directories of the program: the working directory, those that the command names, and
	// those of PATH. /tmp is empty, small, and the program's own. A program of root runs as
	// nobody.
	ReadOnly bool
}

// MaxProcesses is the number of processes that a program with limits may have.
const MaxProcesses = 200

// String lists the flags of the limits: "--memory-limit, --no-network".
func (l Limits) String() string {
	var flags []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--memory-limit", l.Memory > 0}, {"--cpu-limit", l.CPU > 0}, {"--no-network", l.NoNetwork}, {"--read-only", l.ReadOnly}} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	return strings.Join(flags, ", ")
}

// Check returns an error if this machine cannot enforce the limits.
func Check(l Limits) error {
	if l == (Limits{}) {
		return nil
	}
	cmd, control, err := Command("true", l)
	if err != nil {
		return err
	}
	defer control.Close()
	if err := cmd.Run(); err != nil {
		return errors.New(cmp.Or(control.Reason(), "user namespaces: "+err.Error()))
	}
	return nil
}

// shell returns a command for the shell in a process group of its own: a Ctrl-C does not reach it,
// and a signal to the group reaches its children.
func shell(command string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}
