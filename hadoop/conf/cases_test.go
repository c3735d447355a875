package conf

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// A confCase is a configuration in testdata/cases.txt.
type confCase struct {
	name        string
	files       map[string]string
	want        string // what Hadoop reads: a line for each property, or "refused"
	unsupported string // text of the error of Load, if Load does not read what Hadoop reads
}

// readCases reads testdata/cases.txt, and writes the configurations to folders of dir.
func readCases(t *testing.T, dir string) (cases []*confCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases.txt"))
	must.OK(t, err)
	escaped := regexp.MustCompile(`\\x[0-9a-f]{2}`)
	for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
		c := &confCase{files: make(map[string]string)}
		sections := strings.Split(part, "\n-- ")
		c.name = sections[0]
		for _, section := range sections[1:] {
			name, body, _ := strings.Cut(section, "\n")
			if name != "want" {
				c.files[name] = escaped.ReplaceAllStringFunc(body, func(s string) string {
					n, _ := strconv.ParseUint(s[2:], 16, 8)
					return string([]byte{byte(n)})
				})
				continue
			}
			for line := range strings.Lines(body) {
				line = strings.TrimSuffix(line, "\n") + "\n"
				if text, ok := strings.CutPrefix(line, "unsupported: "); ok {
					c.unsupported = strings.TrimSpace(text)
				} else if line != "\n" {
					c.want += line
				}
			}
		}
		for name, body := range c.files {
			name = filepath.Join(dir, c.name, name)
			must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
			must.OK(t, os.WriteFile(name, []byte(body), 0o644))
		}
		cases = append(cases, c)
	}
	if len(cases) < 40 {
		t.Fatalf("%d cases", len(cases))
	}
	return cases
}

// setEnvironment sets the variables to which the cases refer.
func setEnvironment(t *testing.T) {
	t.Setenv("TREEREDUCE_TEST_SET", "here")
	t.Setenv("TREEREDUCE_TEST_EMPTY", "")
}

// TestCases reads the configurations of testdata/cases.txt as Hadoop does.
func TestCases(t *testing.T) {
	setEnvironment(t)
	dir := t.TempDir()
	for _, c := range readCases(t, dir) {
		conf, err := Load(filepath.Join(dir, c.name))
		switch {
		case c.unsupported != "":
			if err == nil || !strings.Contains(err.Error(), c.unsupported) || !strings.Contains(err.Error(), "-site.xml: ") {
				t.Errorf("%s: %v, want an error with %q", c.name, err, c.unsupported)
			}
			continue
		case c.want == "refused\n":
			if err == nil {
				t.Errorf("%s: %q, want an error", c.name, conf)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got strings.Builder
		for _, name := range slices.Sorted(maps.Keys(conf)) {
			if strings.Trim(name, " ") == name { // Hadoop trims the names that it looks up
				fmt.Fprintf(&got, "%s=%q\n", name, conf[name])
			}
		}
		if got.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got.String(), c.want)
		}
	}
}
