package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// Confirm asks the user at a terminal whether to start. Without a terminal, --yes is required.
func Confirm(ctx context.Context, c *cli.Context, what string) error {
	if c.Bool("yes") {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", c.App.Name, what)
		return nil
	}
	answer, asked := Ask(ctx, c, what+". Start, yes or no?")
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case !asked:
		return fmt.Errorf("%s: --yes starts", what)
	case !strings.HasPrefix(answer, "y"):
		return errors.New("nothing was started")
	}
	return nil
}

// Ask asks the user a question and waits for the answer until ctx ends; asked is false if there
// is no terminal.
func Ask(ctx context.Context, c *cli.Context, question string) (answer string, asked bool) {
	if !IsTerminal(c.App.Reader) || !IsTerminal(c.App.ErrWriter) {
		return "", false
	}
	fmt.Fprintf(c.App.ErrWriter, "%s: %s ", c.App.Name, question)
	line, _ := bufio.NewReader(Until(ctx, c.App.Reader)).ReadString('\n') // at the end of the input, the answer is empty
	return strings.ToLower(strings.TrimSpace(line)), true
}
