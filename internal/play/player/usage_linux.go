package player

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// CanMeter reports whether this system shows the times of a program while it runs.
const CanMeter = true

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on all architectures.
const tick = time.Second / 100

// A tree is the processes of a program: its first process, all descendants, and all processes of
// its group. A process that has left the group and lost its parent before it was seen is not
// among them.
type tree struct {
	mu     sync.Mutex   // a referee may look while the player's own goroutine ends a move
	member map[int]bool // of each process seen so far
}

// usage returns the times of all processes of a tree that exist, and of their children that have
// ended. /proc rounds CPU times down to 10 ms.
func (t *tree) usage(root int) (u Usage, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.member == nil {
		t.member = make(map[int]bool)
	}
	names, err := readNames("/proc")
	if err != nil {
		return u, false
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid >= root {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids) // usually parents before children
	for _, pid := range pids {
		if is, seen := t.member[pid]; seen && !is {
			continue
		}
		s, err := readStat(pid)
		if err != nil {
			delete(t.member, pid)
			continue
		}
		t.member[pid] = pid == root || s.group == root || t.member[s.parent] || t.member[pid]
		if t.member[pid] {
			u.CPU += s.cpu
			u.Waited += waited(pid)
			ok = true
		}
	}
	return u, ok
}

// readNames returns the names of a directory's files.
func readNames(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// A stat contains what we need of /proc/PID/stat.
type stat struct {
	parent, group int
	cpu           time.Duration // with that of its children that have ended
}

// readStat reads /proc/PID/stat, see proc(5).
func readStat(pid int) (s stat, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// The name, in parentheses, may contain anything. The fields after it begin with the third.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const last = 17 // cstime
	if len(fields) < last-2 {
		return s, fmt.Errorf("/proc/%d/stat: expected %d fields, found %q", pid, last, text)
	}
	number := func(field int) int {
		n, failed := strconv.Atoi(fields[field-3])
		if failed != nil {
			err = failed
		}
		return n
	}
	s = stat{number(4), number(5), time.Duration(number(14)+number(15)+number(16)+number(last)) * tick}
	return s, err
}

// waited returns how long the threads of a process have waited for a CPU, all together; 0 where
// the system does not count that.
func waited(pid int) (sum time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				sum += time.Duration(n)
			}
		}
	}
	return sum
}
