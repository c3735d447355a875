package tail

import "testing"

// TestCause quotes the line that says why a program ended.
func TestCause(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"\n \n":             "",
		"starting\nfar\n\n": "far",
		"Main.java:3: error: ';' expected\n    String y = null\n                   ^\n1 error\nerror: compilation failed\n":    "Main.java:3: error: ';' expected",
		"note\nA.java:2: error: a\n  x\n  ^\nA.java:4: error: b\n  symbol:   method foo()\n  location: class Main\n2 errors\n": "A.java:2: error: a",
		"Exception in thread \"main\" java.lang.RuntimeException: boo\n\tat P.main(P.java:1)\n":                                `Exception in thread "main" java.lang.RuntimeException: boo`,
		"Exception in thread \"main\" X: a\n\tat P.f(P.java:2)\nCaused by: Y: b\n\tat P.g(P.java:3)\n\t... 1 more\n":           "Caused by: Y: b",
		"\tat P.main(P.java:1)\n": "at P.main(P.java:1)",
	} {
		var tail Tail
		tail.Write([]byte(text))
		if got := tail.Cause(100); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
