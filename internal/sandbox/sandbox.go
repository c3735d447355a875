// Package sandbox runs programs that are not trusted with limits, which hold for all processes of a
// program together. It calls the tools of the system for that:
//
//	sh                    enters the control groups: memory, CPU, number of processes
//	└ setpriv             if root starts it: becomes nobody
//	  └ bwrap             Bubblewrap: new user, process, mount and network namespaces
//	    └ sh -c COMMAND
//
// Each starts the next one with exec, so that Bubblewrap is the child of this process. When it ends,
// or this process does, the kernel kills all processes of the program.
package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/treereduce/treereduce/internal/system"
)

// Limits are what a program may use. The zero value does not limit anything.
type Limits struct {
	Memory    int64   // bytes of all its processes together, with files in memory; 0: no limit
	CPU       float64 // cores that all its processes use at most; 0: no limit
	Processes int     // number of processes and threads; 0: no limit
	NoNetwork bool    // it has no network, not even this machine's
	// ReadOnly makes all files read-only, and hides all but those of the system and the directories of
	// the program: the working directory, those of the files that the command names, and those of PATH.
	// /tmp and /dev/shm are empty, small, and the program's own.
	ReadOnly bool
}

// Default are the limits of programs whose authors are not trusted.
var Default = Limits{Memory: 512 << 20, CPU: 1, Processes: MaxProcesses, NoNetwork: true, ReadOnly: true}

// MaxProcesses is the number of processes and threads that a program with limits has at most.
const MaxProcesses = 200

// names are the names of the limits: first those of control groups, then those of Bubblewrap.
var names = []string{"memory", "cpu", "processes", "network", "files"}

// Names returns the names of the limits that are set.
func (l Limits) Names() (set []string) {
	for i, is := range []bool{l.Memory > 0, l.CPU > 0, l.Processes > 0, l.NoNetwork, l.ReadOnly} {
		if is {
			set = append(set, names[i])
		}
	}
	return set
}

// Without returns l without the limits of these names.
func (l Limits) Without(unlimited []string) (Limits, error) {
	for _, name := range unlimited {
		switch name {
		case "memory":
			l.Memory = 0
		case "cpu":
			l.CPU = 0
		case "processes":
			l.Processes = 0
		case "network":
			l.NoNetwork = false
		case "files":
			l.ReadOnly = false
		default:
			return l, fmt.Errorf("%q: expected some of %s", name, strings.Join(names, ","))
		}
	}
	return l, nil
}

// A Sandbox starts programs with limits. A nil Sandbox starts them without.
type Sandbox struct {
	// Private are the directories of all programs, absolute and without symbolic links. With ReadOnly a
	// program does not see those of others. In a directory that occurs twice it sees only the
	// files that its command names.
	Private []string
	// Files are files that programs need, beside those that their commands name.
	Files []string

	limits Limits
	bwrap  []string // how to call Bubblewrap; nil: it is not used
	groups groups
}

// An UnenforcedError is the error for limits that this machine cannot enforce.
type UnenforcedError struct {
	Names   []string // of the limits
	Reasons []string // why, and what to install
}

func (e *UnenforcedError) Error() string {
	return fmt.Sprintf("%s cannot be limited on this machine (%s)", strings.Join(e.Names, ", "), strings.Join(e.Reasons, "; "))
}

// New makes a Sandbox, and tries it. Its error is an *UnenforcedError, or the cause of the end of ctx. The
// Sandbox is nil if l does not limit anything.
func New(ctx context.Context, l Limits) (*Sandbox, error) {
	if len(l.Names()) == 0 {
		return nil, nil
	}
	s, failed := &Sandbox{limits: l}, new(UnenforcedError)
	if runtime.GOOS == "windows" {
		failed.Names, failed.Reasons = l.Names(), []string{"Windows has neither Bubblewrap nor control groups"}
		return nil, failed
	}
	var err error
	if s.bwrap, err = bubblewrap(ctx); err == nil {
		err = s.Try(ctx, "/")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, errHung) {
		err = fmt.Errorf("install the package bubblewrap: %w", err)
	}
	if err != nil && os.Geteuid() == 0 {
		// Root's program could leave its control group.
		failed.Names, failed.Reasons = l.Names(), []string{err.Error()}
		return nil, failed
	}
	if err != nil {
		if s.bwrap = nil; l.NoNetwork || l.ReadOnly {
			failed.Names = Limits{NoNetwork: l.NoNetwork, ReadOnly: l.ReadOnly}.Names()
			failed.Reasons = []string{err.Error()}
		}
	}
	l.NoNetwork, l.ReadOnly = false, false
	if counted := l.Names(); len(counted) > 0 {
		if s.groups, err = s.findGroups(ctx); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		} else if err != nil {
			failed.Names = append(counted, failed.Names...)
			failed.Reasons = append(failed.Reasons, "control groups: install the package systemd, or run as root: "+err.Error())
		}
	}
	if len(failed.Names) > 0 {
		return nil, failed
	}
	return s, nil
}

