package driver_test

import (
	"io"
	"os"
	"strings"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/mnk"
)

// A driver for some games, as a module of one's own builds it; its main function calls driver.Main.
func ExampleRun() {
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	run := func(stdout io.Writer, line string) int {
		args := strings.Fields(line + " --data " + directory)
		return driver.Run(game.Kinds{mnk.Kind}, args, os.Stdin, stdout, os.Stderr)
	}
	run(io.Discard, "driver solve mnk --final no")
	run(os.Stdout, "driver export --tier 0 --format csv")
	// Output:
	// position,hash,value,remoteness,outcome
	// .../.../...,0,tie,9,tie
}
