//go:build linux

package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// A wine runs programs for Windows, with a Windows of their own.
type wine struct {
	dir string // has the programs, and is their working directory
	env []string
}

// newWine builds the programs for Windows, and makes a Windows. Debian's Wine lacks two functions that Go calls:
// ProcessPrng, which is compiled here, and the deletion of a file by FileDispositionInformationEx, in place of
// which Go has another one.
func newWine(t *testing.T) *wine {
	for _, tool := range []string{"wine", "wineserver", "x86_64-w64-mingw32-gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("make wine-tools installs it: ", err)
		}
	}
	dir := t.TempDir()
	prefix := filepath.Join(dir, "prefix")
	w := &wine{dir, append(os.Environ(), "TMPDIR="+dir, "WINEPREFIX="+prefix, "WINEARCH=win64", "WINEDEBUG=-all", "DISPLAY=")}
	root := strings.TrimSpace(process.Output(t, exec.Command("go", "env", "GOROOT")))
	source := filepath.Join(root, "src/internal/syscall/windows/at_windows.go")
	text := must.Get(os.ReadFile(source))(t)
	old, other := []byte("if TestDeleteatFallback {"), filepath.Join(dir, "at_windows.go")
	if !bytes.Contains(text, old) {
		t.Fatalf("%s lacks %q", source, old)
	}
	must.OK(t, os.WriteFile(other, bytes.Replace(text, old, []byte("if true {"), 1), 0o666))
	overlay := filepath.Join(dir, "overlay.json")
	replace := map[string]map[string]string{"Replace": {source: other}}
	must.OK(t, os.WriteFile(overlay, must.Get(json.Marshal(replace))(t), 0o666))
	for _, words := range [][]string{
		{"build", "-overlay", overlay, "-o", dir + "/", "./driver", "./driver-aws", "./play", "./mapper", "./reducer"},
		{"test", "-c", "-overlay", overlay, "-o", filepath.Join(dir, "system.exe"), "../internal/system"},
	} {
		build := exec.Command("go", words...)
		build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
		process.Output(t, build)
	}

	t.Cleanup(func() { w.tool("wineserver", "-k").Run() }) // it ends all programs
	process.Output(t, w.tool("wine", "wineboot", "-i"))
	stub := filepath.Join(dir, "prng.c")
	must.OK(t, os.WriteFile(stub, []byte(`#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T n) { return RtlGenRandom(data, n); }
`), 0o666))
	process.Output(t, exec.Command("x86_64-w64-mingw32-gcc", "-shared", "-o",
		filepath.Join(prefix, "drive_c/windows/system32/bcryptprimitives.dll"), stub, "-ladvapi32"))
	return w
}

// tool returns a command with the environment of this Windows.
func (w *wine) tool(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	return cmd
}

// program returns a command that runs a program, and a function that returns what it has printed, to a file: Wine's
// services, which the first program starts, would keep a pipe open.
func (w *wine) program(t *testing.T, line string) (cmd *exec.Cmd, printed func() string) {
	t.Helper()
	file := must.Get(os.CreateTemp(w.dir, "printed"))(t)
	t.Cleanup(func() { file.Close() })
	cmd = w.tool("wine", strings.Fields(line)...)
	cmd.Stdout, cmd.Stderr = file, file
	return cmd, func() string { return string(must.Get(os.ReadFile(file.Name()))(t)) }
}

// TestLongWindows runs the programs for Windows under Wine: it solves 4×5, stops and resumes a run that no other
// driver may enter, looks up, verifies, plays, and is refused what Windows has not.
func TestLongWindows(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	w := newWine(t)
	expect := func(want int, parts string, stdin, line string) {
		t.Helper()
		cmd, printed := w.program(t, line)
		cmd.Stdin = strings.NewReader(stdin)
		_ = cmd.Run()
		status, out := cmd.ProcessState.ExitCode(), printed()
		for _, part := range strings.Split(parts, "|") {
			if status != want || !strings.Contains(out, part) {
				t.Errorf("%s: status %d, want %d with %q:\n%s", line, status, want, part, out)
			}
		}
	}
	const solve, small = "driver.exe solve connectn --connect 3 --data ", " --width 4 --height 5"
	expect(0, "X wins in 11 moves|195,472 positions", "", solve+`C:\games\four`+small)
	expect(0, "X wins in 11 moves", "", solve+"c:/games/four --resume"+small)

	expect(0, "PASS", "", "system.exe -test.run WhileShared")
	scanner := w.tool("wine", "system.exe", "scanned")
	scanner.Env = append(scanner.Env, "SYSTEM_TEST=scanner")
	must.OK(t, scanner.Start())
	for range 4 {
		expect(0, "X wins in 11 moves", "", solve+"scanned --overwrite"+small)
	}
	must.OK(t, scanner.Process.Kill())
	scanner.Wait()

	first, printed := w.program(t, "driver.exe solve connectn --width 6 --height 5 --connect 4 --data five")
	must.OK(t, first.Start())
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	for begun := filepath.Join(w.dir, "five", "data_first3"); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("%v: %s", err, printed())
		default:
		}
	}
	const again = "driver.exe solve connectn --width 6 --height 5 --connect 4 --until-tier 12 --data five"
	expect(1, "another driver is at work in it", "", again)
	must.OK(t, first.Process.Signal(os.Interrupt))
	if <-ended; first.ProcessState.ExitCode() != 130 || !strings.Contains(printed(), "stopped; --resume continues") {
		t.Errorf("at Ctrl-C: %v: %s", first.ProcessState, printed())
	}
	expect(0, "", "", again+" --resume")

	expect(0, "you win at once", "2 2 1 1\n", `driver.exe lookup --data C:\games\four`)
	expect(0, "all correct", "", `driver.exe verify --data C:\games\four`)
	expect(0, "X (human): |O (machine): ", "human\n2\nquit\n", `play.exe connectn`+small+` --connect 3 --data C:\games\four`)
	expect(2, "use --runner inline", "", solve+"pipe --runner pipe"+small)
	expect(0, "", "", "mapper.exe --help")
	here := filepath.Join(t.TempDir(), "four")
	process.Output(t, exec.Command("driver", strings.Fields("solve connectn --width 4 --height 5 --connect 3 --data "+here)...))
	const there = "prefix/drive_c/games/four"
	process.Output(t, exec.Command("driver", "compare", here, filepath.Join(w.dir, there)))
}
