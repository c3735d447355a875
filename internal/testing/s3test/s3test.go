// Package s3test starts an S3 server for tests: moto's server, on loopback, without any
// connection to Amazon. moto comes from PyPI, with the AWS command line and botocore; they
// are installed once into the virtual environment build/emr-venv. The package knows nothing
// of the stored objects.
package s3test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Region is the region used in tests.
const Region = "us-east-1"

const (
	// requirements is the list of packages of the virtual environment, and venv its
	// directory, both relative to the root of the module.
	requirements = "internal/testing/emrtest/requirements.txt"
	venv         = "build/emr-venv"
	// startTime limits the start of the server, on a busy machine.
	startTime = 2 * time.Minute
)

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
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-ended
		_ = s.cmd.Wait()
	})
	found := make(chan string, 1)
	var said bytes.Buffer
	go func() {
		defer close(ended)
		defer close(found)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := running.FindSubmatch(lines.Bytes()); m != nil {
				found <- string(m[1])
				break
			}
			fmt.Fprintln(&said, lines.Text())
		}
		_, _ = io.Copy(io.Discard, stderr) // a line for each request
	}()
	select {
	case url, ok := <-found:
		if !ok {
			t.Fatalf("moto_server has ended: %s", said.String())
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

// Bin returns the directory of the programs of the virtual environment: python, aws and
// moto_server. It creates the environment if it is missing, or if requirements have
// changed.
func Bin(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, venv)
	if err := makeVenv(t.Context(), dir, filepath.Join(root, requirements), t.Output()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "bin")
}

// moduleRoot returns the root directory of the module in which a test runs.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s: no go.mod here or above", dir)
		}
	}
}

// makeVenv creates a virtual environment with the packages of a requirements file. A copy
// of that file, which is written last, marks the environment as complete.
func makeVenv(ctx context.Context, dir, required string, progress io.Writer) error {
	want, err := os.ReadFile(required)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer lock.Close()
	// Tests of other packages may create it at the same time.
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	mark := filepath.Join(dir, "requirements.txt")
	have, err := os.ReadFile(mark)
	if err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(progress, "making %s\n", dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	// Without its own pip, because Debian's Python does not include ensurepip.
	for _, args := range [][]string{
		{"-m", "venv", "--without-pip", dir},
		{"-m", "pip", "--python", filepath.Join(dir, "bin", "python"), "install", "--quiet",
			"--no-deps", "--no-compile", "--disable-pip-version-check", "-r", required},
	} {
		if out, err := exec.CommandContext(ctx, "python3", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("python3 %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return os.WriteFile(mark, want, 0o666)
}
