package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// name is the name under which our executable is started as process 1.
	name = "treereduce-sandbox"
	// nobody is the user and group that a program of root has with ReadOnly.
	nobody = 65534
	// interval is the time between two looks at the program's processes.
	interval = 20 * time.Millisecond
	// failed is the exit status of process 1 after a limit was exceeded, or an error.
	failed = 125
	// controlFD is the file descriptor of process 1's end of the Control.
	controlFD = 3
)

// A job is what process 1 is to do.
type job struct {
	Command string
	Limits  Limits
}

// init makes every program that imports this package able to be process 1.
func init() {
	if len(os.Args) == 2 && os.Args[0] == name {
		status, err := run(os.Args[1])
		if err != nil {
			unix.Write(controlFD, []byte(err.Error()))
			status = failed
		}
		os.Exit(status)
	}
}

// A Control is the connection to a program with limits: a pair of sockets, of which process 1 has
// one. It receives a byte for each Reset, and sends the Reason.
type Control struct {
	ours, theirs *os.File // nil: there are no limits
}

// Command returns a command for the shell that is to be started, once, in a process group of its
// own, with limits. Killing the group kills all processes of the program. The control must be
// closed when the program has ended; the program is killed if that, or the end of this process,
// comes first.
func Command(command string, l Limits) (*exec.Cmd, *Control, error) {
	if l == (Limits{}) {
		return shell(command), &Control{}, nil
	}
	text, err := json.Marshal(job{command, l})
	if err != nil {
		return nil, nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	c := &Control{os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{name, string(text)}, ExtraFiles: []*os.File{c.theirs}}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:     true,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid()),
	}
	if l.NoNetwork {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.GidMappingsEnableSetgroups = true // to drop the groups of root
	} else {
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // to mount, in these namespaces
	}
	return cmd, c, nil
}

// same maps an identity to itself, and nobody if root may do that.
func same(id int) []syscall.SysProcIDMap {
	all := []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	if os.Getuid() == 0 && id != nobody {
		all = append(all, syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1})
	}
	return all
}

// Limited reports whether there are limits, so that the command is process 1 of the program.
func (c *Control) Limited() bool { return c.ours != nil }

// Reset begins to count the CPU time from here.
func (c *Control) Reset() {
	if c.Limited() {
		c.ours.Write([]byte{0})
	}
}

// Reason returns why process 1 has ended the program: a limit that was exceeded, or what this machine
// refused; "" if it has not. It is to be called once, after the program has ended.
func (c *Control) Reason() string {
	if !c.Limited() {
		return ""
	}
	b := make([]byte, 1000)
	n, _, _ := unix.Recvfrom(int(c.ours.Fd()), b, unix.MSG_DONTWAIT)
	return string(b[:max(n, 0)])
}

// Close closes the connection.
func (c *Control) Close() {
	if c.Limited() {
		c.ours.Close()
		c.theirs.Close()
	}
}

// run is process 1. It runs the program and returns its exit status. An error is a limit that was
// exceeded, or what this machine refused.
func run(text string) (status int, err error) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return 0, err
	}
	unix.CloseOnExec(controlFD)
	root := os.Getuid() == 0
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("mounts: %w", err)
	}
	if j.Limits.ReadOnly {
		err = readOnly(j.Command)
	} else {
		err = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	}
	if err != nil {
		return 0, fmt.Errorf("files: %w", err)
	}
	// The program gets no privileges in the namespaces, and no other user's by a set-user-ID
	// executable. Process 1 keeps its own.
	runtime.LockOSThread() // the program is a child of this thread
	err = errors.Join(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	for c := uintptr(0); root && err == nil && unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil; c++ {
		err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // root would get it when it executes a program
	}
	if err != nil {
		return 0, fmt.Errorf("privileges: %w", err)
	}
	cmd := exec.Command("sh", "-c", j.Command)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if j.Limits.ReadOnly {
		cmd.Env = append(os.Environ(), "TMPDIR=/tmp")
		if root {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	over := make(chan error, 1)
	go watch(j.Limits, over)
	ended := make(chan syscall.WaitStatus)
	go reap(cmd.Process.Pid, ended)
	select {
	case err := <-over:
		return 0, err
	case s := <-ended:
		if s.Signaled() {
			return 128 + int(s.Signal()), nil
		}
		return s.ExitStatus(), nil
	}
}

// reap waits for all processes of the namespace, until the program has ended.
func reap(program int, ended chan<- syscall.WaitStatus) {
	for {
		var s syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &s, 0, nil)
		if err == nil && pid == program || err != nil && err != syscall.EINTR {
			ended <- s
			return
		}
	}
}

// watch sends the limit that is exceeded, or the end of the process that started us.
func watch(l Limits, over chan<- error) {
	for base, seen := time.Duration(0), time.Duration(0); ; time.Sleep(interval) {
		u, err := usageOf()
		if err != nil {
			over <- err
			return
		}
		seen = max(seen, u.cpu) // it never falls, though the time of a lost child may be missing
		resets, _, err := unix.Recvfrom(controlFD, make([]byte, 100), unix.MSG_DONTWAIT)
		if resets > 0 {
			base = seen
		}
		if l.Memory > 0 && u.memory > l.Memory {
			u.memory = shared(u.pids, u.memory)
		}
		switch {
		case resets == 0 && err == nil:
			over <- errors.New("the referee has ended")
		case len(u.pids) > MaxProcesses:
			over <- fmt.Errorf("it has %d processes, the limit is %d", len(u.pids), MaxProcesses)
		case l.Memory > 0 && u.memory > l.Memory:
			over <- fmt.Errorf("it used %s of memory in all its processes (%d), --memory-limit is %s", megabytes(u.memory), len(u.pids), megabytes(l.Memory))
		case l.CPU > 0 && seen-base > l.CPU:
			over <- fmt.Errorf("it used %s of CPU time in a game, --cpu-limit is %s", seen-base, l.CPU)
		default:
			continue
		}
		return
	}
}

// megabytes returns a size in the form of --memory-limit.
func megabytes(n int64) string { return fmt.Sprintf("%dM", (n+1<<20-1)>>20) }

// A usage is what the program's processes use.
type usage struct {
	pids   []int
	memory int64 // bytes, memory of several processes counted in each
	cpu    time.Duration
}

// usageOf adds up what the processes use. Process 1 does not count, but the time of its ended
// children does.
func usageOf() (u usage, err error) {
	pids, err := Processes()
	for _, pid := range pids {
		s, err := ReadStat(pid)
		if err != nil {
			continue // it has ended
		}
		u.cpu += s.Children
		if pid != 1 {
			u.cpu += s.CPU
			u.memory += s.Memory
			u.pids = append(u.pids, pid)
		}
	}
	return u, err
}

// shared returns the memory of processes, of which each counts its part of what it shares; most is
// the result if that cannot be read.
func shared(pids []int, most int64) (sum int64) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			if _, err := ReadStat(pid); err == nil {
				return most
			}
			continue
		}
		_, after, _ := strings.Cut(string(text), "\nPss:")
		kilobytes, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		n, _ := strconv.ParseInt(kilobytes, 10, 64)
		sum += n << 10
	}
	return sum
}

