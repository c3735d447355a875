package driver

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/cloud/aws"
	"github.com/treereduce/treereduce/internal/cloud/s3"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/command/datadir"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// readFlag returns --data for a command that only reads.
func readFlag() cli.Flag { return datadir.FlagWith("in S3 (s3://bucket/path)") }

// inS3 opens names in S3, with the credentials of the environment. Requests end with the
// context of the command.
func inS3(c *cli.Context) filesys.Opener {
	return filesys.Opener{Scheme: s3.Scheme, Open: func(name string) (store.FS, string, error) {
		f, dir, err := s3.Dial(c.Context, name, aws.Options{})
		if err != nil {
			return nil, "", misnamed("data", err)
		}
		return f, dir, nil
	}}
}

// misnamed converts an error in the S3 name that a flag gives to a usage error.
func misnamed(flag string, err error) error {
	if errors.As(err, new(*s3.NameError)) {
		return command.Usagef("--%s %w", flag, err)
	}
	return err
}

// dataInS3 uses the only argument of a command line as --data if it begins with s3://, because
// it cannot mean anything else.
func dataInS3(c *cli.Context) error {
	if name := c.Args().First(); c.Args().Len() == 1 && s3.InS3(name) && !c.IsSet("data") {
		return c.Set("data", name)
	}
	return command.NoArguments(c, ": --data names the directory")
}
