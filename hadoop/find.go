package hadoop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	"github.com/treereduce/treereduce/hadoop/kerberos"
)

// FindCommand finds the hadoop command: the given one, or the one in PATH, in HADOOP_HOME, or
// in the directory of this program.
func FindCommand(name string) (string, error) {
	if name != "" {
		found, err := exec.LookPath(name)
		if e := new(exec.Error); errors.As(err, &e) {
			err = fmt.Errorf("hadoop command %s: %w", name, pathless(e.Err))
		}
		return found, err
	}
	if found, err := exec.LookPath("hadoop"); err == nil {
		return found, nil
	}
	var places []string
	if home := os.Getenv("HADOOP_HOME"); home != "" {
		places = append(places, filepath.Join(home, "bin", "hadoop"))
	}
	if self, err := os.Executable(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(self), "hadoop"))
	}
	for _, place := range places {
		if found, err := exec.LookPath(place); err == nil {
			return found, nil
		}
	}
	return "", errors.New("no hadoop command: not in PATH, nor in bin of HADOOP_HOME, nor beside this program (--hadoop names one)")
}

// pathless returns the error without the path that it contains.
func pathless(err error) error {
	if e := new(fs.PathError); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// home returns the directory where Hadoop is installed: HADOOP_HOME, or the installation of
// the hadoop command; "" if there is none.
func home() string {
	if home := os.Getenv("HADOOP_HOME"); home != "" {
		return home
	}
	command, err := FindCommand("")
	if err != nil {
		return ""
	}
	if command, err = filepath.EvalSymlinks(command); err != nil {
		return ""
	}
	return filepath.Dir(filepath.Dir(command))
}

// ConfDir returns the directory of Hadoop's configuration: HADOOP_CONF_DIR, or that of the
// installation, or that of the packages of distributions; "" if there is none.
func ConfDir() string {
	if dir := os.Getenv("HADOOP_CONF_DIR"); dir != "" {
		return dir
	}
	places := []string{"/etc/hadoop/conf"}
	if home := home(); home != "" {
		places = []string{filepath.Join(home, "etc", "hadoop"), filepath.Join(home, "conf"), places[0]}
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, "core-site.xml")); err == nil {
			return dir
		}
	}
	return ""
}

// jarPlaces returns patterns for the places of the streaming jar, in the layouts of Apache,
// Amazon EMR and CDH.
func jarPlaces() []string {
	var places []string
	if home := home(); home != "" {
		places = append(places, home+"/share/hadoop/tools/lib/hadoop-streaming*.jar", home+"/lib/hadoop-streaming*.jar")
	}
	return append(places,
		"/usr/lib/hadoop/hadoop-streaming*.jar",
		"/usr/lib/hadoop-mapreduce/hadoop-streaming*.jar",
		"/opt/cloudera/parcels/CDH/lib/hadoop-mapreduce/hadoop-streaming*.jar")
}

// FindStreamingJar finds the streaming jar: the given one, or HADOOP_STREAMING_JAR, or the one
// in a standard place of a distribution.
func FindStreamingJar(name string) (string, error) {
	if name == "" {
		name = os.Getenv("HADOOP_STREAMING_JAR")
	}
	if name != "" {
		if _, err := os.Stat(name); err != nil {
			return "", fmt.Errorf("streaming jar: %w", err)
		}
		return name, nil
	}
	for _, pattern := range jarPlaces() {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0], nil
		}
	}
	return "", errors.New("no streaming jar: HADOOP_STREAMING_JAR is not set, and none is in the usual places (--streaming-jar names one)")
}

// userName returns the user that reads and writes files: with Kerberos, that of the principal; otherwise
// HADOOP_USER_NAME, or the user of this process.
func userName() (string, error) {
	properties, err := configuration()
	if err != nil {
		return "", err
	}
	if secure(properties) {
		return kerberos.User()
	}
	if name := os.Getenv("HADOOP_USER_NAME"); name != "" {
		return name, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