// errHung is the error of a tool of the system that does not end.
var errHung = errors.New("it did not end")

// tryTime is the time in which Bubblewrap and systemd must start a command that does nothing.
const tryTime = 30 * time.Second

// Try runs a command that does nothing in a directory.
func (s *Sandbox) Try(ctx context.Context, dir string) error {
	if s == nil {
		return nil
	}
	cmd, group, err := s.Command("true", dir)
	if err != nil {
		return err
	}
	defer group.Close()
	by := "bwrap"
	if s.groups.systemd != nil {
		by = s.groups.systemd[0]
	}
	ctx, cancel := context.WithTimeoutCause(ctx, tryTime, fmt.Errorf("%s: %w within %v", by, errHung, tryTime))
	defer cancel()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := system.Run(ctx, cmd); err != nil {
		if text, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n"); text != "" && ctx.Err() == nil {
			err = errors.New(text)
		}
		return err
	}
	return nil
}

// noNamespaces is the option of Bubblewrap with which a program cannot make user namespaces.
const noNamespaces = "--disable-userns"

// bubblewrap returns how to call Bubblewrap. With --unshare-user alone, a program of root would still
// own root's files, such as /etc/shadow: root becomes nobody before.
func bubblewrap(ctx context.Context) (call []string, err error) {
	path, err := exec.LookPath("bwrap")
	if err == nil && os.Getuid() == 0 {
		var setpriv string
		if setpriv, err = exec.LookPath("setpriv"); err == nil {
			call = []string{setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--"}
		}
	}
	if err != nil {
		return nil, err
	}
	call = append(call, path, "--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534",
		"--cap-drop", "ALL", "--new-session", "--die-with-parent")
	var help bytes.Buffer
	cmd := exec.Command(path, "--help")
	cmd.Stdout = &help
	ctx, cancel := context.WithTimeoutCause(ctx, tryTime, fmt.Errorf("%s --help: %w within %v", path, errHung, tryTime))
	defer cancel()
	if err := system.Run(ctx, cmd); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if strings.Contains(help.String(), noNamespaces) && info.Mode()&os.ModeSetuid == 0 { // since version 0.8, but not if it is setuid
		call = append(call, noNamespaces)
	}
	return call, nil
}

// Command returns a command for the shell, with words after it, that is to be started, once, by package
// system in a directory, "" for the current one. Killing its process group kills the program, with
// Bubblewrap all its processes. The Group must be closed when the command has ended.
func (s *Sandbox) Command(command, dir string, words ...string) (*exec.Cmd, *Group, error) {
	cmd, group := system.Shell(command, words...), (*Group)(nil)
	if s != nil {
		dir, err := realPath(dir)
		if err != nil {
			return nil, nil, err
		}
		words := cmd.Args
		if s.bwrap != nil {
			words = slices.Concat(s.bwrap, s.jail(command, dir), []string{"--chdir", dir, "--"}, words)
		}
		var enter []string
		if group, enter, err = s.groups.make(s.limits); err != nil {
			return nil, nil, err
		}
		words = append(enter, words...)
		cmd = exec.Command(words[0], words[1:]...)
	}
	cmd.Dir = dir
	if s != nil && s.limits.ReadOnly {
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return !passed.MatchString(v) })
	}
	return cmd, group, nil
}

