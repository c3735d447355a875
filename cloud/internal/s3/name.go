package s3

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Scheme is the prefix of names in S3: s3://bucket/path.
const Scheme = "s3://"

// A NameError is the error for a name that does not have the form s3://bucket/path.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q: expected %sbucket/path", e.Name, Scheme)
}

// bucketName matches the names of buckets. Those created before 2018 may also contain capital
// letters and underscores.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

// Split splits a name into bucket and path. Neither may be empty. It removes repeated and
// trailing slashes from the path. The error is a *NameError.
func Split(name string) (bucket, dir string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	bucket, dir, _ = strings.Cut(rest, "/")
	dir = keyOf(dir)
	if !ok || !bucketName.MatchString(bucket) || dir == "" || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", "", &NameError{name}
	}
	return bucket, dir, nil
}

// keyOf returns the key of the object at a path; "" is the bucket itself.
func keyOf(name string) string {
	key := strings.TrimPrefix(path.Clean(name), "/")
	if key == "." {
		return ""
	}
	return key
}

// prefixOf returns the common prefix of all keys below a path.
func prefixOf(name string) string {
	if key := keyOf(name); key != "" {
		return key + "/"
	}
	return ""
}
