package hadoop

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestInHDFS(t *testing.T) {
	for name, want := range map[string]bool{
		"d": false, "/d": false, "a/x:/y": false, "/x:/y": false, "a:b": false, "1:/b": false, " x:/y": false, "..": false,
		"hdfs://h/d": true, "hdfs://h:9000/d": true, "hdfs:///d": true,
	} {
		if there, err := InHDFS(name); there != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", name, there, err, want)
		}
	}
	for _, name := range []string{"", "x:/", "x:/y", "X:/y", "./x:/y", "a/../x:/y", "s3a://b/y", "file:///y", "hdfs:/y", "HDFS://h/y", "hdfs://h", "hdfs://h/", "hdfs://", "hdfs:///", "hdfs:////"} {
		if there, err := InHDFS(name); !errors.As(err, new(*NameError)) || there {
			t.Errorf("%q: %v, %v, want a NameError", name, there, err)
		}
	}
}

// FuzzInHDFS checks that no name that begins like one of another file system counts as a local
// path, and that the result of InDefault is a name in HDFS.
func FuzzInHDFS(f *testing.F) {
	for _, name := range []string{"d", "x:/y", "./x:/y", "hdfs://h:9000/d", "hdfs:///d", "hdfs:/d", "", "file:///d", "a/../b:/c", "//hdfs://h/d", "/", "../.."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		there, err := InHDFS(name)
		if there && (err != nil || !strings.HasPrefix(name, Scheme)) {
			t.Errorf("%q: in HDFS, %v", name, err)
		}
		scheme, _, colon := strings.Cut(filepath.Clean(name), ":/")
		if err == nil && !there && colon && scheme != "" && !strings.ContainsFunc(scheme, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r)
		}) {
			t.Errorf("%q is taken for a path", name)
		}
		inDefault, defaultErr := InDefault(name)
		if (defaultErr == nil) != (err == nil) {
			t.Errorf("%q: %v, by default %v", name, err, defaultErr)
		}
		if in, err := InHDFS(inDefault); defaultErr == nil && err == nil && !in { // InHDFS returns an error for the root
			t.Errorf("%q is by default %q: %v, %v", name, inDefault, in, err)
		}
	})
}
