// Package moto starts Amazon S3 and EMR for tests, on loopback and without any connection to Amazon: moto's server,
// whose clusters run their steps (service.py). moto comes from PyPI, with botocore and the AWS command line; make
// emr-venv installs them into a virtual environment. Faults can be put before the services.
package moto

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/faults"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// Region is the region used in tests.
const Region = "us-east-1"

// nowhere is an endpoint without a server.
const nowhere = "http://127.0.0.1:1"

// Environ returns the environment of this process without any AWS variables, plus invalid
// credentials, a region, and for every service an endpoint without a server.
func Environ() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") {
			env = append(env, v)
		}
	}
	return append(env,
		"AWS_ACCESS_KEY_ID=testing", "AWS_SECRET_ACCESS_KEY=testing",
		"AWS_REGION="+Region, "AWS_DEFAULT_REGION="+Region,
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true", "AWS_ENDPOINT_URL="+nowhere, "AWS_PAGER=")
}

// Use sets the variables of AWS to those in env, and unsets all others, until the end of the test.
func Use(t testing.TB, env []string) {
	t.Helper()
	for _, line := range os.Environ() {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for _, line := range env {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, value)
		}
	}
}

// root returns the directory of the module.
func root(t testing.TB) string {
	return strings.TrimSpace(string(must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output())(t)))
}

// dir is the directory of this package in the module.
const dir = "cloud/internal/testing/moto"

// Bin returns the directory of the programs of the virtual environment: python and aws.
func Bin(t testing.TB) string {
	t.Helper()
	venv := filepath.Join(root(t), "build", "emr-venv")
	want := must.Get(os.ReadFile(filepath.Join(root(t), dir, "requirements.txt")))(t)
	// make writes this copy last.
	if have, err := os.ReadFile(filepath.Join(venv, "requirements.txt")); err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%s is missing or not up to date: make emr-venv", venv)
	}
	return filepath.Join(venv, "bin")
}

// A Front is an address of moto's server before which faults can be put.
type Front struct {
	faults.Handler
	URL string
}

// A Server is a running moto. S3 is for the client; steps use the server itself.
type Server struct{ S3, EMR *Front }

// Start starts a server without buckets and clusters, with these variables in its environment (see service.py). It
// stops at the end of the test.
func Start(t testing.TB, env ...string) *Server {
	t.Helper()
	cmd := exec.Command(filepath.Join(Bin(t), "python"), filepath.Join(root(t), dir, "service.py"))
	cmd.Env = append(Environ(), env...)
	cmd.Stderr = os.Stderr
	if !testing.Verbose() {
		cmd.Stderr = nil // a line for each request
	}
	stdin := must.Get(cmd.StdinPipe())(t)
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("moto has ended: %v", err)
	}
	to := must.Get(url.Parse(strings.TrimSpace(line)))(t)
	front := func() *Front {
		f := new(Front)
		proxy := httputil.NewSingleHostReverseProxy(to)
		proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
		f.Next = proxy
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		f.URL = server.URL
		return f
	}
	return &Server{S3: front(), EMR: front()}
}

// Env returns the environment of this process for using this server. It contains nothing with which a program
// could reach Amazon, or use the caller's credentials.
func (s *Server) Env() []string {
	return append(Environ(), "AWS_ENDPOINT_URL_S3="+s.S3.URL, "AWS_ENDPOINT_URL_EMR="+s.EMR.URL)
}
