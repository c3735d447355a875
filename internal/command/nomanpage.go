//go:build !manpages

package command

import (
	"io"

	"github.com/urfave/cli/v2"
)

// writeManPage returns an error: a program contains what formats manual pages only if it is
// built for that.
func writeManPage(io.Writer, *cli.App) error {
	return Usagef("%s needs a program that is built with -tags manpages", manPage)
}
