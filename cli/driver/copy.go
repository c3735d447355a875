package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/treereduce/treereduce/internal/command"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/numfmt"
)

// finishQuiet is how long a finished run waits for its copy before it prints a message.
const finishQuiet = 3 * time.Second

// copyFlag returns --copy, which names a copy of the data directory, if there are copies.
func (p *program) copyFlag() []cli.Flag {
	if p.OpenCopy == nil {
		return nil
	}
	return []cli.Flag{&cli.StringFlag{Name: "copy", Usage: "keep a copy of the data directory in S3, `s3://bucket/path`, during the run; --resume with an empty data directory fetches it"}}
}

// A copying is the copy of a run; it is nil if the run has none.
type copying struct {
	Copy
	notify func(string)
	close  func() error // closes the copy, once
}

// openCopy opens the copy of a run, if --copy names one, and replaces the file system of its
// place by one that follows changes for the copy. If a run is resumed and has no data here,
// openCopy fetches the data from the copy.
func (p *program) openCopy(r *run) (*copying, error) {
	if r.flags.copy == "" {
		return nil, nil
	}
	ctx, stop := command.Interruptible(r.Context.Context)
	failed := func(err error) (*copying, error) {
		defer stop()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w; --resume continues", command.ErrInterrupted)
		}
		return nil, err
	}
	k := &copying{notify: r.bar.Print}
	var err error
	if k.Copy, err = p.OpenCopy(ctx, r.flags.copy, k.notify); err != nil {
		return failed(err)
	}
	k.close = sync.OnceValue(func() error {
		defer stop()
		return k.Copy.Close()
	})
	r.place.FS = k.FS(r.place.FS, r.place.Path)
	if err := k.Ready(r.Game.Spec(), r.Mode); err != nil {
		_, err = failed(err)
		k.end()
		return nil, err
	}
	return k, nil
}

// start makes the copy equal to the data directory, and then copies changes as they are made; large files
// by the machines that execute the jobs, if these can.
func (k *copying) start(mode store.Mode, jobs JobRunner) error {
	if k == nil {
		return nil
	}
	if u, ok := jobs.(Uploader); ok {
		k.By(u.Upload)
	}
	return k.Start(mode)
}

// finish waits until the copy is complete, and returns its name.
func (k *copying) finish() (name string, err error) {
	if k == nil {
		return "", nil
	}
	whole := make(chan error, 1)
	go func() { whole <- k.Finish() }()
	select {
	case err = <-whole:
	case <-time.After(finishQuiet):
		k.notify(fmt.Sprintf("copying %s to %s", numfmt.Count(int64(k.Left()), "change"), k.Name()))
		err = <-whole
	}
	if errors.Is(err, context.Canceled) {
		return "", fmt.Errorf("%w; the copy is incomplete: --resume continues", command.ErrInterrupted)
	}
	if err != nil {
		return "", err
	}
	if err := k.close(); err != nil {
		k.notify(fmt.Sprintf("--copy: %v: the copy stays locked until its claim expires", err))
	}
	return k.Name(), nil
}

// end closes the copy, if that has not been done.
func (k *copying) end() {
	if k != nil {
		k.close() // an error does not matter: the claim expires
	}
}
