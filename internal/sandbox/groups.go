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
	dirs    map[string]string // of control groups of version 1, by controller
	systemd []string          // how to call systemd-run, which makes the group
}

// period is the time in which a program may use its share of CPU time, in microseconds. It is the default.
const period = 100_000

// A setting is a file of a control group and its value.
type setting struct{ file, value string }

// settings returns the settings of a control group of a controller.
func (l Limits) settings(controller string) []setting {
	memory := fmt.Sprint(l.Memory)
	switch {
	case l.Memory > 0 && controller == "memory":
		return []setting{{"memory.limit_in_bytes", memory}, {"memory.memsw.limit_in_bytes", memory}}
	case l.CPU > 0 && controller == "cpu":
		return []setting{{"cpu.cfs_quota_us", fmt.Sprint(int(math.Round(l.CPU * period)))}}
	case l.Processes > 0 && controller == "pids":
		return []setting{{"pids.max", fmt.Sprint(l.Processes)}}
	}
	return nil
}

// findGroups finds a way to make control groups that works: systemd, or version 1 as root.
func (s *Sandbox) findGroups(ctx context.Context) (g groups, err error) {
	systemd := []string{"systemd-run", "--scope", "--quiet", "--collect"}
	if os.Getuid() != 0 {
		systemd = append(systemd, "--user")
	}
	one := make(map[string]string)
	for _, name := range []string{"memory", "cpu", "pids"} {
		one[name] = ownGroup(name)
	}
	for _, g := range []groups{{systemd: systemd}, {dirs: one}} {
		with := *s
		with.groups = g
		if err = with.Try(ctx, "/"); err == nil || ctx.Err() != nil {
			return g, err
		}
	}
	return g, err
}

// ownGroup returns the directory of our control group of a controller of version 1; "" if there is none.
func ownGroup(controller string) string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	own, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(mounts)) {
		mount := strings.Fields(line)
		if len(mount) < 4 || mount[2] != "cgroup" || !slices.Contains(strings.Split(mount[3], ","), controller) {
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
			if strings.Contains(s.file, "memsw") && errors.Is(failed, os.ErrNotExist) {
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
		text, _ := os.ReadFile(filepath.Join(dir, "memory.oom_control"))
		_, killed, ok := strings.Cut("\n"+string(text), "\noom_kill ")
		if ok && !strings.HasPrefix(killed, "0") {
			return fmt.Sprintf("all its processes together used more than %d MB of memory, the limit", g.memory>>20)
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
