package s3test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// startTime limits the start of the server, on a busy machine.
const startTime = 2 * time.Minute

// A Server is a running S3 server.
type Server struct {
	URL string // http://127.0.0.1:PORT
	cmd *exec.Cmd
}

// running matches the line in which the server prints its address.
var running = regexp.MustCompile(`Running on (http://127\.0\.0\.1:\d+)`)

// Start starts a server without buckets, which stops at the end of the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{cmd: exec.Command(filepath.Join(Bin(t), "moto_server"), "-H", "127.0.0.1", "-p", "0")}
	s.cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1")
	// The server is killed if the test process is killed.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	stderr := must.Get(s.cmd.StderrPipe())(t)
	must.OK(t, s.cmd.Start())
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-ended
		_ = s.cmd.Wait()
	})
	found := make(chan string, 1)
	var output bytes.Buffer
	go func() {
		defer close(ended)
		defer close(found)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := running.FindSubmatch(lines.Bytes()); m != nil {
				found <- string(m[1])
				break
			}
			fmt.Fprintln(&output, lines.Text())
		}
		_, _ = io.Copy(io.Discard, stderr) // a line for each request
	}()
	select {
	case url, ok := <-found:
		if !ok {
			t.Fatalf("moto_server has ended: %s", output.String())
		}
		s.URL = url
	case <-time.After(startTime):
		t.Fatalf("moto_server does not listen after %v", startTime)
	}
	return s
}

// Env returns the environment of this process for using this server as S3. It contains
// nothing with which a program could reach Amazon, or use the caller's credentials.
func (s *Server) Env() []string { return append(Environ(), "AWS_ENDPOINT_URL_S3="+s.URL) }
