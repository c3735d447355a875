//go:build linux

package cmd_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestSize checks that only driver-aws contains the client of Amazon's services. scripts/release.sh bounds the sizes.
func TestSize(t *testing.T) {
	out := must.Get(exec.Command("go", "list", "-deps", "./driver", "./play", "./mapper", "./reducer").Output())(t)
	if strings.Contains(string(out), "/aws") {
		t.Error("a program besides driver-aws imports the client of Amazon's services")
	}
}
