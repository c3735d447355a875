package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/treereduce/treereduce/cloud/internal/s3"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestNodes checks what nodes copy: the large files of a directory that are next to one another in the queue, and
// the files of a directory. If they fail, or a copy is not complete, this machine copies everything from then on.
func TestNodes(t *testing.T) {
	for _, test := range []struct {
		name string
		fail error
		cut  int // bytes that the nodes leave out
		want string
		warn string
	}{
		{name: "all", want: "table: t1 t2; other: o1 o2; dir: d1 d2; dir: _SUCCESS"},
		{name: "failure", fail: errors.New("no node"), want: "table: t1 t2", warn: "--copy: no node: this machine copies in place of the nodes"},
		{name: "short copy", cut: 1, want: "table: t1 t2", warn: "--copy: s3://bucket/d/table/t1: the nodes have not copied it completely: this machine copies in place of the nodes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var queue []*change
			for _, name := range []string{"table/t1", "table/t2", "other/o1", "other/o2", "other/o1"} {
				queue = append(queue, &change{name: name})
			}
			c, _, from, fake := queued(t, append(queue, &change{name: "dir", dir: true})...)
			claim, _, err := c.to.Claim(t.Context(), "d/"+OwnerFile, "test", s3.Hold)
			must.OK(t, err)
			c.claim = claim
			files := []string{"table/t1", "table/t2", "other/o1", "other/o2", "dir/d1", "dir/d2", "dir/" + store.Success}
			for _, name := range files {
				write(t, from, name, "content of "+name)
			}
			var calls, warnings []string
			c.warn = func(line string) { warnings = append(warnings, line) }
			c.By(func(ctx context.Context, files []string, size int64, to string) (bool, error) {
				if len(files) < 2 && path.Base(files[0]) != store.Success {
					return false, nil
				}
				call, sum := path.Base(to)+":", 0
				for _, name := range files {
					text := must.Get(store.ReadFile(from, name))(t)
					sum += len(text)
					call += " " + path.Base(name)
					text = text[:len(text)-test.cut]
					must.OK(t, c.to.Put(ctx, strings.TrimPrefix(to, "s3://bucket/")+"/"+path.Base(name), bytes.NewReader(text), int64(len(text))))
				}
				if int64(sum) != size {
					t.Errorf("%s: %d bytes, want %d", call, size, sum)
				}
				calls = append(calls, call)
				return test.fail == nil, test.fail
			})
			c.on, c.ended = true, make(chan struct{})
			go c.work()
			must.OK(t, c.Finish())
			must.OK(t, c.Close())
			if got := strings.Join(calls, "; "); got != test.want {
				t.Errorf("the nodes copied %q, want %q", got, test.want)
			}
			if got := strings.Join(warnings, "\n"); got != test.warn {
				t.Errorf("warned %q, want %q", got, test.warn)
			}
			for _, name := range files {
				if got := string(fake.Get("bucket", "d/"+name)); got != "content of "+name {
					t.Errorf("%s: %q", name, got)
				}
			}
		})
	}
}

// TestNodesLost checks that the nodes are stopped when the claim is lost, and that this machine then writes nothing.
func TestNodesLost(t *testing.T) {
	c, _, from, fake := queued(t)
	write(t, from, "table/t1", "mine")
	synctest.Test(t, func(t *testing.T) {
		claim, _, err := c.to.Claim(t.Context(), "d/"+OwnerFile, "first", s3.Hold)
		must.OK(t, err)
		c.claim = claim
		c.By(func(ctx context.Context, _ []string, _ int64, _ string) (bool, error) {
			must.OK(t, c.to.Remove(t.Context(), "d/"+OwnerFile))
			second, _, err := c.to.Claim(t.Context(), "d/"+OwnerFile, "second", time.Hour)
			must.OK(t, err)
			defer second.Release(t.Context())
			<-ctx.Done()
			return false, fmt.Errorf("stopped: %w", ctx.Err())
		})
		if err := c.putFiles(t.Context(), "table", []string{"t1"}); !errors.Is(err, s3.ErrLost) {
			t.Error(err)
		}
		must.OK(t, claim.Release(t.Context()))
	})
	if fake.Get("bucket", "d/table/t1") != nil {
		t.Error("what another may have begun was overwritten")
	}
}
