//go:build hadoop

package conf

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/minicluster/clustertest"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestHadoopConfiguration compares testdata/cases.txt with Hadoop's class Configuration.
func TestHadoopConfiguration(t *testing.T) {
	setEnvironment(t)
	dir := t.TempDir()
	cases := readCases(t, dir)
	path, err := clustertest.Shared(t.Context(), t).Command(t.Context(), "classpath").Output()
	must.OK(t, err)
	args := []string{"-cp", strings.TrimSpace(string(path)), filepath.Join("testdata", "Compare.java")}
	for _, c := range cases {
		args = append(args, filepath.Join(dir, c.name))
	}
	java := exec.CommandContext(t.Context(), "java", args...)
	java.Stderr = t.Output()
	out, err := java.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	answers := strings.Split("\n"+string(out), "\n== ")[1:]
	if len(answers) != len(cases) {
		t.Fatalf("%d answers to %d cases", len(answers), len(cases))
	}
	for i, c := range cases {
		name, got, _ := strings.Cut(answers[i], "\n")
		if name != c.name || strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s: Hadoop reads\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
