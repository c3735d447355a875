package cmd_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestAWSInDriverAlone checks that only driver links the AWS packages, which make up a large
// part of it: not the steps, which a cluster starts by the thousand, and not play.
func TestAWSInDriverAlone(t *testing.T) {
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
	if found := of("./mapper", "./reducer", "./play"); len(found) > 0 {
		t.Errorf("linked into mapper, reducer or play: %s", strings.Join(found, ", "))
	}
	if len(of("./driver")) == 0 {
		t.Error("driver has none of it either")
	}
}
