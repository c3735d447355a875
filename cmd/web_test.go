package cmd_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
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
	server := exec.Command(filepath.Join(bin, "play"), "web", "--data", dir, "--listen", "localhost:0")
	var stderr bytes.Buffer
	server.Stderr = &stderr
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(bin, "driver"), append(strings.Fields(solve[1]), "--data", dir)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if answer, err := http.Get(strings.TrimSuffix(address, "\n") + "api/runs/"); err != nil { // opens the table
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	answer, err := http.Get(strings.TrimSuffix(address, "/\n") + request[1])
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != request[2] {
		t.Errorf("%v: %s\nbut the page has\n%s", err, body, request[2])
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if want := strings.ReplaceAll(note[1], "six", dir); stderr.String() != want {
		t.Errorf("stderr %q, but the page has %q", stderr.String(), want)
	}
}
