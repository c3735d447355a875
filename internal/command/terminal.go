package command

import (
	"cmp"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Terminal returns the files from which a command reads and to which it writes; ok is true if
// both are terminals that support cursor control.
func Terminal(c *cli.Context) (in, out *os.File, ok bool) {
	in, _ = c.App.Reader.(*os.File)
	if o, is := c.App.Writer.(*output); is {
		out, _ = o.to.(*os.File)
	}
	kind := os.Getenv("TERM")
	if runtime.GOOS == "windows" { // whose terminals set no TERM
		kind = cmp.Or(kind, "windows")
	}
	ok = in != nil && out != nil && kind != "" && kind != "dumb" && IsTerminal(in) && IsTerminal(out)
	return in, out, ok
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	if o, ok := stream.(*output); ok {
		stream = o.to
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
