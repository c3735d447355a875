package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// groups is where control groups are made. The zero value makes none.
type groups struct {
	dirs    map[string]string // by controller of version 1; by "" of version 2, which has all in one
	systemd []string          // how to call systemd-run, which makes the group
}

// period is the time in which a program may use its share of CPU time, in microseconds. It is the default.
const period = 100_000

// A setting is a file of a control group and its value.
type setting struct{ file, value string }

// settings returns the settings of a control group of a controller, see groups.dirs.
func (l Limits) settings(controller string) (set []setting) {
	memory, cpu, processes := fmt.Sprint(l.Memory), fmt.Sprint(int(math.Round(l.CPU*period))), fmt.Sprint(l.Processes)
	all := controller == ""
	if l.Memory > 0 && all {
		set = append(set, setting{"memory.max", memory}, setting{"memory.swap.max", "0"})
	}
	if l.Memory > 0 && controller == "memory" {
		set = append(set, setting{"memory.limit_in_bytes", memory}, setting{"memory.memsw.limit_in_bytes", memory})
	}
	if l.CPU > 0 && all {
		set = append(set, setting{"cpu.max", cpu})
	}
	if l.CPU > 0 && controller == "cpu" {
		set = append(set, setting{"cpu.cfs_quota_us", cpu})
	}
	if l.Processes > 0 && (all || controller == "pids") {
		set = append(set, setting{"pids.max", processes})
	}
	return set
}

// findGroups finds a way to make control groups that works: version 2 in a directory that is delegated,
// systemd, or version 1 as root.
func (s *Sandbox) findGroups(ctx context.Context) (g groups, err error) {
	systemd := []string{"systemd-run", "--scope", "--quiet", "--collect"}
	if os.Getuid() != 0 {
		systemd = append(systemd, "--user")
	}
	one := make(map[string]string)
	for _, name := range []string{"memory", "cpu", "pids"} {
		one[name] = ownGroup(name)
	}
	for _, g := range []groups{{dirs: map[string]string{"": delegated(ownGroup(""))}}, {systemd: systemd}, {dirs: one}} {
		with := *s
		with.groups = g
		if err = with.Try(ctx, "/"); err == nil || ctx.Err() != nil {
			return g, err
		}
	}
	return g, err
}

// ownGroup returns the directory of our control group of a controller of version 1, or, for "", of version
// 2; "" if there is none.
func ownGroup(controller string) string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	own, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(mounts)) {
		mount := strings.Fields(line)
		if len(mount) < 4 || mount[2] != "cgroup" && controller != "" || mount[2] != "cgroup2" && controller == "" ||
			controller != "" && !slices.Contains(strings.Split(mount[3], ","), controller) {
			continue
		}
		for line := range strings.Lines(string(own)) {
			fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
			if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
				if dir := filepath.Join(mount[1], fields[2]); writable(dir) {
					return dir
				}
			}
		}
		return mount[1] // in a container, our group is the one that is mounted
	}
	return ""
}

// delegated returns the nearest directory from a control group of version 2 upwards whose children have
// the controllers that we need, and that we may write; "" if there is none.
func delegated(dir string) string {
	for ; len(dir) > 1; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err != nil {
			return ""
		}
		has := strings.Fields(string(text))
		if slices.Contains(has, "memory") && slices.Contains(has, "cpu") && slices.Contains(has, "pids") && writable(dir) {
			return dir
		}
	}
	return ""
}

// A Group is the control groups of a program. A nil Group has none.
type Group struct {
	dirs   []string
	memory int64
	closed sync.Once
}

// made is the number of groups that this process has made.
var made atomic.Int64

// make makes the control groups of a program. It returns the words that start a command in them.
func (g groups) make(l Limits) (group *Group, enter []string, err error) {
	if g.systemd != nil {
		enter = append(enter, g.systemd...)
		if l.Memory > 0 {
			enter = append(enter, "-p", fmt.Sprint("MemoryMax=", l.Memory), "-p", "MemorySwapMax=0")
		}
		if l.CPU > 0 {
			enter = append(enter, "-p", fmt.Sprintf("CPUQuota=%d%%", int(math.Round(100*l.CPU))))
		}
		if l.Processes > 0 {
			enter = append(enter, "-p", fmt.Sprint("TasksMax=", l.Processes))
		}
		return nil, append(enter, "--"), nil
	}
	if g.dirs == nil {
		return nil, nil, nil
	}
	group = &Group{memory: l.Memory}
	enter = []string{"sh", "-c", `while [ "$1" != -- ]; do echo $$ >"$1" || exit; shift; done; shift; exec "$@"`, "sh"}
	name := fmt.Sprintf("treereduce-%d-%d", os.Getpid(), made.Add(1))
	for controller, above := range g.dirs {
		if above == "" {
			err = fmt.Errorf("no control groups of the controller %s", controller)
			break
		}
		sweep(above)
		dir := filepath.Join(above, name)
		if err = os.Mkdir(dir, 0o755); err != nil {
			break
		}
		group.dirs = append(group.dirs, dir)
		for _, s := range l.settings(controller) {
			f, failed := os.OpenFile(filepath.Join(dir, s.file), os.O_WRONLY, 0)
			if strings.Contains(s.file, "sw") && errors.Is(failed, os.ErrNotExist) {
				continue // this system does not count swap space
			}
			if failed == nil {
				_, failed = f.WriteString(s.value)
				f.Close()
			}
			err = cmp.Or(err, failed)
		}
		enter = append(enter, filepath.Join(dir, "cgroup.procs"))
	}
	if err != nil {
		group.Close()
		return nil, nil, err
	}
	return group, append(enter, "--"), nil
}

// sweep removes the groups that a process which was killed has left in a directory.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "treereduce-*-*"))
	for _, name := range left {
		pid, err := strconv.Atoi(strings.Split(filepath.Base(name), "-")[1])
		if err == nil && ended(pid) {
			(&Group{dirs: []string{name}}).Close()
		}
	}
}

// Reason returns the limit for which the kernel has killed processes of the program; "" if it has not.
func (g *Group) Reason() string {
	if g == nil {
		return ""
	}
	for _, dir := range g.dirs {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			text, _ := os.ReadFile(filepath.Join(dir, file))
			_, killed, ok := strings.Cut("\n"+string(text), "\noom_kill ")
			if ok && !strings.HasPrefix(killed, "0") {
				return fmt.Sprintf("all its processes together used more than %d MB of memory, the limit", g.memory>>20)
			}
		}
	}
	return ""
}

// Close kills the processes of the groups, and removes the groups. It is safe for concurrent use.
func (g *Group) Close() {
	if g != nil {
		g.closed.Do(g.remove)
	}
}

// remove implements Close.
func (g *Group) remove() {
	const patience = 5 * time.Second
	for _, dir := range g.dirs {
		for begun := time.Now(); time.Since(begun) < patience; time.Sleep(time.Millisecond) {
			if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
			for _, word := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
					kill(pid)
				}
			}
		}
	}
}
