package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Confirm asks the user at a terminal whether to start, unless yes, the value of --yes, is true. Without a
// terminal, --yes is required.
func Confirm(ctx context.Context, app *cli.App, yes bool, what string) error {
	if yes {
		fmt.Fprintf(app.ErrWriter, "%s: %s\n", app.Name, what)
		return nil
	}
	answer, asked := Ask(ctx, app, what+". Start, yes or no?")
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case !asked:
		return fmt.Errorf("%s: --yes (make: YES=1) starts", what)
	case !strings.HasPrefix(answer, "y"):
		return errors.New("nothing was started")
	}
	return nil
}

// Ask asks the user a question and waits for the answer until ctx ends; asked is false if there
// is no terminal.
func Ask(ctx context.Context, app *cli.App, question string) (answer string, asked bool) {
	if !IsTerminal(app.Reader) || !IsTerminal(app.ErrWriter) {
		return "", false
	}
	fmt.Fprintf(app.ErrWriter, "%s: %s ", app.Name, question)
	line, _ := bufio.NewReader(Until(ctx, app.Reader)).ReadString('\n') // at the end of the input, the answer is empty
	return strings.ToLower(strings.TrimSpace(line)), true
}
