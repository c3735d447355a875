package streaming

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/treereduce/treereduce/internal/engine/runner"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// uploadRecord is how many bytes of a file take about as long to copy as a record to process: r.Above
// also decides from which size on the nodes copy files.
const uploadRecord = 16

// Upload copies files of r.FS into a directory of another file system, such as s3://bucket/path. It runs
// Hadoop's DistCp, a job in which each map copies a part of the files. Upload replaces files that exist. A job takes
// seconds to start, so Upload does nothing, and done is false, if there is only one file, or the files have few
// bytes. If the job fails, some of the files may have been copied; each appears complete or not at all.
func (r *Runner) Upload(ctx context.Context, files []string, bytes int64, to string) (done bool, err error) {
	if len(files) < 2 || bytes <= max(0, r.Above)*uploadRecord {
		return false, nil
	}
	list := uploadList(path.Dir(path.Dir(files[0])))
	var lines strings.Builder
	for _, name := range files {
		fmt.Fprintln(&lines, r.FS.Name()+name)
	}
	if err := store.WriteFile(r.FS, list, []byte(lines.String())); err != nil {
		return false, err
	}
	defer r.FS.RemoveAll(list) // if that fails, the next run deletes it, as it does all attempts
	args := append([]string{"distcp"}, r.definitions("upload to "+to, list)...)
	args = append(args, "-overwrite", "-direct", "-m", fmt.Sprint(min(len(files), max(1, r.Parallel))), "-f", r.FS.Name()+list, to)
	_, err = r.submit(ctx, &runner.Job{Output: list}, args)
	return err == nil, err
}

// uploadList returns the name of the list of files that are being uploaded from a data directory, which
// also identifies the job.
func uploadList(data string) string { return path.Join(data, "_attempt-upload") }
