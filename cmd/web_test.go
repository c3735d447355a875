//go:build linux

package cmd_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestWeb serves the data directory of docs/web.md before it exists, solves the game, requests
// what the page requests, and compares the answer.
func TestWeb(t *testing.T) {
	t.Parallel()
	page := readPage(t, "docs/web.md")
	solve := regexp.MustCompile(`\$ bin/driver (.*)\n`).FindStringSubmatch(page)
	request := regexp.MustCompile(`\$ curl 'http://localhost:8080(.*)'\n    (.*\n)`).FindStringSubmatch(page)
	note := regexp.MustCompile(`\n    (play: .*\n)`).FindStringSubmatch(page)
	if solve == nil || request == nil || note == nil {
		t.Fatal("docs/web.md has no example")
	}
	dir := filepath.Join(t.TempDir(), "all_data")
	address, stop := startWeb(t, "--data", dir)
	process.Output(t, exec.Command(filepath.Join(bin, "driver"), append(strings.Fields(solve[1]), "--data", dir)...))
	if answer, err := http.Get(address + "/api/runs/"); err != nil { // opens the table
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	answer := must.Get(http.Get(address + request[1]))(t)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != request[2] {
		t.Errorf("%v: %s\nbut the page has\n%s", err, body, request[2])
	}
	if got, want := stop(), strings.ReplaceAll(note[1], "six", dir); got != want {
		t.Errorf("stderr %q, but the page has %q", got, want)
	}
}

// TestWebData checks that play web shows all_data without --data, and that a comma is part of a name.
func TestWebData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"all_data", "a,b"} {
		drive(t, strings.Fields("solve connectn --width 3 --height 3 --connect 3"), filepath.Join(dir, name))
	}
	for want, args := range map[string][]string{"all_data": nil, filepath.Join(dir, "a,b"): {"--data", filepath.Join(dir, "a,b")}} {
		address, stop := startWebIn(t, dir, args...)
		answer := must.Get(http.Get(address + "/"))(t)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), "<span>"+want+"</span>") {
			t.Errorf("%v: no %s in %s; %v", args, want, body, err)
		}
		if stderr := stop(); stderr != "" {
			t.Errorf("%v: stderr %q", args, stderr)
		}
	}
}

// startWeb starts play web. It returns its address, and a function that ends it and returns what it
// has written to stderr.
func startWeb(t *testing.T, args ...string) (address string, stop func() (stderr string)) {
	t.Helper()
	return startWebIn(t, "", args...)
}

// startWebIn is startWeb in a directory.
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

// TestWebLookup compares 200 random positions in the interface of play web with driver lookup. A
// second directory with the same game is reported.
func TestWebLookup(t *testing.T) {
	t.Parallel()
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	driver := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "driver"), args...)
		cmd.Stdin = strings.NewReader(stdin)
		status, stdout, stderr := process.Run(cmd)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, stderr)
		}
		return stdout
	}
	for _, dir := range []string{first, second} {
		driver("", "solve", "connectn", "--width", "4", "--height", "4", "--connect", "3", "--data", dir)
	}
	address, stop := startWeb(t, "--data", first, "--data", second)
	sample := driver("", "export", "--data", first, "--sample", "200", "--seed", "1", "--format", "jsonl")
	var keys strings.Builder
	for line := range strings.Lines(sample) {
		var p struct{ Hash uint64 }
		must.OK(t, json.Unmarshal([]byte(line), &p))
		fmt.Fprintf(&keys, "#%d\n", p.Hash)
	}
	compared := 0
	for line := range strings.Lines(driver(keys.String(), "lookup", "--data", first, "--json")) {
		type move struct {
			Move       string
			Value      string
			Remoteness int
		}
		var want struct {
			Input, Position, Value string
			Remoteness             int
			Moves                  []move
		}
		must.OK(t, json.Unmarshal([]byte(line), &want))
		answer, err := http.Get(address + "/api/connectn/4-4-3/positions/?p=" + url.QueryEscape(want.Input))
		must.OK(t, err)
		var got struct {
			Position, PositionValue string
			Remoteness              int
			Moves                   []struct {
				Move, MoveValue string
				Remoteness      int // of the position after the move
			}
		}
		err = json.NewDecoder(answer.Body).Decode(&got)
		answer.Body.Close()
		must.OK(t, err)
		moves := map[string]move{}
		for _, m := range got.Moves {
			moves[m.Move] = move{m.Move, m.MoveValue, m.Remoteness + 1}
		}
		if got.Position[2:] != strings.ReplaceAll(want.Position, " ", ".") || got.PositionValue != want.Value || got.Remoteness != want.Remoteness || len(moves) != len(want.Moves) {
			t.Errorf("%+v, but lookup prints %s", got, line)
		}
		for _, m := range want.Moves {
			if moves[m.Move] != m {
				t.Errorf("move %+v, but lookup prints %s", moves[m.Move], line)
			}
		}
		compared++
	}
	if compared != 200 {
		t.Errorf("%d positions compared", compared)
	}
	if got, want := stop(), "play: "+second+": the page shows the table of "+first+", which has the same game; leave out --data "+first+" to show this one\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}
