package stream

import (
	"regexp"
	"strings"
	"testing"
)

func TestPathOf(t *testing.T) {
	for dir, want := range map[string]string{
		"d": "d", "/d": "/d", "/x:/y": "/x:/y",
		"hdfs://h:9000/d/e": "/d/e", "hdfs:///d": "/d", "hdfs:/d": "/d", "file:/d": "/d", "file:///d": "/d", "file:/": "/",
		"hdfs://h/100%25?#": "/100%25?#", // Hadoop does not escape paths
	} {
		if got, err := pathOf(dir); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", dir, got, err, want)
		}
	}
	for _, dir := range []string{"", "x:/y", "s3a://b/y", "HDFS:/y", "hdfs://h"} {
		if got, err := pathOf(dir); err == nil {
			t.Errorf("%q: %q, want an error", dir, got)
		}
	}
}

// FuzzPathOf checks that Hadoop's names of a path are converted back to it, and that all other
// names are unchanged.
func FuzzPathOf(f *testing.F) {
	for _, dir := range []string{"/d", "d", "x:/y", "hdfs://h:9000/d", "file:/d", "", "/%zz", "/a b?c#d", "/\n", "/"} {
		f.Add(dir)
	}
	hadoops := regexp.MustCompile(`^(hdfs|file):`)
	f.Fuzz(func(t *testing.T, dir string) {
		if got, err := pathOf(dir); err == nil && (got == "" || got != dir && !hadoops.MatchString(dir)) {
			t.Errorf("%q is %q", dir, got)
		}
		if !strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "//") {
			return
		}
		for _, name := range []string{dir, "hdfs://h:9000" + dir, "hdfs://" + dir, "file:" + dir} {
			if got, err := pathOf(name); got != dir || err != nil {
				t.Errorf("%q: %q, %v", name, got, err)
			}
		}
	})
}
