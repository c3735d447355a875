//go:build linux && !race

package driver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
	"github.com/treereduce/treereduce/internal/testing/programs"
)

// withScripts creates a directory with the commands, in which scripts replace some of them, or
// sort. A program with an empty script is missing.
func withScripts(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range must.Get(filepath.Glob(filepath.Join(programs.Dir(t), "*")))(t) {
		if _, replaced := scripts[filepath.Base(from)]; !replaced {
			must.OK(t, os.Link(from, filepath.Join(dir, filepath.Base(from))))
		}
	}
	for name, script := range scripts {
		if script != "" {
			must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+script+"\n"), 0o777))
		}
	}
	return dir
}

// TestPipeFirstCause checks that the error of a process of the pipe runner is reported once, in
// one line, and as that process's own error, not as an error of the next process in the
// pipeline.
func TestPipeFirstCause(t *testing.T) {
	sort := must.Get(exec.LookPath("sort"))(t)
	const (
		killed = ` was killed \(signal: killed\), as the system does where memory runs out \(--memory bounds what the sorts take\)$`
		begin  = `^driver: data_(first|second)[0-9]+: `
	)
	text := []string{"--keep", "all"}
	// A sort script that fails only if its output has more than 70 bytes.
	some := `all=$(` + sort + ` "$@"; echo .); all=${all%.}; [ ${#all} -gt 70 ] || { printf %s "$all"; exit; }; `
	const later = `; exec >&-; sleep 0.2; kill -9 $$` // by then its output has been read
	for _, test := range []struct {
		name    string
		program string
		script  string
		flags   []string
		want    string
	}{
		{"sort at its input", "sort", "head -c 100 >/dev/null; kill -9 $$", nil, begin + "sort" + killed},
		{"sort within its output, at a line", "sort", some + `head -3 <<<"$all"; kill -9 $$`, nil, begin + "sort" + killed},
		{"sort within a line", "sort", some + `printf %s "${all:0:70}"; kill -9 $$`, nil, begin + "sort" + killed},
		{"sort after half a line", "sort", some + `printf %s "${all:0:70}"` + later, nil, begin + "sort" + killed},
		{"sort, text", "sort", some + `printf %s "${all:0:70}"` + later, text, begin + "sort" + killed},
		{"sort that finds no room", "sort", `cat >/dev/null; echo "sort: no room" >&2; exit 2`, nil, begin + `sort: sort: no room$`},
		{"sort that does not read", "sort", `exit 0`, nil, begin + `sort (ended before its input|was given [0-9]+ lines, [a-z]+_reduce \(task [0-9]\) read 0)$`},
		{"sort that loses a line", "sort", sort + ` "$@" | sed 2d`, nil, begin + `sort was given [0-9]+ lines, [a-z]+_reduce \(task [0-9]\) read [0-9]+$`},
		{"mapper at its input", "possible_map", "head -c 3 >/dev/null; kill -9 $$", nil, begin + `possible_map \(task [0-9]+\)` + killed},
		{"mapper within a line", "possible_map", "printf 00; kill -9 $$", nil, begin + `possible_map \(task [0-9]+\)` + killed},
		{"mapper after half a line", "possible_map", "printf 00" + later, nil, begin + `possible_map \(task [0-9]+\)` + killed},
		{"mapper that ends within a line", "possible_map", "cat >/dev/null; printf 00", nil, begin + `output of possible_map \(task [0-9]+\): it ends within the line "00"$`},
		{"mapper by another signal", "possible_map", "kill -SEGV $$", nil, begin + `possible_map \(task [0-9]+\) was killed \(signal: segmentation fault( \(core dumped\))?\)$`},
		{"reducer at its input", "solve_reduce", "head -c 3 >/dev/null; kill -9 $$", nil, begin + `solve_reduce \(task [0-9]+\)` + killed},
		{"reducer within a line", "solve_reduce", "printf 00; kill -9 $$", nil, begin + `solve_reduce \(task [0-9]+\)` + killed},
		{"reducer after half a line", "solve_reduce", "printf 00" + later, nil, begin + `solve_reduce \(task [0-9]+\)` + killed},
		{"reducer within a line, text", "solve_reduce", "printf 00; kill -9 $$", text, begin + `solve_reduce \(task [0-9]+\)` + killed},
		{"reducer that prints no records", "solve_reduce", "cat >/dev/null; echo x", nil, begin + `output of reducer [0-9] of data_second[0-9]+:1: expected a key of 3 hexadecimal digits, then nothing or a tab, found "x"$`},
		{"a mapper that is not there", "possible_map", "", nil, begin + `.*/possible_map: .*no such file or directory \(to build it: make build\)$`},
		{"a reducer that is not there", "possible_reduce", "", nil, begin + `.*/possible_reduce: .*no such file or directory \(to build it: make build\)$`},
		{"a long story", "possible_reduce", `cat >/dev/null; for i in {1..20000}; do echo "line $i of many words"; done >&2; exit 1`, nil,
			begin + `possible_reduce \(task [0-9]+\): line 1 of many words; line 2 of many words; .* … \([0-9,]+ lines more\)$`},
		{"a long line", "possible_reduce", `cat >/dev/null; head -c 600000 /dev/zero | tr '\0' x >&2; exit 1`, nil,
			begin + `possible_reduce \(task [0-9]+\): x+ …$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			own := withScripts(t, map[string]string{test.program: test.script})
			cmd := exec.Command(filepath.Join(own, "driver"), append([]string{"solve", "connectn",
				"--runner", "pipe", "--reducers", "2", "--data", filepath.Join(t.TempDir(), "d")}, test.flags...)...)
			cmd.Env = append(os.Environ(), "PATH="+own+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			printed := strings.TrimSuffix(string(out), "\n")
			printed = printed[strings.LastIndexByte(printed, '\n')+1:] // after lines of progress, on a slow machine
			if cmd.ProcessState.ExitCode() != 1 || !regexp.MustCompile(test.want).MatchString(printed) || len(printed) > 4096 {
				t.Errorf("%v: %.500q, want %s", err, printed, test.want)
			}
		})
	}
}

// TestPipeFewFiles checks that running out of file descriptors, wherever that happens, is not
// reported as a missing program.
func TestPipeFewFiles(t *testing.T) {
	for files := 12; files < 60; files += 3 {
		dir := filepath.Join(t.TempDir(), "d")
		out, err := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$0" "$@"`, files), "driver",
			"solve", "connectn", "--runner", "pipe", "--reducers", "5", "--data", dir).CombinedOutput()
		if err == nil {
			break
		}
		if !regexp.MustCompile(`^driver: .*too many open files\n$`).Match(out) {
			t.Errorf("%d files: %v: %q, want one line of too many open files", files, err, out)
		}
	}
}

