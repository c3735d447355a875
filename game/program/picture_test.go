package program_test

import (
	"strings"
	"testing"

	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestPicture checks that a board of a program has coordinates, and that a position which is only a text has none.
func TestPicture(t *testing.T) {
	wide := strings.Repeat(". ", 27)
	for _, test := range []struct{ header, answer, want string }{
		{`picture\n`, "X . O/. X .", "   a b c\n1  X . O\n2  . X .\n"},
		{`picture\n`, wide, "1  " + strings.TrimSpace(wide) + "\n"},
		{"", "", " 0\n"},
	} {
		g := must.Get(open(t, script(t, test.header, `pic*) echo "`+test.answer+`" ;; *) echo lose ;;`)).Kind().New([]int{0}))(t)
		if got := g.Picture(g.Start()).String(); got != test.want {
			t.Errorf("%q: the picture is\n%swant\n%s", test.answer, got, test.want)
		}
	}
}
