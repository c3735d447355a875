package s3

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Scheme begins the name of a directory in S3: s3://bucket/path.
const Scheme = "s3://"

// A NameError is a name that begins with Scheme, but is not one of something in a bucket.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q: expected %sbucket/path", e.Name, Scheme)
}

// bucketName is what buckets are called; those that are older than 2018 may have capital
// letters and _, too.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$`)

// InS3 reports whether a name is meant for S3: whether it begins with Scheme.
func InS3(name string) bool { return strings.HasPrefix(name, Scheme) }

// Split splits a name into bucket and path, of which neither may be missing. What a path
// has twice or at its end, a /, is taken away. An error is a *NameError.
func Split(name string) (bucket, dir string, err error) {
	rest, ok := strings.CutPrefix(name, Scheme)
	bucket, dir, _ = strings.Cut(rest, "/")
	dir = keyOf(dir)
	if !ok || !bucketName.MatchString(bucket) || dir == "" || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", "", &NameError{name}
	}
	return bucket, dir, nil
}

// keyOf is the key of the object of a path; "" of the bucket itself.
func keyOf(name string) string {
	key := strings.TrimPrefix(path.Clean(name), "/")
	if key == "." {
		return ""
	}
	return key
}

// prefixOf is how the keys of all begin that lies below a path.
func prefixOf(name string) string {
	if key := keyOf(name); key != "" {
		return key + "/"
	}
	return ""
}
