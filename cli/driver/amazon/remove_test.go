package amazon

import (
	"strings"
	"testing"
)

// TestRemovalPrintable checks that driver-aws emr rm escapes control characters in its list: keys
// in a bucket and games in a manifest may contain any characters.
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
