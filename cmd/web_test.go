//go:build linux

package cmd_test

import (
	"bufio"
	"bytes"
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
	page := readPage(t, "docs/play/web.md")
	solve := regexp.MustCompile(`\$ bin/driver (.*)\n`).FindStringSubmatch(page)
	request := regexp.MustCompile(`\$ curl 'http://localhost:8080(.*)'\n    (.*\n)`).FindStringSubmatch(page)
	note := regexp.MustCompile(`\n    (play: .*\n)`).FindStringSubmatch(page)
	if solve == nil || request == nil || note == nil {
		t.Fatal("docs/play/web.md has no example")
	}
	dir := filepath.Join(t.TempDir(), "all_data")
	address, stop := startWebIn(t, "", "--data", dir)
	process.Output(t, exec.Command(filepath.Join(bin, "driver"), append(strings.Fields(solve[1]), "--data", dir)...))
	get(t, address+"/api/runs/") // opens the table
	if body := get(t, address+request[1]); body != request[2] {
		t.Errorf("%s\nbut the page has\n%s", body, request[2])
	}
	if got, want := stop(), strings.ReplaceAll(note[1], "six", dir); got != want {
		t.Errorf("stderr %q, but the page has %q", got, want)
	}
}

// TestWebData checks that play web shows all_data without --data, that a comma is part of a name, and that a second
// directory with the same game is reported.
func TestWebData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a,b"), filepath.Join(dir, "second")
	for _, name := range []string{filepath.Join(dir, "all_data"), first, second} {
		drive(t, strings.Fields("solve connectn --width 3 --height 3 --connect 3"), name)
	}
	for _, test := range []struct {
		args         []string
		want, stderr string
	}{
		{nil, "all_data", ""},
		{[]string{"--data", first}, first, ""},
		{[]string{"--data", first, "--data", second}, first,
			"play: " + second + ": the page shows the table of " + first + ", which has the same game; leave out --data " + first + " to show this one\n"},
	} {
		address, stop := startWebIn(t, dir, test.args...)
		if body := get(t, address+"/"); !strings.Contains(body, "<span>"+test.want+"</span>") {
			t.Errorf("%v: no %s in %s", test.args, test.want, body)
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
	server := exec.Command(filepath.Join(bin, "play"), append([]string{"web", "--listen", "localhost:0"}, args...)...)
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
