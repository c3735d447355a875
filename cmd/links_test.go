package cmd_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAWSInDriverAWSAlone checks that only driver-aws links the AWS packages, which make up a
// large part of it.
func TestAWSInDriverAWSAlone(t *testing.T) {
	of := func(names ...string) (found []string) {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, names...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for pkg := range strings.Lines(string(out)) {
			if strings.HasPrefix(pkg, "github.com/aws/") {
				found = append(found, strings.TrimSpace(pkg))
			}
		}
		return found
	}
	if found := of("./driver", "./mapper", "./reducer", "./play"); len(found) > 0 {
		t.Errorf("linked into driver, mapper, reducer or play: %s", strings.Join(found, ", "))
	}
	if len(of("./driver-aws")) == 0 {
		t.Error("not linked into driver-aws either")
	}
}
