package driver

import (
	"strings"
	"testing"
)

// Keys in a bucket and games in a manifest may have any characters: the list of driver emr rm
// has none that a terminal would obey.
func TestRemovalPrintable(t *testing.T) {
	var out strings.Builder
	r := &removal{groups: map[string]*removalGroup{"a\x1b[2Jb": {what: "game\r", data: true}}, others: 1, other: "c\nd"}
	if err := r.print(&out, bucketPlace{bucket: "bucket"}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\r") || strings.Count(text, "\n") != 2 {
		t.Errorf("%q", text)
	}
}
