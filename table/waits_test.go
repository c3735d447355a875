package table_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	solvedtest "github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// A slowDisk is the local file system, of which one read waits: the first after which left is 0.
type slowDisk struct {
	store.Local
	left    atomic.Int64
	reading chan bool // is closed when it waits
	proceed chan bool // is closed to end the wait
}

type slowFile struct {
	store.File
	disk *slowDisk
}

func (d *slowDisk) Open(name string) (store.File, error) {
	f, err := d.Local.Open(name)
	return slowFile{f, d}, err
}

func (f slowFile) ReadAt(b []byte, at int64) (int, error) {
	if f.disk.left.Add(-1) == 0 {
		close(f.disk.reading)
		<-f.disk.proceed
	}
	return f.File.ReadAt(b, at)
}

// TestLookupsDoNotWait lets each read of a look-up wait in turn, with tables of each method. Meanwhile, positions of
// other blocks are looked up.
func TestLookupsDoNotWait(t *testing.T) {
	for _, g := range []game.Game{
		solvedtest.Game(t, "connectn width=3 height=3 connect=3"),
		solvedtest.Game(t, "mnk width=3 height=2 connect=2"),
	} {
		dir, other := solvedtest.Dir(t, g), g.Moves(nil, g.Start())[0].To // other is in another tier
		for waits := int64(1); ; waits++ {
			disk := &slowDisk{reading: make(chan bool), proceed: make(chan bool)}
			tab := must.Get(table.OpenOf(disk, dir, g))(t)
			done := make(chan string, 2)
			look := func(p game.Position) {
				v, ok, err := tab.Lookup(p)
				done <- fmt.Sprint(v, ok, err)
			}
			disk.left.Store(waits)
			go look(g.Start())
			select {
			case <-disk.reading:
			case <-done: // it has fewer reads
				must.OK(t, tab.Close())
				if waits == 1 {
					t.Errorf("%s: a look-up reads nothing", g.Spec())
				}
				waits = -1
			}
			if waits < 0 {
				break
			}
			go look(other)
			must.Until(t, func() bool { return len(done) > 0 }, func() string {
				close(disk.proceed)
				return fmt.Sprintf("%s: a look-up waits for read %d of another one", g.Spec(), waits)
			})
			<-done
			close(disk.proceed)
			<-done
			must.OK(t, tab.Close())
		}
	}
}
