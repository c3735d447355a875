package hadoop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// FindCommand finds the hadoop command: the one that is named, or the one in
// PATH, or that of HADOOP_HOME.
func FindCommand(name string) (string, error) {
	if name != "" {
		return lookPath(name)
	}
	if found, err := exec.LookPath("hadoop"); err == nil {
		return found, nil
	}
	if home := os.Getenv("HADOOP_HOME"); home != "" {
		return lookPath(filepath.Join(home, "bin", "hadoop"))
	}
	return "", errors.New("no hadoop command: not in PATH, and HADOOP_HOME is not set (--hadoop names one)")
}

// lookPath finds a command, and says which it was if there is none.
func lookPath(name string) (string, error) {
	found, err := exec.LookPath(name)
	var e *exec.Error
	if errors.As(err, &e) {
		var place *fs.PathError
		if errors.As(e.Err, &place) {
			e.Err = place.Err // which does not name it again
		}
		return "", fmt.Errorf("hadoop command %s: %w", name, e.Err)
	}
	return found, err
}

// jarPlaces are where distributions put the streaming jar, by patterns: Apache's
// layout, Amazon EMR's, CDH's.
func jarPlaces() []string {
	var places []string
	if home := os.Getenv("HADOOP_HOME"); home != "" {
		places = append(places, home+"/share/hadoop/tools/lib/hadoop-streaming*.jar", home+"/lib/hadoop-streaming*.jar")
	}
	return append(places,
		"/usr/lib/hadoop/hadoop-streaming*.jar",
		"/usr/lib/hadoop-mapreduce/hadoop-streaming*.jar",
		"/opt/cloudera/parcels/CDH/lib/hadoop-mapreduce/hadoop-streaming*.jar")
}

// FindStreamingJar finds the streaming jar: the one that is named, or the one
// that HADOOP_STREAMING_JAR names, or one in a distribution's place.
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
