package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// Peak runs a command on a number of cores, and returns the peak memory of the process in bytes. This is the peak that the
// system reports while the process lives. (The value at its end includes the time before exec, when the process shares the
// memory of its parent, the test.) With children, it is the largest sum that was sampled, in which shared memory counts
// once.
func Peak(t *testing.T, cores int, children bool, name string, args ...string) int64 {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	must.OK(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var most int64
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &out)
			}
			return most
		case <-time.After(5 * time.Millisecond):
			most = max(most, kilobytes(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), "VmHWM"))
			if children {
				most = max(most, resident(cmd.Process.Pid))
			}
		}
	}
}

// kilobytes reads a line such as "VmHWM: 1234 kB" and returns bytes; 0 if the process has
// ended.
func kilobytes(file, name string) int64 {
	text, _ := os.ReadFile(file)
	_, rest, ok := strings.Cut(string(text), "\n"+name+":")
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return n * 1024
}

// resident returns the current memory of a process and its descendants.
func resident(pid int) int64 {
	bytes := kilobytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range threads {
		children, _ := os.ReadFile(name)
		for _, child := range strings.Fields(string(children)) {
			// Between fork and exec, a child shares the memory of its parent.
			if n, err := strconv.Atoi(child); err == nil && program(n) != program(pid) {
				bytes += resident(n)
			}
		}
	}
	return bytes
}

// program returns the file that a process runs.
func program(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return name
}
