package metrics

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestServe requests metrics while clients that send nothing hold connections, of which the server takes a few, and checks that
// the server ends.
func TestServe(t *testing.T) {
	l := must.Get(Listen("0"))(t)
	defer l.Close()
	Serve(l, []string{"node1"}, func(out io.Writer) error {
		_, err := io.WriteString(out, "metric 1\n")
		return err
	})
	for range connections - 1 {
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
		{"evil.test", "GET", "/metrics", 421, ""},
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), test.method, "http://"+l.Addr().String()+test.path, nil))(t)
		request.Host = test.host // "": that of the address
		answer := must.Get(http.DefaultClient.Do(request))(t)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if kind := answer.Header.Get("Content-Type"); err != nil || answer.StatusCode != test.status || test.status == 200 && string(body) != test.body || test.status == 200 && kind != ContentType {
			t.Errorf("%s: %s %s: %s, %s, %q, %v", test.host, test.method, test.path, answer.Status, kind, body, err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	for range connections {
		defer must.Get(net.Dial("tcp", l.Addr().String()))(t).Close()
	}
	c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer c.Close()
	io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n") // the server may have closed it
	if answer, err := io.ReadAll(c); len(answer) > 0 {
		t.Errorf("one connection more than %d has the answer %q, %v", connections, answer, err)
	}
	l.Close()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it accepts connections after its end")
	}
}

// TestFailing checks that a client gets an error if the metrics cannot be written, and that the server goes on.
func TestFailing(t *testing.T) {
	l := must.Get(Listen(":0"))(t)
	defer l.Close()
	Serve(l, nil, func(io.Writer) error { return errors.New("no metrics") })
	for range 2 * connections {
		answer := must.Get(http.Get("http://" + l.Addr().String() + "/metrics"))(t)
		body := must.Get(io.ReadAll(answer.Body))(t)
		answer.Body.Close()
		if answer.StatusCode != http.StatusInternalServerError || string(body) != "no metrics\n" {
			t.Errorf("%s: %s", answer.Status, body)
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
