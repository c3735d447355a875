package hadoop

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Scheme is the prefix of names in HDFS: hdfs://host:port/path, hdfs://nameservice/path, or
// hdfs:///path for the default file system of the configuration.
const Scheme = "hdfs://"

// A NameError is the error for a name that is neither a local path nor a name in HDFS.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q: expected a path, or %shost:port/path, or %s/path", e.Name, Scheme, Scheme)
}

// otherScheme matches the beginning of a name in a file system that treereduce does not
// support, such as s3a://bucket/path or file:/path.
var otherScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:/`)

// InHDFS reports whether a name is in HDFS. A name with another scheme is an error, because it
// would be the wrong place if it were used as a local path.
func InHDFS(name string) (bool, error) {
	if rest, ok := strings.CutPrefix(name, Scheme); ok {
		if _, path, _ := strings.Cut(rest, "/"); strings.Trim(path, "/") == "" {
			return false, &NameError{name}
		}
		return true, nil
	}
	path := name[len(filepath.VolumeName(name)):] // after C: on Windows
	if strings.TrimSpace(name) == "" || otherScheme.MatchString(path) || otherScheme.MatchString(filepath.Clean(path)) {
		return false, &NameError{name}
	}
	return false, nil
}

// InDefault returns the name, with Scheme, of a file in the default file system. A relative
// name is relative to the user's home directory there. A name with a scheme is returned
// unchanged.
func InDefault(name string) (string, error) {
	if there, err := InHDFS(name); there || err != nil {
		return name, err
	}
	if strings.HasPrefix(name, "/") {
		return Scheme + name, nil
	}
	user, err := userName()
	return Scheme + path.Join("/user", user, name), err
}
