package driver

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/runner/inline"
	"github.com/treereduce/treereduce/runner/streaming"
)

// clusterRunner makes the runner of --runner hadoop; bin is where mapper and
// reducer are, if nothing else is said.
func clusterRunner(c *cli.Context, dfs *hadoop.FS, bin string) (*streaming.Runner, error) {
	r := &streaming.Runner{
		Bin: bin, FS: dfs,
		Files: c.StringSlice("files"), Queue: c.String("queue"), Define: c.StringSlice("D"),
		Reducers: c.Int("reducers"), Above: c.Int64("cluster-above"), Small: &inline.Runner{},
	}
	if dir := c.String("cluster-bin"); dir != "" {
		r.Bin = dir
	} else if runtime.GOOS != clusterOS {
		r.Bin = filepath.Join(bin, clusterOS)
	}
	var err error
	if r.Command, err = hadoop.FindCommand(c.String("hadoop")); err != nil {
		return nil, err
	}
	if r.Jar, err = hadoop.FindStreamingJar(c.String("streaming-jar")); err != nil {
		return nil, err
	}
	conf, err := yarn.Load(hadoop.ConfDir())
	if err != nil {
		return nil, err
	}
	r.Yarn = yarn.New(conf, dfs.User())
	r.Yarn.Command = r.Command
	return r, nil
}

// clusterOS is the system of a cluster's machines.
const clusterOS = "linux"

// preflightTime bounds the preflight.
const preflightTime = 25 * time.Second

// preflight asks the cluster whether it can run the jobs of a game, before
// anything is begun: a resource manager with a live node and the queue, a hadoop
// command that runs. It asks nothing if no tier can be large enough for the
// cluster. The name node and the permissions there show when the data directory
// is made.
func preflight(ctx context.Context, g game.Tiered, r *streaming.Runner) error {
	most := 0.0
	for tier := range g.Tiers() + 1 {
		most = max(most, g.Slots(tier))
	}
	if most <= float64(r.Above) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preflightTime)
	defer cancel()
	if err := r.Yarn.Check(ctx, r.Queue); err != nil {
		return err
	}
	metrics, err := r.Yarn.Metrics(ctx)
	if err != nil {
		return err
	}
	r.Parallel = max(1, metrics.VCores-mastersShare)
	cmd := exec.CommandContext(ctx, r.Command, "fs", "-test", "-e", r.FS.Name()+"/")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s fs: %w: %s", r.Command, err, firstCause(stderr.String()))
	}
	return nil
}

// mastersShare is how many of a cluster's cores the application master of a job
// takes, and that of the job before, which is just ending.
const mastersShare = 2

// firstCause is the line of a Java program's complaint that says most.
func firstCause(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.Contains(line, "rror") || strings.Contains(line, "xception") {
			return line
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
