//go:build hadoop

package hadoop_test

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/longtest"
	"github.com/treereduce/treereduce/internal/testing/minicluster"
	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// readmeLines are replacements for the parts of the commands' output that differ from run to
// run. The lines of Hadoop itself are not in the page.
var readmeLines = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`in [\d.]+ (µs|ms|s|min)`), "in N s"},
	{regexp.MustCompile(`/user/[^/]+/`), "/user/USER/"},
	{regexp.MustCompile(`(?m)^packageJobJar: .*\n`), ""},
}

// TestLongHadoopReadme runs all jobs of a game with cycles by hand.
func TestLongHadoopReadme(t *testing.T) {
	longtest.Skip(t)
	testReadme(t.Context(), t, clustertest.Shared(t.Context(), t), "notes/by-hand.md", "# Three Men's Morris by hand, on Hadoop")
}

// testReadme runs the jobs of a section of a page of docs, and compares their output with the
// page.
func testReadme(ctx context.Context, t *testing.T, c *minicluster.Cluster, name, heading string) {
	page, err := os.ReadFile(filepath.Join("..", "docs", name))
	must.OK(t, err)
	_, section, ok := strings.Cut("\n"+string(page), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/%s has no section %q", name, heading)
	}
	section, _, _ = strings.Cut(section, "\n#")
	script, want := "set -e -o pipefail\n"+regexp.MustCompile("(?m)^    \\$ (jar=.*\n)").FindStringSubmatch(string(page))[1], ""
	for line := range strings.Lines(section) {
		text, code := strings.CutPrefix(line, "    ")
		if command, ok := strings.CutPrefix(text, "$ "); code && ok {
			script += command
		} else if command, ok := strings.CutPrefix(text, "> "); code && ok {
			script += command
		} else if code {
			want += text
		}
	}
	u, err := user.Current()
	must.OK(t, err)
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = ".."
	cmd.Env = append(c.Env(), "USER="+u.Username)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s%s", err, script, out, stderr.String())
	}
	got := string(out)
	for _, l := range readmeLines {
		got, want = l.pattern.ReplaceAllString(got, l.to), l.pattern.ReplaceAllString(want, l.to)
	}
	if got != want {
		t.Errorf("the jobs of docs/%s print\n%s\nbut it has\n%s", name, got, want)
	}
}
