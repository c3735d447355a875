// Package tail keeps the end of what a program writes to stderr. It knows nothing of programs.
package tail

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// most is the number of bytes that are kept.
const most = 64 << 10

// A Tail keeps the end of the text that is written to it. It is safe for concurrent use.
type Tail struct {
	mu      sync.Mutex
	text    []byte
	heading string // is written before the next text; "": there is none
}

// Write appends to the text. It never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.text); t.heading != "" && n > 0 && t.text[n-1] != '\n' {
		t.heading = "\n" + t.heading
	}
	t.text = append(append(t.text, t.heading...), b...)
	t.text, t.heading = t.text[max(0, len(t.text)-most):], ""
	return len(b), nil
}

// Head sets a heading, a line that precedes what is written from now on.
func (t *Tail) Head(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heading = line + "\n"
}

// All returns a copy of the text, which ends with a newline unless it is empty.
func (t *Tail) All() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := slices.Clone(t.text)
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

// compilerError matches an error of Java's compiler, which writes more lines after it, and frame a line after the message
// of an exception in Java.
var (
	compilerError = regexp.MustCompile(`(?m)^.*\.java:\d+: error: .*`)
	frame         = regexp.MustCompile(`^\s+(at |\.\.\. \d+ more)`)
)

// Cause returns the first most bytes of the line that says why a program ended: the first error of Java's compiler, or
// the last line that is not blank.
func (t *Tail) Cause(most int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := compilerError.Find(t.text)
	if line == nil {
		lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
		for len(lines) > 1 && frame.Match(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
		line = lines[len(lines)-1]
	}
	return string(line[:min(len(line), most)])
}
