//go:build linux && !race

package play_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestWeb serves the data directory of docs/play/web.md before it exists, solves the game, requests
// what the page requests, and compares the answer.
func TestWeb(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../../docs/play/web.md"))(t))
	solve := regexp.MustCompile(`\$ bin/driver (.*)\n`).FindStringSubmatch(page)
	request := regexp.MustCompile(`\$ curl 'http://localhost:8080(.*)'\n    (.*\n)`).FindStringSubmatch(page)
	note := regexp.MustCompile(`\n    (play: .*\n)`).FindStringSubmatch(page)
	if solve == nil || request == nil || note == nil {
		t.Fatal("docs/play/web.md has no example")
	}
	dir := filepath.Join(t.TempDir(), "all_data")
	address, stop := startWebIn(t, "", "--data", dir)
	process.Output(t, exec.Command("driver", append(strings.Fields(solve[1]), "--data", dir)...))
	get(t, address+"/") // opens the table
	if body := get(t, address+request[1]); body != request[2] {
		t.Errorf("%s\nbut the page has\n%s", body, request[2])
	}
	if got, want := stop(), strings.ReplaceAll(note[1], "six", dir); got != want {
		t.Errorf("stderr %q, but the page has %q", got, want)
	}
}

// TestWebData checks that play web shows the table of all_data without --data, that a comma is part of a name, and that a second
// directory with the same game is reported.
func TestWebData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a,b"), filepath.Join(dir, "second")
	for _, name := range []string{filepath.Join(dir, "all_data"), first, second} {
		process.Output(t, exec.Command("driver", append(strings.Fields("solve connectn --width 3 --height 3 --connect 3"), "--data", name)...))
	}
	for _, test := range []struct {
		args   []string
		stderr string
	}{
		{nil, ""},
		{[]string{"--data", first}, ""},
		{[]string{"--data", first, "--data", second},
			"play: " + second + ": the page shows the table of " + first + ", which has the same game; leave out --data " + first + " to show this one\n"},
	} {
		address, stop := startWebIn(t, dir, test.args...)
		if body := get(t, address+"/"); strings.Count(body, "<li data-solved>") != 1 {
			t.Errorf("%v: expected one solved game in %s", test.args, body)
		}
		if stderr := stop(); stderr != test.stderr {
			t.Errorf("%v: stderr %q, want %q", test.args, stderr, test.stderr)
		}
	}
}

// startWebIn starts play web in a directory. It returns its address, and a function that ends it and returns what
// it has written to stderr.
func startWebIn(t *testing.T, dir string, args ...string) (address string, stop func() (stderr string)) {
	t.Helper()
	server := exec.Command("play", append([]string{"web", "--listen", "localhost:0"}, args...)...)
	server.Dir = dir
	var stderr bytes.Buffer
	server.Stderr = &stderr
	stdout := must.Get(server.StdoutPipe())(t)
	must.OK(t, server.Start())
	t.Cleanup(func() { server.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return strings.TrimSuffix(line, "/\n"), func() string {
		t.Helper()
		must.OK(t, server.Process.Signal(syscall.SIGTERM))
		if err := server.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
		return stderr.String()
	}
}

// TestWatching checks the examples of docs/watching.md: the metrics of play web, and the log of driver.
func TestWatching(t *testing.T) {
	t.Parallel()
	page, dir := string(must.Get(os.ReadFile("../../docs/watching.md"))(t)), t.TempDir()
	commands := regexp.MustCompile(`(?m)^    \$ bin/driver (.*)\n`).FindAllStringSubmatch(page, -1)
	metrics := regexp.MustCompile(`(?m)^    (treereduce_\w+{.*} \d+)$`).FindAllStringSubmatch(page, -1)
	log := regexp.MustCompile(`(?m)^    ({"time":.*\n)`).FindAllStringSubmatch(page, -1)
	if len(commands) != 2 || len(metrics) == 0 || len(log) == 0 {
		t.Fatalf("docs/watching.md has %d commands, %d metrics and %d lines of a log", len(commands), len(metrics), len(log))
	}
	run := func(words string) (stderr string) {
		cmd := exec.Command("driver", strings.Fields(words)...)
		cmd.Dir = dir
		status, _, stderr := process.Run(cmd)
		if status != 0 {
			t.Fatalf("%s: %s", words, stderr)
		}
		return stderr
	}
	run(commands[0][1])
	address, stop := startWebIn(t, dir, "--data", "four")
	answer := get(t, address+"/metrics")
	for _, want := range metrics {
		if !strings.Contains(answer, "\n"+want[1]+"\n") {
			t.Errorf("no %s in\n%s", want[1], answer)
		}
	}
	stop()
	want := ""
	for _, line := range log {
		want += line[1]
	}
	changing := regexp.MustCompile(`"(time":".*?"|seconds":[0-9.e-]+)`)
	if got := changing.ReplaceAllString(run(commands[1][1]), ""); got != changing.ReplaceAllString(want, "") {
		t.Errorf("the log is\n%s\nbut the page has\n%s", got, want)
	}
}

// get returns the body of the answer to a request, which must succeed.
func get(t *testing.T, address string) string {
	t.Helper()
	answer := must.Get(http.Get(address))(t)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", address, answer.Status, err, body)
	}
	return string(body)
}
