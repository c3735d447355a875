package conf

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
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

// TestLoad checks what testdata/cases.txt cannot contain: the home directory, and which directory or file
// an error names.
func TestLoad(t *testing.T) {
	me, err := user.Current()
	must.OK(t, err)
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("an empty directory: %v", err)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(site("home", "${user.home}/${user.name}")), 0o666))
	conf, err := Load(dir)
	if want := me.HomeDir + "/" + me.Username; err != nil || conf["home"] != want {
		t.Errorf("%q, %v, want %q", conf["home"], err, want)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, "mapred-site.xml"), []byte("<configuration>"), 0o666))
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "mapred-site.xml") {
		t.Errorf("a broken file: %v", err)
	}
}

// FuzzXML checks that there is no panic, and that values have bounded length, whatever they refer to.
func FuzzXML(f *testing.F) {
	f.Add(site("a", "${b}${b}", "b", "${a}x", "env", "${env.HOME:-x}"))
	f.Add("<configuration><property><name>a</name></property></configuration>")
	f.Add("<configuration")
	f.Add(`<!DOCTYPE c [<!ENTITY a "&b;&b;"><!ENTITY b "&a;&#65;">]><c><property name="a" value="&a;"/></c>`)
	f.Fuzz(func(t *testing.T, text string) {
		conf := make(map[string]string)
		if add(conf, make(map[string]bool), []byte(text)) != nil {
			return
		}
		for _, value := range conf {
			if got := expand(conf, value); len(got) > (maxExpansions+1)*len(text) {
				t.Errorf("%d bytes became %d", len(value), len(got))
			}
		}
	})
}
