package command

import "testing"

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		`C:\a "b" 'c' …äß日本 é`: `C:\a "b" 'c' …äß日本 é`,
		"two\nlines\r\n":       `two\nlines\r\n`,
		"a\tb\x00\a\b\v\f":     `a\tb\x00\a\b\v\f`,
		"\x1b[2Jred\x1b]0;t\a": `\x1b[2Jred\x1b]0;t\a`,
		"\x7f":                 `\x7f`,
		"\u0085\u009b2J":       `\u0085\u009b2J`,
		"\x9b2J\xff":           `\x9b2J\xff`,
		"\ufffd":               "\ufffd",
		"a\u202eb\u200b\u2028": `a\u202eb\u200b\u2028`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) = %q, want %q", text, got, want)
		}
	}
}
