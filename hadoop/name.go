package hadoop

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Scheme begins the name of a directory in HDFS: hdfs://host:port/path,
// hdfs://nameservice/path, or hdfs:///path in the default file system of the
// configuration.
const Scheme = "hdfs://"

// A NameError is a name that is neither a path of this machine nor one in HDFS.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q: expected a path, or %shost:port/path, or %s/path", e.Name, Scheme, Scheme)
}

// otherScheme is how a name begins that is meant for a file system which
// treereduce does not speak: s3a://bucket/path, file:/path.
var otherScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:/`)

// InHDFS reports whether a name is one in HDFS. A name with another scheme is an
// error: as a path of this machine it would be somewhere else than is meant.
func InHDFS(name string) (bool, error) {
	if rest, ok := strings.CutPrefix(name, Scheme); ok {
		if _, path, _ := strings.Cut(rest, "/"); strings.Trim(path, "/") == "" {
			return false, &NameError{name}
		}
		return true, nil
	}
	if strings.TrimSpace(name) == "" || otherScheme.MatchString(name) || otherScheme.MatchString(filepath.Clean(name)) {
		return false, &NameError{name}
	}
	return false, nil
}

// InDefault is the name, with Scheme, of a file of the default file system; one
// that does not begin with / lies in the user's folder there, and one that has a
// scheme is left as it is.
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
