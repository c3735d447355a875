package command

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable escapes the characters of text that a terminal does not print as they are: control
// characters (including newline, tab and DEL), format characters, and bytes that are not UTF-8.
// It writes them as strconv.Quote does, so that text from outside neither moves the cursor nor
// breaks a line. Printable text is returned unchanged; backslashes and quotes are printable.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if strconv.IsGraphic(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(text[:size])
		} else {
			quoted := strconv.Quote(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}
