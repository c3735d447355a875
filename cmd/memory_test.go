//go:build linux

package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
)

// peak solves a game with some flags on a number of cores, and returns the peak memory of the
// driver and its children in bytes. For the driver alone, this is the peak that the system
// reports while the process lives. (The value at its end includes the time before exec, when
// the process shares the memory of its parent, this test.) With children, it is the largest sum
// that was sampled, in which shared memory counts once.
func peak(t *testing.T, dir string, cores int, game, flags string) int64 {
	t.Helper()
	return peakOf(t, cores, strings.Contains(flags, "pipe"), "driver", strings.Fields("solve "+game+" --data "+dir+" "+flags)...)
}

// peakOf is peak for any command, with or without its children.
func peakOf(t *testing.T, cores int, children bool, name string, args ...string) int64 {
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

const cross43 = "quickcross --width 4 --height 3 --connect 3"

// checkMemory solves games on few and on many cores. It checks that memory usage is at most 1.2
// times --memory, and that the result is the same for every --memory.
func checkMemory(t *testing.T, games []string, cores []int, memory int64, flags string) {
	for _, game := range games {
		want := filepath.Join(t.TempDir(), "want") // the directory of the first run
		for i, n := range append([]int{2}, cores...) {
			name := fmt.Sprintf("%s %s on %d cores", game, flags, n)
			asked := memory
			if i == 0 && len(cores) > 1 {
				asked = 4 << 10 // the run to compare with
			}
			dir := want
			if i > 0 {
				dir = filepath.Join(t.TempDir(), "d")
			}
			got := peak(t, dir, n, game, fmt.Sprintf("--memory %dM %s", asked, flags))
			t.Logf("%s: %d MiB of %d", name, got>>20, asked)
			if got > asked<<20/5*6 {
				t.Errorf("%s: %d MiB in memory, want at most 1.2 times %d", name, got>>20, asked)
			}
			if i == 0 {
				continue
			}
			solved.SameText(t, store.Local{}, dir, want)
			must.OK(t, os.RemoveAll(dir))
		}
		_, err := os.Stat(filepath.Join(want, "final", store.Success))
		if final := !strings.Contains(flags, "--final no"); final != (err == nil) {
			t.Errorf("%s %s: final: %v, want it: %t", game, flags, err, final)
		}
		must.OK(t, os.RemoveAll(want))
	}
}

// TestMemory solves 5×4 in 72M, of which tables take 54M, and games by layers in 64M.
func TestMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	five := "connectn --width 5 --height 4 --connect 4"
	checkMemory(t, []string{five}, []int{16}, 72, "--final yes")
	checkMemory(t, []string{cross43, "mancala --pits 3 --stones 3"}, []int{16}, 64, "--final yes")
	checkMemory(t, []string{"connectn --width 3 --height 3 --connect 3"}, []int{64}, 64, "--runner pipe")
}

// TestPlayMemory checks that searches that fill tables of different sizes need little more
// memory.
func TestPlayMemory(t *testing.T) {
	const program = 40 // MiB of everything except the table
	for _, flags := range []string{
		"find-winner connectn --width 7 --height 6 --memory 64M --time 200ms --start",
		"find-winner connectn --width 7 --height 6 --memory 200M --time 200ms --start",
		"find-winner mnk --width 4 --height 4 --connect 4 --memory 64M --time 200ms --start",
		"find-winner connectn --width 4 --height 4 --memory 16M --by memo --chains 100000 --start",
	} {
		t.Run(flags, func(t *testing.T) {
			_, rest, _ := strings.Cut(flags, "--memory ")
			var memory int64
			must.Get(fmt.Sscanf(rest, "%dM", &memory))(t)
			args := strings.Fields(flags)
			if got := peakOf(t, 2, false, "play", args...); got > (memory+program)<<20 {
				t.Errorf("play %s: %d MiB in memory, want at most %d more than %d", flags, got>>20, program, memory)
			} else {
				t.Logf("play %s: %d MiB", flags, got>>20)
			}
		})
	}
}

// TestMemoryLimit runs the garbage collector only because of the memory limit.
func TestMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Setenv("GOGC", "off")
	checkMemory(t, []string{"connectn --width 5 --height 4 --connect 4"}, []int{2}, 72, "--final yes")
}

// TestLongMemory solves 5×5 in 256M, 8×3 in 80M, in which the mirror images of its tiers do not fit,
// and Quick Cross of 4×4 in 64M.
func TestLongMemory(t *testing.T) {
	five := "connectn --width 5 --height 4 --connect 4"
	for _, test := range []struct {
		boards []string
		cores  []int
		memory int64
		flags  string
	}{
		{[]string{five}, []int{2, 8, 16, 64}, 72, "--final yes"},
		{[]string{cross43}, []int{2, 8, 16, 64}, 64, "--final yes"},
		{[]string{five}, []int{16}, 72, "--final yes --reducers 7"},
		{[]string{five}, []int{16}, 96, "--final yes --keep all"},
		{[]string{"connectn --width 5 --height 5 --connect 4"}, []int{2, 8, 64}, 256, "--final yes"},
		{[]string{"connectn --width 8 --height 3 --connect 3"}, []int{16}, 80, "--final yes"},
		{[]string{"quickcross --width 4 --height 4 --connect 3"}, []int{2, 8, 16, 64}, 64, "--final no"},
		{[]string{"mnk --width 4 --height 4 --connect 4"}, []int{2}, 64, "--final no --reducers 3"},
		{[]string{"mancala --pits 4 --stones 3"}, []int{64}, 64, "--final no"},
		{[]string{"connectn --width 4 --height 5 --connect 3", cross43, "mnk --width 4 --height 3 --connect 3"}, []int{2, 64}, 72, "--runner pipe"},
	} {
		t.Run(test.boards[0]+" "+test.flags, func(t *testing.T) {
			longtest.Skip(t)
			checkMemory(t, test.boards, test.cores, test.memory, test.flags)
		})
	}
}
