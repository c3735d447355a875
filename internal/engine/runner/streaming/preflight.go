package streaming

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/method"
	"github.com/treereduce/treereduce/internal/engine/step"
)

// Preflight checks, before anything is started, whether the jobs of a game can run with a data
// directory of that name: that Hadoop accepts the name, that there are a mapper and a reducer,
// that the resource manager has a live node, and that the hadoop command runs.
// It checks nothing if no job can be large enough for the cluster. The name node has been
// checked before, and permissions will be when the data directory is created.
func (r *Runner) Preflight(ctx context.Context, g game.Game, data string) error {
	if method.Of(g).MostRecords() <= float64(r.Above) {
		return nil
	}
	if err := checkName(data); err != nil {
		return err
	}
	for _, binary := range []string{"mapper", "reducer"} {
		if _, err := os.Stat(filepath.Join(r.Bin, binary)); err != nil {
			return fmt.Errorf("%s for the cluster: %w (to build it: %s; --cluster-bin names its directory)", binary, err, step.HowToBuild())
		}
	}
	metrics, err := r.Yarn.Metrics(ctx)
	if err == nil && metrics.ActiveNodes == 0 {
		err = errors.New("the cluster has no live node")
	}
	if err == nil {
		r.Parallel = max(1, metrics.TotalVirtualCores-mastersShare)
		_, err = r.Yarn.Run(ctx, "fs", "-test", "-e", r.FS.Name()+"/")
	}
	return err
}

// checkName returns an error if a directory cannot be named in -input and -files of a job:
// these are comma-separated lists of patterns and URIs.
func checkName(dir string) error {
	if i := strings.IndexFunc(dir, special); i >= 0 {
		return fmt.Errorf("data directory %s: a job of Hadoop's can have no %q in the name of a directory", dir, []rune(dir[i:])[0])
	}
	return nil
}

// special reports whether a letter has a meaning in a list of patterns, or in a URI.
func special(c rune) bool { return strings.ContainsRune(`,{}[]*?\#%"`, c) || unicode.IsSpace(c) }

// mastersShare is how many of a cluster's cores are used by the application masters of a job
// and of the previous job, which may still be ending.
const mastersShare = 2
