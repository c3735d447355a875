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
	"strconv"
	"strings"
)

// The versions of Java that Hadoop supports. Later ones lack the security manager, which
// Hadoop's login needs.
const (
	oldestJava = 11
	newestJava = 22
)

// The Debian packages to install if a tool is missing.
const (
	javaPackage  = "default-jre-headless"
	mavenPackage = "maven"
)

//go:embed pom.xml
var pom []byte

// needJava finds a Java for Hadoop and returns its home. On Debian, it installs one if
// there is none and the user is root.
func needJava(ctx context.Context, progress io.Writer) (home string, err error) {
	unlock, err := lockTools(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	home, why := findJava(ctx, javaCandidates())
	if home != "" {
		return home, nil
	}
	if err := install(ctx, javaPackage, progress); err != nil {
		return "", fmt.Errorf("cluster: Java %d to %d is missing (%w), and not installed: %w", oldestJava, newestJava, why, err)
	}
	if home, why = findJava(ctx, javaCandidates()); home == "" {
		return "", fmt.Errorf("cluster: Java %d to %d is missing (%w), though %s was installed", oldestJava, newestJava, why, javaPackage)
	}
	return home, nil
}

// javaCandidates returns the java programs to try, best first.
func javaCandidates() []string {
	var all []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		all = append(all, filepath.Join(home, "bin", "java"))
	}
	if java, err := exec.LookPath("java"); err == nil {
		all = append(all, java)
	}
	installed, err := filepath.Glob("/usr/lib/jvm/*/bin/java")
	if err != nil {
		return all
	}
	return append(all, installed...)
}

// findJava returns the home of the first candidate on which Hadoop can run, or an error
// with the reason.
func findJava(ctx context.Context, candidates []string) (home string, why error) {
	why = errors.New("no java in JAVA_HOME, PATH or /usr/lib/jvm")
	for i, java := range candidates {
		home, version, err := askJava(ctx, java)
		switch {
		case err == nil && oldestJava <= version && version <= newestJava:
			return home, nil
		case i > 0: // only the first is reported: it is the one that the user meant
		case err == nil:
			why = fmt.Errorf("%s is Java %d", java, version)
		default:
			why = err
		}
	}
	return "", why
}

// askJava runs java to get its home and version.
func askJava(ctx context.Context, java string) (home string, version int, err error) {
	out, err := exec.CommandContext(ctx, java, "-XshowSettings:properties", "-version").CombinedOutput()
	if err != nil {
		return "", 0, fmt.Errorf("%s: %w", java, err)
	}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "java.home":
			home = value
		case "java.specification.version":
			// Java 8 calls itself 1.8.
			version, err = strconv.Atoi(strings.TrimPrefix(value, "1."))
			if err != nil {
				return "", 0, fmt.Errorf("%s: %w", java, err)
			}
		}
	}
	if home == "" || version == 0 {
		return "", 0, fmt.Errorf("%s does not print its home and version", java)
	}
	return home, version, nil
}

// needJars returns the folder of the jars, and downloads them if it does not exist. The
// folder gets its name when it is complete. It contains the pom from which it was made: if
// the pom has changed, the folder is rebuilt.
func needJars(ctx context.Context, cache, java string, progress io.Writer) (string, error) {
	if cache == "" {
		dir, err := cacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(dir, "hadoop-"+Version)
	}
	cache, err := plainPath(cache)
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
	if have, err := os.ReadFile(filepath.Join(cache, "pom.xml")); err == nil && bytes.Equal(have, pom) {
		return cache, nil
	}
	mvn, err := needMaven(ctx, progress)
	if err != nil {
		return "", err
	}
	part := cache + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := os.Mkdir(part, 0o755); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := writeFile(filepath.Join(part, "pom.xml"), pom, 0o644); err != nil {
		return "", err
	}
	fmt.Fprintf(progress, "downloading Hadoop %s (93 MB) into %s\n", Version, cache)
	cmd := exec.CommandContext(ctx, mvn, "-B", "-q", "-f", filepath.Join(part, "pom.xml"),
		"dependency:copy-dependencies", "-DoutputDirectory="+part, "-DincludeScope=runtime")
	cmd.Env = append(os.Environ(), "JAVA_HOME="+java)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cluster: download Hadoop with %s: %w\n%s", mvn, err, lastLines(out, logLines))
	}
	if _, err := os.Stat(filepath.Join(part, "hadoop-streaming-"+Version+".jar")); err != nil {
		return "", fmt.Errorf("cluster: download Hadoop with %s: %w", mvn, err)
	}
	if err := os.RemoveAll(cache); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	if err := os.Rename(part, cache); err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	return cache, nil
}

// needMaven finds mvn. On Debian, it installs it if there is none and the user is root.
func needMaven(ctx context.Context, progress io.Writer) (string, error) {
	unlock, err := lockTools(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	if mvn, err := exec.LookPath("mvn"); err == nil {
		return mvn, nil
	}
	if err := install(ctx, mavenPackage, progress); err != nil {
		return "", fmt.Errorf("cluster: mvn (Maven) is missing, and not installed: %w", err)
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("cluster: Maven: %w", err)
	}
	return mvn, nil
}

// cacheDir returns the folder of downloads that all clusters of a user share.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cluster: no cache folder: %w", err)
	}
	return filepath.Join(dir, "treereduce"), nil
}

// lockTools allows one process at a time to look for a tool and install it: apt-get does
// not wait for another apt-get, and a tool that is only partly installed does not work.
func lockTools(ctx context.Context) (unlock func(), err error) {
	dir, err := cacheDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return lock(ctx, filepath.Join(dir, "tools.lock"))
}

// install installs a Debian package.
func install(ctx context.Context, name string, progress io.Writer) error {
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return errors.New("this is no Debian, install it by hand")
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("only root may, do: sudo apt-get install %s", name)
	}
	fmt.Fprintf(progress, "installing %s\n", name)
	for _, args := range [][]string{{"update", "-q"}, {"install", "-q", "-y", "--no-install-recommends", name}} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, lastLines(out, logLines))
		}
	}
	return nil
}
