package emr

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// logPatience is how long to wait for the log of a step: the service delivers it about every five minutes,
	// and when the cluster ends.
	logPatience = 12 * time.Minute
	// maxLog bounds the size of an uncompressed log, and maxCause that of the line that is the cause.
	maxLog   = 64 << 20
	maxCause = 2000
)

// StepLog returns the last line that the step of a cluster wrote to stderr, from the log in a directory in S3:
//
//	DIR/CLUSTER/steps/STEP/stderr.gz
//
// It waits for the log. The error wraps fs.ErrNotExist if that does not appear.
func (s *Service) StepLog(ctx context.Context, fsys store.FS, dir string, c *Cluster) (cause string, err error) {
	name := path.Join(dir, c.ID, "steps", c.Step.ID, "stderr.gz")
	for begun, first := time.Now(), true; ; first = false {
		cause, err = lastLine(fsys, name)
		if !errors.Is(err, fs.ErrNotExist) || time.Since(begun) > logPatience {
			return cause, err
		}
		if first {
			s.news(fmt.Sprintf("why step %s failed is in its log, which comes to S3 minutes late: waiting for it, %s at most", c.Step.ID, logPatience))
		}
		if err := cloud.Sleep(ctx, s.poll); err != nil {
			return "", err
		}
	}
}

// lastLine returns the last line of a compressed file that is not empty.
func lastLine(fsys store.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	all, err := io.ReadAll(io.LimitReader(unpacked, maxLog))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(all), "�"))
	line := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.ToValidUTF8(line[:min(len(line), maxCause)], ""), nil
}
