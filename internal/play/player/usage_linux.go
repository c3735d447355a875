package player

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/treereduce/treereduce/internal/play/sandbox"
)

// CanMeter reports whether this system shows the times of a program while it runs.
const CanMeter = true

// A tree is the processes of a program: its first process, all descendants, and all processes of
// its group. A process that has left the group and lost its parent before it was seen is not
// among them.
type tree struct {
	keeper bool         // the first process is not the program's, but keeps its limits
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
	pids, err := sandbox.Processes()
	if err != nil {
		return u, false
	}
	for _, pid := range pids {
		if is, seen := t.member[pid]; pid < root || seen && !is {
			continue
		}
		s, err := sandbox.ReadStat(pid)
		if err != nil {
			delete(t.member, pid)
			continue
		}
		t.member[pid] = pid == root || s.Group == root || t.member[s.Parent] || t.member[pid]
		if t.member[pid] {
			u.CPU += s.Children
			if pid != root || !t.keeper {
				u.CPU += s.CPU
				u.Waited += waited(pid)
			}
			ok = true
		}
	}
	return u, ok
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