// TestSecondInterrupt delays the effect of a first Ctrl-C with a process that outlives its
// mapper, and checks that the second one ends the driver immediately.
func TestSecondInterrupt(t *testing.T) {
	dir := t.TempDir()
	// The pid is written once the process is in a session of its own, where no signal reaches it.
	script := "setsid sh -c 'echo $$ >" + dir + "/pid.new; mv " + dir + "/pid.new " + dir + "/pid; exec sleep 100000' &\nwait"
	own := withScripts(t, map[string]string{"possible_map": script})
	cmd := exec.Command(filepath.Join(own, "driver"), "solve", "connectn", "--runner", "pipe", "--data", filepath.Join(dir, "d"))
	programs.Start(t, cmd)
	programs.WaitFor(t, filepath.Join(dir, "pid"))
	t.Cleanup(func() { exec.Command("sh", "-c", "kill $(cat "+dir+"/pid)").Run() })
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	cmd.Process.Signal(os.Interrupt)
	select {
	case <-ended:
		t.Fatal("nothing held the first one up")
	case <-time.After(time.Second):
	}
	must.Until(t, func() bool {
		cmd.Process.Signal(os.Interrupt) // again, as two signals that come before the driver looks are one
		select {
		case <-ended:
			return true
		case <-time.After(time.Second):
			return false
		}
	}, func() string { return "the second one does not end it at once" })
	if status := process.ExitStatus(cmd); status != 130 {
		t.Errorf("exit status %d, want 130", status)
	}
}
