package mirror

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"time"
)

// heldEvery is how often the claim is checked while the nodes of a cluster copy.
const heldEvery = 5 * time.Second

// Nodes copies files of the data directory's file system, which have this number of bytes together, into the
// directory of S3 that to names, by the nodes of a cluster. It replaces files that exist. done is false if the
// nodes do not copy them. It ends with ctx.
type Nodes = func(ctx context.Context, files []string, bytes int64, to string) (done bool, err error)

// By makes nodes copy, from Start on.
func (c *Copy) By(nodes Nodes) { c.nodes = nodes }

// putFiles uploads files of a directory of the data directory. If the nodes fail, this machine copies, then and from
// then on.
func (c *Copy) putFiles(ctx context.Context, dir string, names []string) error {
	if c.nodes != nil {
		done, err := c.byNodes(ctx, dir, names)
		if stop := cmp.Or(ctx.Err(), c.claim.Held(ctx)); done || stop != nil {
			return stop
		}
		if err != nil {
			c.warn(fmt.Sprintf("--copy: %v: this machine copies in place of the nodes", err))
			c.nodes = nil
		}
	}
	return c.to.PutFiles(ctx, c.from, path.Join(c.data, dir), names, path.Join(c.dir, dir), c.claim.Held)
}

// byNodes is putFiles by the nodes, as long as the claim is valid. It checks that the copies have the length of
// the files.
func (c *Copy) byNodes(ctx context.Context, dir string, names []string) (done bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for c.claim.Held(ctx) == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(heldEvery):
			}
		}
		cancel()
	}()
	var files []string
	var bytes int64
	sizes := make(map[string]int64)
	for _, name := range names {
		info, err := c.from.Stat(path.Join(c.data, dir, name))
		if err != nil {
			return false, err
		}
		files, sizes[name] = append(files, path.Join(c.data, dir, name)), info.Size()
		bytes += info.Size()
	}
	to := path.Join(c.dir, dir)
	if done, err = c.nodes(ctx, files, bytes, c.to.Name(to)); !done {
		return false, err
	}
	copies, err := c.to.ReadDir(to)
	if err != nil {
		return false, err
	}
	for _, e := range copies {
		if info, err := e.Info(); err == nil && sizes[e.Name()] == info.Size() {
			delete(sizes, e.Name())
		}
	}
	for _, name := range names {
		if _, left := sizes[name]; left {
			return false, fmt.Errorf("%s: the nodes have not copied it completely", c.to.Name(path.Join(to, name)))
		}
	}
	return true, nil
}
