//go:build emr

package s3test_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/cloud/internal/testing/s3test"
)

// TestMotoStart checks that aws can store and retrieve an object, and reaches no other server.
func TestMotoStart(t *testing.T) {
	s := s3test.Start(t)
	aws := func(input string, args ...string) (string, error) {
		cmd := exec.Command(filepath.Join(s3test.Bin(t), "aws"), args...)
		cmd.Env, cmd.Stdin = append(s.Env(), "AWS_MAX_ATTEMPTS=1"), strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := aws("", "s3", "mb", "s3://bucket"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := aws("content", "s3", "cp", "-", "s3://bucket/a/b"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := aws("", "s3", "cp", "s3://bucket/a/b", "-"); err != nil || out != "content" {
		t.Errorf("%v: %q", err, out)
	}
	if out, err := aws("", "emr", "list-clusters", "--cli-connect-timeout", "1"); err == nil || !strings.Contains(out, "127.0.0.1:1") {
		t.Errorf("%v: %s", err, out)
	}
}
