package command

import (
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// Terminal is where a command reads and writes, if a person sits at both: a terminal, and
// one that can do more than print lines.
func Terminal(c *cli.Context) (in, out *os.File, ok bool) {
	in, _ = c.App.Reader.(*os.File)
	if o, is := c.App.Writer.(*output); is {
		out, _ = o.to.(*os.File)
	}
	kind := os.Getenv("TERM")
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
