//go:build manpages

package command

import (
	"io"

	"github.com/urfave/cli/v2"
)

func init() {
	writeManPage = func(out io.Writer, app *cli.App) error {
		page, err := app.ToManWithSection(1)
		if err != nil {
			return err
		}
		_, err = io.WriteString(out, page)
		return err
	}
}
