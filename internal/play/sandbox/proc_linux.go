package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on all architectures.
const tick = time.Second / 100

// Processes returns the numbers of all processes in /proc in ascending order, so that parents
// usually come before their children.
func Processes() (pids []int, err error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}

// A Stat is what /proc/PID/stat says of a process.
type Stat struct {
	Parent, Group int
	CPU, Children time.Duration // CPU time of the process, and of its children that have ended
	Memory        int64         // bytes, resident
}

// ReadStat reads /proc/PID/stat, see proc(5).
func ReadStat(pid int) (s Stat, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	// The name, in parentheses, may contain anything. The fields after it begin with the third.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const last = 24 // rss
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
	s = Stat{
		Parent: number(4), Group: number(5),
		CPU:      time.Duration(number(14)+number(15)) * tick,
		Children: time.Duration(number(16)+number(17)) * tick,
		Memory:   int64(number(last)) * int64(os.Getpagesize()),
	}
	return s, err
}
