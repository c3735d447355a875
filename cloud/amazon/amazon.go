// Package amazon adds S3 and Amazon EMR to the command driver: names that begin with s3://, --runner emr, and
// the command emr. It reads flags and prints; packages below cloud/internal send the requests.
package amazon

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/cli/driver"
	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/command"
)

// Extension returns the Extension of the command driver.
func Extension() driver.Extension {
	return driver.Extension{
		FileSystems: []driver.FileSystem{{Scheme: s3.Scheme, Usage: "in S3 (s3://bucket/path)", Open: openS3}},
		Runners:     []driver.Runner{new(flags).runner()},
		Commands:    []*cli.Command{emrCommand()},
	}
}

// openS3 opens a name in S3, with the credentials of the environment.
func openS3(ctx context.Context, name string) (driver.FS, string, error) {
	f, dir, err := s3.Dial(ctx, name)
	if errors.As(err, new(*s3.NameError)) {
		err = command.Usagef("--data %w", err)
	}
	if err != nil {
		return nil, "", err
	}
	return f, dir, nil
}
