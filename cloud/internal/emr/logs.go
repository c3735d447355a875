package emr

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"time"

	cloud "github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/internal/engine/store"
)

const (
	// maxLog is the number of bytes that are read from the end of a log.
	maxLog = 1 << 20
	// maxUnpacked bounds the size of an uncompressed log.
	maxUnpacked = 1 << 30
)

// Logs reads the logs of a cluster in S3:
//
//	DIR/CLUSTER/steps/STEP/{controller,syslog,stdout,stderr}.gz
//
// The service uploads them about every five minutes, and when the cluster ends.
type Logs struct {
	FS      store.FS
	Dir     string
	Cluster string

	Every    time.Duration // polling interval
	Patience time.Duration // how long to wait for the logs of a step
	News     func(line string)
}

// Step returns what a step wrote to stderr, and the log of Hadoop's client in it. It waits for the
// logs. The error wraps fs.ErrNotExist if they do not appear.
func (l *Logs) Step(ctx context.Context, step string) (stderr, syslog string, err error) {
	dir := path.Join(l.Dir, l.Cluster, "steps", step)
	begun, warned := time.Now(), false
	for {
		stderr, err = l.read(path.Join(dir, "stderr"))
		if errors.Is(err, fs.ErrNotExist) { // a step that wrote nothing has no stderr
			if _, err = l.read(path.Join(dir, "controller")); err == nil && time.Since(begun) < l.Patience/2 {
				err = fs.ErrNotExist
			}
		}
		switch {
		case err == nil:
			if syslog, err = l.read(path.Join(dir, "syslog")); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return stderr, syslog, err
		case !errors.Is(err, fs.ErrNotExist):
			return "", "", err
		case time.Since(begun) > l.Patience:
			return "", "", fmt.Errorf("the logs of step %s did not appear within %s: %w", step, l.Patience, fs.ErrNotExist)
		}
		if !warned {
			warned = true
			l.News(fmt.Sprintf("why step %s failed is in its logs, which come to S3 minutes late: waiting for them, %s at most", step, l.Patience))
		}
		if err := cloud.Sleep(ctx, l.Every); err != nil {
			return "", "", err
		}
	}
}

// read returns the end of a log, compressed or not.
func (l *Logs) read(name string) (string, error) {
	f, err := l.FS.Open(name + ".gz")
	packed := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		f, err = l.FS.Open(name)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	var from io.Reader = f
	if packed {
		z, err := gzip.NewReader(f)
		if err != nil {
			return "", fmt.Errorf("%s.gz: %w", name, err)
		}
		from = z
	}
	return tail(io.LimitReader(from, maxUnpacked))
}

// tail returns the last maxLog bytes of r.
func tail(r io.Reader) (string, error) {
	var end []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := r.Read(buf)
		end = append(end, buf[:n]...)
		if len(end) > 2*maxLog {
			end = append(end[:0], end[len(end)-maxLog:]...)
		}
		if err == io.EOF {
			return string(end[max(0, len(end)-maxLog):]), nil
		}
		if err != nil {
			return "", err
		}
	}
}
