// Package amazon adds S3 and Amazon EMR to the command driver: names that begin with s3://, copies
// of a run in S3, --runner emr, and the command emr. It reads flags and prints; packages below
// cloud/internal send the requests.
package amazon

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/aws"
	"github.com/treereduce/treereduce/cloud/internal/mirror"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/command"
)

// Extension returns the Extension of the command driver.
func Extension() driver.Extension {
	return driver.Extension{
		FileSystems: []driver.FileSystem{{Scheme: s3.Scheme, Usage: "in S3 (s3://bucket/path)", Open: openS3}},
		Runners:     []driver.Runner{new(emrFlags).runner()},
		Commands:    []*cli.Command{emrManage()},
		OpenCopy:    openCopy,
	}
}

// openS3 opens a name in S3, with the credentials of the environment.
func openS3(ctx context.Context, name string) (driver.FS, string, error) {
	f, dir, err := s3.Dial(ctx, name, aws.Options{})
	if err != nil {
		return nil, "", misnamed("data", err)
	}
	return f, dir, nil
}

// openCopy opens a copy in S3.
func openCopy(ctx context.Context, name string, notify func(string)) (driver.Copy, error) {
	to, dir, err := s3.Dial(ctx, name, aws.Options{})
	if err != nil {
		return nil, misnamed("copy", err)
	}
	c, err := mirror.Open(ctx, to, dir, whoami(), notify)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// misnamed converts an error in the S3 name that a flag gives to a usage error.
func misnamed(flag string, err error) error {
	if errors.As(err, new(*s3.NameError)) {
		return command.Usagef("--%s %w", flag, err)
	}
	return err
}

// whoami returns the name of this driver that other drivers see in its claims.
func whoami() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	return fmt.Sprintf("driver %d on %s", os.Getpid(), host)
}
