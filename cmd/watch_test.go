//go:build linux

package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/process"
)

// TestWatching checks the examples of docs/watching.md: the metrics of play web, and the log of driver.
func TestWatching(t *testing.T) {
	t.Parallel()
	page, dir := readPage(t, "docs/watching.md"), t.TempDir()
	commands := regexp.MustCompile(`(?m)^    \$ bin/driver (.*)\n`).FindAllStringSubmatch(page, -1)
	metrics := regexp.MustCompile(`(?m)^    (treereduce_\w+{.*} \d+)$`).FindAllStringSubmatch(page, -1)
	log := regexp.MustCompile(`(?m)^    ({"time":.*\n)`).FindAllStringSubmatch(page, -1)
	if len(commands) != 2 || len(metrics) == 0 || len(log) == 0 {
		t.Fatalf("docs/watching.md has %d commands, %d metrics and %d lines of a log", len(commands), len(metrics), len(log))
	}
	run := func(words string) (stderr string) {
		cmd := exec.Command(filepath.Join(bin, "driver"), strings.Fields(words)...)
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

// prometheus returns the program prometheus: make test-long unpacks Debian's.
func prometheus(t *testing.T) string {
	t.Helper()
	if name, err := exec.LookPath("prometheus"); err == nil {
		return name
	}
	name := must.Get(filepath.Abs("../build/prometheus/usr/bin/prometheus"))(t)
	if _, err := os.Stat(name); err != nil {
		if _, missing := exec.LookPath("apt-get"); missing == nil {
			t.Fatalf("%v: make test-long unpacks it", err)
		}
		t.Skip("no prometheus here")
	}
	return name
}

// queries returns the queries of the dashboard by the titles of their panels, without Grafana's variables.
func queries(t *testing.T) map[string]string {
	t.Helper()
	var dashboard struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			Title   string
			Targets []struct{ RefID, Expr string }
		}
	}
	must.OK(t, json.Unmarshal([]byte(readPage(t, "docs/grafana.json")), &dashboard))
	all := make(map[string]string)
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			all[p.Title+" "+q.RefID] = strings.NewReplacer("$data", ".*", "$__rate_interval", "1m").Replace(q.Expr)
		}
	}
	for _, v := range dashboard.Templating.List {
		if m := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`).FindStringSubmatch(v.Query); m != nil {
			all["variable "+v.Name] = fmt.Sprintf(`%s{%s!=""}`, m[1], m[2])
		} else if v.Type == "query" {
			t.Errorf("variable %s: %s", v.Name, v.Query)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d queries", len(all))
	}
	return all
}

// TestLongPrometheus evaluates each query of the dashboard in a Prometheus that scrapes a driver, whose run waits in
// the retrograde pass. Each must return data.
func TestLongPrometheus(t *testing.T) {
	longtest.Skip(t)
	program, dir := prometheus(t), t.TempDir()
	cmd := exec.Command(filepath.Join(bin, "driver"), "solve", "connectn", "--data", "d", "--runner", "pipe", "--reducers", "1", "--metrics", "0",
		"--program", "solve_map=sleep 1000; solve_map")
	cmd.Dir = dir
	stderr := must.Get(cmd.StderrPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	var target string
	if _, err := fmt.Fscanf(stderr, "driver: metrics: %s\n", &target); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, stderr)
	host := must.Get(url.Parse(target))(t).Host

	free := must.Get(net.Listen("tcp", "localhost:0"))(t)
	address := free.Addr().String()
	free.Close()
	config := fmt.Sprintf("scrape_configs: [{job_name: treereduce, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]\n", host)
	must.OK(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o666))
	server := exec.Command(program, "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--web.listen-address="+address)
	server.Dir = dir
	output := must.Get(os.Create(filepath.Join(dir, "log")))(t)
	server.Stdout, server.Stderr = output, output
	must.OK(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})

	left := queries(t)
	for begun := time.Now(); len(left) > 0; time.Sleep(100 * time.Millisecond) {
		for name, query := range left {
			data, err := evaluate(address, query)
			if data {
				delete(left, name)
			} else if time.Since(begun) > 2*time.Minute {
				text, _ := os.ReadFile(output.Name())
				t.Fatalf("no data for %q, %v\n%s\n%s", left, err, get(t, target), text)
			}
		}
	}
}

// evaluate reports whether a query of Prometheus returns data.
func evaluate(address, query string) (data bool, err error) {
	answer, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return false, err // it has not begun to listen
	}
	defer answer.Body.Close()
	var result struct {
		Error string
		Data  struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil || result.Error != "" {
		return false, fmt.Errorf("%s: %s, %w", query, result.Error, err)
	}
	return len(result.Data.Result) > 0, nil
}
