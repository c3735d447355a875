package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/cloud/aws"
	"github.com/treereduce/treereduce/internal/cloud/mirror"
	"github.com/treereduce/treereduce/internal/cloud/s3"
	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/filesys"
	"github.com/treereduce/treereduce/internal/engine/store"
)

// finishQuiet is how long a run that is done may be busy with its copy until it says so.
const finishQuiet = 3 * time.Second

// copyFlag names a copy of the data directory.
func copyFlag() cli.Flag {
	return &cli.StringFlag{Name: "copy", Usage: "keep a copy of the data directory in S3, `s3://bucket/path`, as it is made; --resume with an empty data directory fetches it"}
}

// A copying is the copy of a run; nil: it has none.
type copying struct {
	*mirror.Copy
	tell  func(string)
	close func() error // ends it, once
}

// openCopy opens the copy that a run is to have, if it is to have one, and has the place
// be one that is copied. A run that goes on, and has nothing here, gets what the copy has.
func openCopy(c *cli.Context, g game.Game, place *filesys.Place, mode store.Mode, tell func(string)) (*copying, error) {
	name := c.String("copy")
	if name == "" {
		return nil, nil
	}
	ctx, stop := command.Interruptible(c.Context)
	failed := func(err error) (*copying, error) {
		defer stop()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w; --resume goes on", command.ErrInterrupted)
		}
		return nil, misnamed("copy", err)
	}
	to, dir, err := s3.Dial(ctx, name, aws.Options{})
	if err != nil {
		return failed(err)
	}
	k := &copying{tell: tell}
	if k.Copy, err = mirror.Open(ctx, to, dir, whoami(), tell); err != nil {
		return failed(err)
	}
	k.close = sync.OnceValue(func() error {
		defer stop()
		return k.Copy.Close()
	})
	place.FS = k.FS(place.FS, place.Path)
	if err := k.Ready(g.Spec(), mode); err != nil {
		_, err = failed(err)
		k.end()
		return nil, err
	}
	return k, nil
}

// whoami is what another driver is told of this one.
func whoami() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	return fmt.Sprintf("driver %d on %s", os.Getpid(), host)
}

// start makes the copy what the data directory is, and follows it.
func (k *copying) start(mode store.Mode) error {
	if k == nil {
		return nil
	}
	return k.Start(mode)
}

// finish waits until the copy is whole, and returns its name.
func (k *copying) finish() (name string, err error) {
	if k == nil {
		return "", nil
	}
	whole := make(chan error, 1)
	go func() { whole <- k.Finish() }()
	select {
	case err = <-whole:
	case <-time.After(finishQuiet):
		k.tell(fmt.Sprintf("%s still to be copied to %s", command.Count(int64(k.Left()), "change"), k.Name()))
		err = <-whole
	}
	if errors.Is(err, context.Canceled) {
		return "", fmt.Errorf("%w; the copy is not whole, --resume goes on", command.ErrInterrupted)
	}
	if err != nil {
		return "", err
	}
	if err := k.close(); err != nil {
		k.tell(fmt.Sprintf("--copy: %v: until it ends by itself, the claim to the copy holds", err))
	}
	return k.Name(), nil
}

// end gives the copy up, if that has not been done.
func (k *copying) end() {
	if k != nil {
		k.close() // the claim ends by itself
	}
}
