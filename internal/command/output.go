package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"
)

// CheckOutput checks that the file on this machine that a flag names, if any, can be written, before
// long work whose result it will contain. It changes no file.
func CheckOutput(c *cli.Context, flag string) error {
	name := c.String(flag)
	if name == "" || name == "-" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	switch {
	case err == nil:
		f.Close()
		os.Remove(name)
	case errors.Is(err, os.ErrExist):
		if f, err = os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			f.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}
