package hadoop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestFind creates installations with the usual layouts, and checks that the command,
// configuration and jar of each are found.
func TestFind(t *testing.T) {
	for _, test := range []struct {
		name, conf, jar string
		env             []string // names of the variables to set: HADOOP_HOME, PATH
		link            bool     // the command in PATH is a link to that of the installation
	}{
		{"Apache's, by HADOOP_HOME", "etc/hadoop", "share/hadoop/tools/lib/hadoop-streaming-3.4.2.jar", []string{"HADOOP_HOME"}, false},
		{"by PATH", "etc/hadoop", "share/hadoop/tools/lib/hadoop-streaming-3.4.2.jar", []string{"PATH"}, false},
		{"by a link in PATH", "conf", "lib/hadoop-streaming.jar", []string{"PATH"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, links := t.TempDir(), t.TempDir()
			for _, name := range []string{"bin/hadoop", test.conf + "/core-site.xml", test.jar} {
				must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o777))
				must.OK(t, os.WriteFile(filepath.Join(home, name), nil, 0o777))
			}
			bin := filepath.Join(home, "bin")
			if test.link {
				must.OK(t, os.Symlink(filepath.Join(bin, "hadoop"), filepath.Join(links, "hadoop")))
				bin = links
			}
			values := map[string]string{"HADOOP_HOME": home, "PATH": bin}
			for _, name := range []string{"HADOOP_HOME", "HADOOP_CONF_DIR", "HADOOP_STREAMING_JAR", "PATH"} {
				t.Setenv(name, "")
			}
			for _, name := range test.env {
				t.Setenv(name, values[name])
			}
			if got, err := FindCommand(""); err != nil || filepath.Base(got) != "hadoop" {
				t.Errorf("command %q, %v", got, err)
			}
			if got, want := ConfDir(), filepath.Join(home, test.conf); got != want {
				t.Errorf("configuration %q, want %q", got, want)
			}
			if got, err := FindStreamingJar(""); got != filepath.Join(home, test.jar) {
				t.Errorf("jar %q, %v", got, err)
			}
		})
	}
}

// TestFindNot checks that files in the working directory are not taken for Hadoop.
func TestFindNot(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"HADOOP_HOME", "PATH"} {
		t.Setenv(name, "")
	}
	must.OK(t, os.Mkdir("bin", 0o777))
	must.OK(t, os.WriteFile("bin/hadoop", nil, 0o777))
	if got, err := FindCommand(""); err == nil {
		t.Errorf("found %s", got)
	}
}

// TestInDefault checks that a relative name is in the home directory of the Hadoop user.
func TestInDefault(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "alice")
	for name, want := range map[string]string{"all_data": "hdfs:///user/alice/all_data", "/all": "hdfs:///all"} {
		if got, err := InDefault(name); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
}
