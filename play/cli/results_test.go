package play

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	var b strings.Builder
	columns(&b, [][]string{{"", "±", "wins"}, {"Ä", "½", "10"}, {"囲碁", "1", "2"}, {"second", "-", ""}})
	const want = "        ±  wins\nÄ       ½    10\n囲碁    1     2\nsecond  -\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
