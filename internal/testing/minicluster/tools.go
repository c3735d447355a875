//go:build unix

package minicluster

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// The versions of Java that Hadoop supports. Later ones lack the security manager, which
// Hadoop's login needs.
const (
	oldestJava = 11
	newestJava = 22
)

//go:embed pom.xml
var pom []byte

// A jarFolder is a folder of jars in the user's cache, and how Maven makes it.
type jarFolder struct {
	name, what string
	pom        []byte
	goals      []string
	last       string // a file that must be there afterwards
}

var (
	hadoopJars = jarFolder{"hadoop-" + Version, "Hadoop " + Version + " (93 MB)", pom,
		[]string{"dependency:copy-dependencies"}, "hadoop-streaming-" + Version + ".jar"}
	kerberosJars = jarFolder{"kerberos-" + Version, "a KDC (42 MB)", kerberosPom,
		[]string{"dependency:copy-dependencies", "dependency:unpack-dependencies"}, filepath.Join(nativeLibrary(), "libhadoop.so")}
)

// javaHomes returns the Java installations to try, best first.
func javaHomes() []string {
	homes, _ := filepath.Glob("/usr/lib/jvm/*") // the pattern is valid
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			homes = append([]string{filepath.Dir(filepath.Dir(java))}, homes...)
		}
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		homes = append([]string{home}, homes...)
	}
	return homes
}

// javaVersion matches the version in the file release of a Java. Java 8 calls itself 1.8.
var javaVersion = regexp.MustCompile(`(?m)^JAVA_VERSION="(?:1\.)?(\d+)`)

// findJava returns the first of these installations on which Hadoop can run.
func findJava(homes []string) (home string, err error) {
	why := errors.New("none in JAVA_HOME, PATH or /usr/lib/jvm")
	for i, home := range homes {
		release, err := os.ReadFile(filepath.Join(home, "release"))
		version := 0
		if m := javaVersion.FindSubmatch(release); m != nil {
			version, _ = strconv.Atoi(string(m[1])) // only digits
		}
		if oldestJava <= version && version <= newestJava {
			return home, nil
		}
		switch {
		case i > 0: // only the first is reported: it is the one that the user meant
		case err != nil:
			why = err
		default:
			why = fmt.Errorf("%s is Java %d", home, version)
		}
	}
	return "", fmt.Errorf("cluster: Java %d to %d is missing (%w): install one (Debian: apt-get install default-jre-headless), or set JAVA_HOME", oldestJava, newestJava, why)
}

// need returns the name of the folder, and downloads the jars if it does not exist. The
// folder gets its name when it is complete. It contains the pom from which it was made: if
// the pom has changed, the folder is rebuilt.
func (j jarFolder) need(ctx context.Context, java string, progress io.Writer) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cluster: no cache folder: %w", err)
	}
	cache, err := plainPath(filepath.Join(caches, "treereduce", j.name))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(cache), 0o755); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	unlock, err := lock(ctx, cache+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if have, err := os.ReadFile(filepath.Join(cache, "pom.xml")); err == nil && bytes.Equal(have, j.pom) {
		return cache, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("cluster: Maven, which downloads Hadoop, is missing: install it (Debian: apt-get install maven): %w", err)
	}
	part := cache + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := os.Mkdir(part, 0o755); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := writeFile(filepath.Join(part, "pom.xml"), j.pom, 0o644); err != nil {
		return "", err
	}
	fmt.Fprintf(progress, "downloading %s into %s\n", j.what, cache)
	cmd := exec.CommandContext(ctx, mvn, append(j.goals, "-B", "-q", "-f", filepath.Join(part, "pom.xml"), "-DoutputDirectory="+part, "-DincludeScope=runtime")...)
	cmd.Env = append(os.Environ(), "JAVA_HOME="+java)
	out, err := cmd.CombinedOutput()
	if err == nil {
		_, err = os.Stat(filepath.Join(part, j.last))
	}
	if err != nil {
		return "", fmt.Errorf("cluster: download %s with %s: %w\n%s", j.what, mvn, err, lastLines(out))
	}
	if err := os.RemoveAll(cache); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := os.Rename(part, cache); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	return cache, nil
}
