// Package s3test starts S3 servers for tests, on loopback, without any connection to Amazon: a
// fake in this process, or moto's server. moto comes from PyPI, with the AWS command line and
// botocore; make emr-venv installs them into a virtual environment. The package knows nothing of the
// stored objects.
package s3test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// Region is the region used in tests.
const Region = "us-east-1"

const (
	// requirements is the list of packages of the virtual environment, and venv its
	// directory, both relative to the root of the module.
	requirements = "cloud/internal/testing/emrtest/requirements.txt"
	venv         = "build/emr-venv"
)

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

// Bin returns the directory of the programs of the virtual environment: python, aws and
// moto_server.
func Bin(t testing.TB) string {
	t.Helper()
	root := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output())(t)
	in := func(name string) string { return filepath.Join(strings.TrimSpace(string(root)), name) }
	want := must.Get(os.ReadFile(in(requirements)))(t)
	// make writes this copy last.
	if have, err := os.ReadFile(in(venv + "/requirements.txt")); err != nil || !bytes.Equal(have, want) {
		t.Fatalf("%s is missing or not up to date: make emr-venv", in(venv))
	}
	return in(venv + "/bin")
}
