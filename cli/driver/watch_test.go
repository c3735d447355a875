//go:build linux && !race

package driver_test

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

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// prometheus returns the program prometheus: make test-long unpacks Debian's.
func prometheus(t *testing.T) string {
	t.Helper()
	if name, err := exec.LookPath("prometheus"); err == nil {
		return name
	}
	name := must.Get(filepath.Abs("../../build/prometheus/usr/bin/prometheus"))(t)
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
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile("../../docs/grafana.json"))(t), &dashboard))
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
	cmd := exec.Command("driver", "solve", "connectn", "--data", "d", "--runner", "pipe", "--reducers", "1", "--metrics", "0",
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

	left, err := queries(t), error(nil)
	must.Until(t, func() bool {
		for name, query := range left {
			var data bool
			if data, err = evaluate(address, query); data {
				delete(left, name)
			}
		}
		return len(left) == 0
	}, func() string {
		text, _ := os.ReadFile(output.Name())
		return fmt.Sprintf("no data for %q, %v\n%s", left, err, text)
	})
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