// passed matches the environment variables that a program gets which sees only its own files. Others may
// be secrets, such as the keys of an account. The last ones are for systemd-run.
var passed = regexp.MustCompile(`^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_[A-Z]*|JAVA_HOME|VIRTUAL_ENV|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)=`)

// realPath returns the absolute path of a directory, without symbolic links.
func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// jail returns the arguments of Bubblewrap that limit the network and the files of a command.
func (s *Sandbox) jail(command, dir string) (args []string) {
	if !s.limits.NoNetwork {
		args = append(args, "--share-net")
	}
	if !s.limits.ReadOnly {
		return append(args, "--dev-bind", "/", "/", "--proc", "/proc")
	}
	for _, place := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix"} {
		args = append(args, "--ro-bind-try", place, place)
	}
	const size = "67108864" // bytes
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp", "--setenv", "TMPDIR", "/tmp", "--dir", dir)
	// A place that is inside of another comes after it.
	shown, last := s.places(command, dir), []string{"--remount-ro", "/"}
	for _, place := range slices.Compact(slices.Sorted(slices.Values(append(shown, s.Private...)))) {
		switch {
		case slices.Contains(shown, place):
			args = append(args, "--ro-bind", place, place)
		case slices.ContainsFunc(shown, func(above string) bool { return inside(place, above) }):
			args = append(args, "--tmpfs", place) // the directory of another program
			last = append(last, "--remount-ro", place)
		}
	}
	return append(args, last...)
}

// inside reports whether a path is that of a directory or inside of it.
func inside(path, dir string) bool {
	return strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/")
}

// places returns the directories and files that a command needs: where it is started, those of the files
// that it names, and where the programs of PATH are installed, but no home directory.
func (s *Sandbox) places(command, dir string) []string {
	v := &view{private: s.Private, dir: dir}
	v.show(dir)
	for _, word := range strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t'\"`;&|()<>=:", c) }) {
		v.showNamed(word)
	}
	for _, name := range s.Files {
		v.showNamed(name)
	}
	home, err := os.UserHomeDir()
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		bin, failed := filepath.EvalSymlinks(bin)
		if failed != nil || !filepath.IsAbs(bin) || os.Getuid() == 0 && !public(bin) {
			continue
		}
		if prefix := filepath.Dir(bin); prefix == "/" || err == nil && inside(home, prefix) {
			v.show(bin)
		} else {
			v.show(prefix) // it contains bin, lib, …
		}
	}
	return v.shown
}

// A view contains the directories and files that are shown to a program.
type view struct {
	private []string // the directories of all programs
	dir     string   // where this program is started
	shown   []string
}

// others reports whether a path is in the directory of another program.
func (v *view) others(path string) bool {
	return slices.ContainsFunc(v.private, func(other string) bool { return inside(path, other) && !inside(v.dir, other) })
}

// show adds a directory, unless that would show what is not the program's.
func (v *view) show(place string) bool {
	own := place == v.dir && countOf(v.private, place) <= 1
	if place == "/" || !own && (place == "/tmp" || v.others(place) || slices.Contains(v.private, place)) {
		return false
	}
	v.shown = append(v.shown, place)
	return true
}

// showNamed adds the directory that a word of the command names, or that of the file; if only that
// directory cannot be shown, the file.
func (v *view) showNamed(word string) {
	if !filepath.IsAbs(word) {
		word = filepath.Join(v.dir, word)
	}
	file, err := filepath.EvalSymlinks(word)
	if err != nil || inside(file, "/proc") || inside(file, "/sys") || filepath.Dir(file) == "/dev" {
		return // it has its own
	}
	if len(v.private) > 0 && inside(word, v.dir) && !inside(file, v.dir) {
		return // a symbolic link, which the author of the program can choose
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		v.show(file)
	} else if err == nil && !v.show(filepath.Dir(file)) && !v.others(file) {
		v.shown = append(v.shown, file)
	}
}

// public reports whether nobody can enter a directory.
func public(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&1 != 0 && (dir == "/" || public(filepath.Dir(dir)))
}

// countOf returns how often a text is in a list.
func countOf(list []string, text string) (n int) {
	for _, t := range list {
		if t == text {
			n++
		}
	}
	return n
}
