package command

import (
	"os"

	"golang.org/x/term"
)

// FileOf returns the file of a stream of a command; ok is false if it is none.
func FileOf(stream any) (f *os.File, ok bool) {
	if o, is := stream.(*output); is {
		stream = o.to
	}
	f, ok = stream.(*os.File)
	return f, ok
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := FileOf(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}
