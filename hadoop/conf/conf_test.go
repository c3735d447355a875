package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// site returns a file of properties.
func site(properties ...string) string {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n<configuration>\n")
	for i := 0; i < len(properties); i += 2 {
		fmt.Fprintf(&b, "  <property>\n    <name>%s</name>\n    <value>%s</value>\n  </property>\n", properties[i], properties[i+1])
	}
	return b.String() + "</configuration>\n"
}

func TestLoad(t *testing.T) {
	t.Setenv("YARN_TEST", "here")
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("an empty directory: %v", err)
	}
	for name, text := range map[string]string{
		"core-site.xml": site("hadoop.tmp.dir", "/tmp/x", "both", "core"),
		"yarn-site.xml": site("both", "yarn", " spaces ", "a b", "list", "a,\n  b",
			"yarn.nodemanager.log-dirs", "${hadoop.tmp.dir}/logs", "deep", "${${which}.dir}", "which", "hadoop.tmp",
			"self", "${self}", "pair", "${other}", "other", "${pair}", "unknown", "${user.name}/x", "open", "${a",
			"env", "${env.YARN_TEST}", "env2", "${env.YARN_NONE-no}", "env3", "${env.YARN_NONE:-no}", "env4", "${env.YARN_NONE}"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"both": "yarn", "spaces": "a b", "yarn.nodemanager.log-dirs": "/tmp/x/logs", "deep": "/tmp/x",
		"self": "${self}", "unknown": "${user.name}/x", "open": "${a",
		"env": "here", "env2": "no", "env3": "no", "env4": "${env.YARN_NONE}", "list": "a,\n  b",
	} {
		if got, ok := conf[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mapred-site.xml"), []byte("<configuration>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "mapred-site.xml") {
		t.Errorf("a broken file: %v", err)
	}
}

// FuzzXML checks that there is no panic, that names have no white space around them, and that
// values have bounded length, whatever they refer to.
func FuzzXML(f *testing.F) {
	f.Add(site("a", "${b}${b}", "b", "${a}x", "env", "${env.HOME:-x}"))
	f.Add("<configuration><property><name>a</name></property></configuration>")
	f.Add("<configuration")
	f.Fuzz(func(t *testing.T, text string) {
		conf, err := parseXML(strings.NewReader(text))
		if err != nil {
			return
		}
		for name, value := range conf {
			if name == "" || name != strings.TrimSpace(name) {
				t.Errorf("a property is named %q", name)
			}
			if got := expand(conf, value); len(got) > max(maxValue, len(value)) {
				t.Errorf("%d bytes became %d", len(value), len(got))
			}
		}
	})
}