// readOnly replaces the root directory by one that has the directories of the system and of the
// program, read-only, a new /proc and an empty /tmp.
func readOnly(command string) error {
	const root = "/tmp" // of this namespace only; what it hides is opened before
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	places := slices.Concat(
		[]string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix"},
		[]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"},
		programDirs(command, here))
	opened := make([]*os.File, len(places))
	links := map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "fd/0", "/dev/stdout": "fd/1", "/dev/stderr": "fd/2"}
	for i, place := range places {
		if target, err := os.Readlink(place); err == nil && strings.Count(place, "/") == 1 {
			links[place] = target // /bin is usr/bin
			continue
		}
		opened[i], _ = os.OpenFile(place, unix.O_PATH, 0) // nil: this system does not have it
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return err
	}
	for _, dir := range []string{"/dev", "/proc", "/tmp", "/old"} {
		if err := os.Mkdir(root+dir, 0o755); err != nil {
			return err
		}
	}
	for place, target := range links {
		if err := os.Symlink(target, root+place); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", root+"/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64m,mode=1777"); err != nil {
		return err
	}
	tmp, err := os.OpenFile(root+"/tmp", unix.O_PATH, 0) // a directory of the program may hide it
	if err != nil {
		return err
	}
	defer tmp.Close()
	if err := unix.Mount("proc", root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	for i, place := range places {
		if opened[i] == nil {
			continue
		}
		info, err := opened[i].Stat()
		switch {
		case err != nil:
		case info.IsDir():
			err = os.MkdirAll(root+place, 0o755)
		default: // a device
			err = os.WriteFile(root+place, nil, 0o666)
		}
		if err == nil {
			err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", opened[i].Fd()), root+place, "", unix.MS_BIND|unix.MS_REC, "")
		}
		opened[i].Close()
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	if err := unix.PivotRoot(root, root+"/old"); err != nil {
		return fmt.Errorf("root directory: %w", err)
	}
	attributes := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := errors.Join(unix.Unmount("/old", unix.MNT_DETACH), os.Remove("/old"),
		unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &attributes),
		unix.MountSetattr(int(tmp.Fd()), "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	return unix.Chdir(here)
}

// programDirs returns the directories that a command needs: where it is started, those of the
// files that it names, and where the programs of PATH are installed, but no home directory.
func programDirs(command, here string) []string {
	dirs := []string{here}
	for _, word := range strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t'\"`;&|()<>=:", c) }) {
		if info, err := os.Stat(word); err == nil && strings.Contains(word, "/") {
			if word, err = filepath.Abs(word); err == nil && !info.IsDir() {
				word = filepath.Dir(word)
			}
			if err == nil {
				dirs = append(dirs, word)
			}
		}
	}
	home, err := os.UserHomeDir()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		prefix := filepath.Dir(dir) // of bin, lib, …
		if err == nil && (prefix == "/" || strings.HasPrefix(home+"/", prefix+"/")) {
			prefix = dir
		}
		if filepath.IsAbs(prefix) {
			dirs = append(dirs, prefix)
		}
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == "/" }) // it is what is replaced
	// What is inside of another comes after it.
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return slices.Compact(dirs)
}
