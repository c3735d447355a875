package driver

import (
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/hadoop"
	"github.com/treereduce/treereduce/hadoop/yarn"
	"github.com/treereduce/treereduce/internal/runner"
	"github.com/treereduce/treereduce/internal/runner/streaming"
)

// clusterRunner makes the runner of --runner hadoop; bin is where mapper and
// reducer are, if nothing else is said, small the runner of what is not worth a job.
func clusterRunner(c *cli.Context, dfs *hadoop.FS, bin string, small runner.Runner) (*streaming.Runner, error) {
	r := &streaming.Runner{
		Bin: bin, FS: dfs,
		Files: c.StringSlice("files"), Queue: c.String("queue"), Define: c.StringSlice("D"),
		Reducers: c.Int("reducers"), Above: c.Int64("cluster-above"), Small: small,
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
