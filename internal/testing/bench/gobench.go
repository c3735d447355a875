package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// RunGo runs the Go benchmarks of a package whose names match a pattern; with Large also
// the long ones.
func RunGo(ctx context.Context, out io.Writer, o Options, pattern, in string, env ...string) error {
	if o.Large {
		env = append(env, "TREEREDUCE_LONG=1")
	}
	return command(ctx, out, env, "go", "test", "-run", "^$", "-bench", pattern, "-timeout", "2h", in)
}

// RunSearch runs the benchmarks of the search of 7×6 connect 4, and BitBully on the same
// positions.
func RunSearch(ctx context.Context, out io.Writer, o Options) error {
	dir, err := os.MkdirTemp("", "treereduce-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := RunGo(ctx, out, o, "Whole|Sets|Techniques", "./search", "TREEREDUCE_POSITIONS="+dir); err != nil {
		return err
	}
	return command(ctx, out, nil, "scripts/bitbully.sh", dir)
}

// RunSync runs the benchmarks of the cost of durable commits.
func RunSync(ctx context.Context, out io.Writer, o Options) error {
	return command(ctx, out, nil, "go", "test", "-run", "^$", "-bench", "Sync", "-count", fmt.Sprint(o.Runs), "-timeout", "2h", "./internal/engine/solve")
}

// command runs a command in the environment of this process and env.
func command(ctx context.Context, out io.Writer, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", cmd, err)
	}
	return nil
}
