package streaming

import (
	"strings"
	"testing"
)

// TestCheckName checks that the error names the character that is not allowed.
func TestCheckName(t *testing.T) {
	for _, name := range []string{"/", "/user/me/all_data", "/a-b/c.d/é=(1)~$@!&;+'"} {
		if err := checkName(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"/a,b": `','`, "/a b": `' '`, "/x/[1]": `'['`, "/100%": `'%'`, "/a\tb": `'\t'`} {
		if err := checkName(name); err == nil || !strings.Contains(err.Error(), "no "+want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}
