//go:build unix

package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/connectn"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// The load of BenchmarkWeb.
const (
	webTime  = 5 * time.Second // of each of the two loads
	webBusy  = 8               // connections that send the next request after each answer
	webPaced = 200             // connections that send requests at fixed times
	webRate  = 2500            // their requests a second
)

// BenchmarkWeb measures play web with the table of 5×5 connect 4: random positions as fast as
// they are answered, then at a fixed rate. A latency counts from the time at which the request
// was due. The clients are in this process, on the same cores.
func BenchmarkWeb(b *testing.B) {
	dir, _, _ := solved(b, "connectn --width 5 --height 5 --connect 4 --final no")
	server := exec.Command(filepath.Join(bin, "play"), "web", "--data", dir, "--listen", "localhost:0")
	stdout := must.Get(server.StdoutPipe())(b)
	must.OK(b, server.Start())
	b.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			b.Errorf("play web: %v", err)
		}
	})
	line := must.Get(bufio.NewReader(stdout).ReadString('\n'))(b)
	address := strings.TrimSuffix(strings.TrimPrefix(line, "http://"), "/\n")
	g := must.Get(connectn.New(5, 5, 4))(b)
	for b.Loop() {
		busy := load(b, address, g, webBusy, 0)
		paced := load(b, address, g, webPaced, webRate)
		report(b, float64(len(busy))/webTime.Seconds(), "answers/s", millis(busy, 99), "busy-ms-99%",
			float64(len(paced))/webTime.Seconds(), "paced/s", millis(paced, 50), "paced-ms-median", millis(paced, 99), "paced-ms-99%", float64(peak(server.Process.Pid))/1e6, "peak-MB")
	}
}

// millis returns a percentile of latencies in milliseconds.
func millis(latencies []time.Duration, percent int) float64 {
	slices.Sort(latencies)
	return latencies[len(latencies)*percent/100].Seconds() * 1000
}

// load requests random positions over several connections, and returns the latencies. A rate
// of 0 stands for as many requests as are answered.
func load(b *testing.B, address string, g game.Game, connections, rate int) []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	begun := time.Now()
	for c := range connections {
		wg.Go(func() {
			var every time.Duration
			if rate > 0 {
				every = time.Second * time.Duration(connections) / time.Duration(rate)
			}
			latencies, err := visit(address, g, uint64(c), begun.Add(every*time.Duration(c)/time.Duration(connections)), every, begun.Add(webTime))
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, latencies...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	if failed != nil {
		b.Fatal(failed)
	}
	return all
}

// visit sends requests over one connection until end: at due and then every so often, or one
// after the other if every is 0.
func visit(address string, g game.Game, seed uint64, due time.Time, every time.Duration, end time.Time) (latencies []time.Duration, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	r, answers := rand.New(rand.NewPCG(seed, 0)), bufio.NewReader(conn)
	for due.Before(end) {
		p := g.Start()
		for range r.IntN(25) {
			if moves := g.Moves(nil, p); len(moves) > 0 {
				p = moves[r.IntN(len(moves))].To
			}
		}
		time.Sleep(time.Until(due))
		if _, err := fmt.Fprintf(conn, "GET /api/connectn/5-5-4/positions/?p=0x%x HTTP/1.1\r\nHost: localhost\r\n\r\n", p); err != nil {
			return nil, err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("position %#x: status %d, %v", p, answer.StatusCode, err)
		}
		latencies = append(latencies, time.Since(due))
		if due = due.Add(every); every == 0 {
			due = time.Now()
		}
	}
	return latencies, nil
}
