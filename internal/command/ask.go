package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Confirm asks the user at a terminal whether to start, until ctx ends, unless yes, the value of --yes, is true.
// Without a terminal, --yes is required.
func Confirm(ctx context.Context, app *cli.App, yes bool, what string) error {
	if yes {
		fmt.Fprintf(app.ErrWriter, "%s: %s\n", app.Name, what)
		return nil
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if !IsTerminal(app.Reader) || !IsTerminal(app.ErrWriter) {
		return fmt.Errorf("%s: --yes (make: YES=1) starts", what)
	}
	fmt.Fprintf(app.ErrWriter, "%s: %s. Start, yes or no? ", app.Name, what)
	answer, _ := bufio.NewReader(Until(ctx, app.Reader)).ReadString('\n') // at the end of the input, the answer is empty
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y"):
		return errors.New("nothing was started")
	}
	return nil
}
