package metrics

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestServe requests metrics while clients that send nothing hold connections, and checks that the server ends.
func TestServe(t *testing.T) {
	l := must.Get(Listen("0"))(t)
	defer l.Close()
	Serve(l, []string{"node1"}, func(out io.Writer) error {
		_, err := io.WriteString(out, "metric 1\n")
		return err
	})
	for range workers - 1 {
		defer must.Get(net.Dial("tcp", l.Addr().String()))(t).Close()
	}
	for _, test := range []struct {
		host, method, path string
		status             int
		body               string
	}{
		{"", "GET", "/metrics", 200, "metric 1\n"},
		{"", "GET", "/metrics?x=y", 200, "metric 1\n"},
		{"", "HEAD", "/metrics", 200, ""},
		{"", "GET", "/", 404, ""},
		{"", "POST", "/metrics", 405, ""},
		{"localhost", "GET", "/metrics", 200, "metric 1\n"},
		{"Node1:9090", "GET", "/metrics", 200, "metric 1\n"},
		{"[::1]:9090", "GET", "/metrics", 200, "metric 1\n"},
		{"node2:9090", "GET", "/metrics", 421, ""},
		{"evil.test", "GET", "/", 421, ""},
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), test.method, "http://"+l.Addr().String()+test.path, nil))(t)
		request.Host = test.host // "": that of the address
		answer := must.Get(http.DefaultClient.Do(request))(t)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if kind := answer.Header.Get("Content-Type"); err != nil || answer.StatusCode != test.status || string(body) != test.body || test.status == 200 && kind != ContentType {
			t.Errorf("%s: %s %s: %s, %s, %q, %v", test.host, test.method, test.path, answer.Status, kind, body, err)
		}
	}
	l.Close()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it accepts connections after its end")
	}
}

// TestFailing checks that a client gets no answer if the metrics cannot be written, and that the server goes on.
func TestFailing(t *testing.T) {
	l := must.Get(Listen(":0"))(t)
	defer l.Close()
	Serve(l, nil, func(io.Writer) error { return errors.New("no metrics") })
	for range 2 * workers {
		if answer, err := http.Get("http://" + l.Addr().String() + "/metrics"); err == nil {
			answer.Body.Close()
			t.Error(answer.Status)
		}
	}
}

// TestListen checks which addresses are this machine's alone.
func TestListen(t *testing.T) {
	for address, loopback := range map[string]bool{"0": true, ":0": true, "localhost:0": true, "127.0.0.1:0": true, "0.0.0.0:0": false} {
		l := must.Get(Listen(address))(t)
		if got := l.Addr().(*net.TCPAddr).IP.IsLoopback(); got != loopback {
			t.Errorf("%s listens at %s", address, l.Addr())
		}
		l.Close()
	}
	for _, address := range []string{"x", "localhost:99999", "1:2:3"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%q listens at %s", address, l.Addr())
		}
	}
}
