package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/all"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
	"github.com/treereduce/treereduce/internal/testing/solved"
	"github.com/treereduce/treereduce/table"
)

// boards has a game of each method, with files that are not recorded completely.
var boards = []string{"connectn width=5 height=4 connect=4", "dodgem size=4"}

// A server gives parts of the files of a site. It counts them, and changes them before it sends them.
type server struct {
	data, site string
	gets       atomic.Int64
	change     func(part []byte) ([]byte, error)
}

func (s *server) get(name string, from, to, size int64) ([]byte, error) {
	s.gets.Add(1)
	file, err := os.ReadFile(filepath.Join(s.site, name))
	if err != nil || int64(len(file)) != size {
		return nil, errors.Join(err, errors.New(name+": another size"))
	}
	return s.change(bytes.Clone(file[from:to]))
}

// recorded solves a game, and copies its table to a site. It returns the description of the table as JSON.
func recorded(t *testing.T, spec string) (s *server, text []byte) {
	t.Helper()
	s = &server{data: solved.Dir(t, solved.Game(t, spec)), site: t.TempDir(), change: func(part []byte) ([]byte, error) { return part, nil }}
	r := must.Get(Record(t.Context(), store.Local{}, s.data, all.Kinds(), MaxSize))(t)
	r.Dir = "tables/0"
	must.OK(t, r.Copy(filepath.Join(s.site, r.Dir)))
	return s, must.Get(json.Marshal(r))(t)
}

// open opens a table that nothing has read yet.
func open(t *testing.T, text []byte, get Get) *table.Table {
	t.Helper()
	r := new(Table)
	must.OK(t, json.Unmarshal(text, r))
	return must.Get(table.OpenFS(r.FS(get), "", all.Kinds().Parse))(t)
}

// randomPosition returns a position of a random play.
func randomPosition(g game.Game, random *rand.Rand) game.Position {
	p := g.Start()
	for range random.IntN(40) {
		moves := g.Moves(nil, p)
		if len(moves) == 0 || g.Primitive(p) != 0 {
			break
		}
		p = moves[random.IntN(len(moves))].To
	}
	return p
}

// TestLookup compares tables that are read by requests with the same tables on this machine: opening takes no
// request, and a look-up at most two. The first visit of a site loads the description, so it is small.
func TestLookup(t *testing.T) {
	for _, spec := range boards {
		s, text := recorded(t, spec)
		if size := must.Get(os.Stat(filepath.Join(s.site, "tables/0", IndexFile)))(t).Size(); spec == "dodgem size=4" && (len(text) > 1000 || size < 10_000) {
			t.Errorf("%s: a description of %d bytes, and an index of %d", spec, len(text), size)
		}
		local := must.Get(table.Open(s.data, all.Kinds()))(t)
		random, g, all, used := rand.New(rand.NewPCG(1, 2)), local.Game(), int64(0), open(t, text, s.get)
		for range 300 {
			p := randomPosition(g, random)
			want, _, wrong := local.Lookup(p)
			for name, tab := range map[string]*table.Table{"new": open(t, text, s.get), "used": used} {
				if n := s.gets.Load(); n > 0 {
					t.Fatalf("%s: opening takes %d requests", spec, n)
				}
				if v, ok, err := tab.Lookup(p); err != nil || wrong != nil || !ok || v != want {
					t.Fatalf("%s, %s: position %#x: %d, %v, %v; want %d, %v", spec, name, p, v, ok, err, want, wrong)
				}
				gets := s.gets.Swap(0)
				if gets > 2 {
					t.Fatalf("%s, %s: position %#x takes %d requests", spec, name, p, gets)
				}
				all += gets
			}
		}
		if all == 0 {
			t.Errorf("%s: no look-up takes a request: a larger board is needed", spec)
		}
		local.Close()
	}
}

// TestDamage changes what the server sends: a look-up returns the right value, or an error.
func TestDamage(t *testing.T) {
	offline := errors.New("the server does not answer")
	for _, spec := range boards {
		s, text := recorded(t, spec)
		local := must.Get(table.Open(s.data, all.Kinds()))(t)
		random := rand.New(rand.NewPCG(3, 4))
		for name, change := range map[string]func([]byte) ([]byte, error){
			"bits": func(b []byte) ([]byte, error) { // some parts of an index, and of blocks, are unchanged
				for i := random.IntN(512); i < len(b); i += 512 {
					b[i] ^= 4
				}
				return b, nil
			},
			"zeros": func(b []byte) ([]byte, error) { return make([]byte, len(b)), nil },
			"short": func(b []byte) ([]byte, error) { return b[:len(b)-1], nil },
			"long":  func(b []byte) ([]byte, error) { return append(b, 0), nil },
			"none":  func([]byte) ([]byte, error) { return nil, offline },
		} {
			failed := 0
			for range 60 {
				s.change = change
				p := randomPosition(local.Game(), random)
				tab := open(t, text, s.get)
				v, ok, err := tab.Lookup(p)
				if want, _, _ := local.Lookup(p); err == nil && (!ok || v != want) {
					t.Fatalf("%s, %s: position %#x: %d, %v; want %d", spec, name, p, v, ok, want)
				}
				if err != nil {
					failed++
					if name == "none" && !errors.Is(err, offline) {
						t.Fatalf("%s: %v, want %v", spec, err, offline)
					}
				}
			}
			if failed == 0 {
				t.Errorf("%s, %s: no look-up fails", spec, name)
			}
		}
		local.Close()
	}
}

// TestRecordRefuses records a table that is too large, and damages each file of a table, and removes it.
func TestRecordRefuses(t *testing.T) {
	g := solved.Game(t, "mnk width=3 height=3 connect=3")
	data := solved.Dir(t, g)
	if _, err := Record(t.Context(), store.Local{}, data, all.Kinds(), 1000); err == nil || !strings.Contains(err.Error(), "all tables of a site can have 1 GB") {
		t.Errorf("a table of more than 1000 bytes: %v", err)
	}
	files := must.Get(os.ReadDir(filepath.Join(data, table.Dir)))(t)
	for _, f := range files {
		name := filepath.Join(data, table.Dir, f.Name())
		content := must.Get(os.ReadFile(name))(t)
		changed := bytes.Clone(content)
		changed[len(changed)/2] ^= 1
		must.OK(t, os.WriteFile(name, changed, 0o666))
		if _, err := Record(t.Context(), store.Local{}, data, all.Kinds(), MaxSize); !jobdir.Damaged(err) {
			t.Errorf("%s is damaged: %v", f.Name(), err)
		}
		must.OK(t, os.Remove(name))
		if _, err := Record(t.Context(), store.Local{}, data, all.Kinds(), MaxSize); err == nil {
			t.Errorf("%s is missing: no error", f.Name())
		}
		must.OK(t, os.WriteFile(name, content, 0o666))
	}
}

// TestRecent reads more parts of a file than are cached: only the oldest takes another request.
func TestRecent(t *testing.T) {
	gets := 0
	f := must.Get((&Table{Files: map[string]*File{"a": {Size: (recent + 1) * chunk}}}).FS(func(_ string, from, to, _ int64) ([]byte, error) {
		gets++
		return make([]byte, to-from), nil
	}).Open("a"))(t)
	for part := range int64(recent + 1) {
		must.Get(f.ReadAt(make([]byte, 1), part*chunk))(t)
	}
	for _, again := range []struct{ part, gets int }{{recent, recent + 1}, {1, recent + 1}, {0, recent + 2}} {
		if must.Get(f.ReadAt(make([]byte, 1), int64(again.part)*chunk))(t); gets != again.gets {
			t.Errorf("%d requests after part %d again, want %d", gets, again.part, again.gets)
		}
	}
}

// TestAtOnce looks up the moves of a position. The look-ups of two of them begin with different requests, of which the first is
// answered when the other one is there.
func TestAtOnce(t *testing.T) {
	s, text := recorded(t, "dodgem size=4")
	local := must.Get(table.Open(s.data, all.Kinds()))(t)
	defer local.Close()
	random, g := rand.New(rand.NewPCG(5, 6)), local.Game()
	// opened returns a table after a look-up, and calls do before each further request.
	opened := func(p game.Position, do func(part string)) *table.Table {
		ready := false
		tab := open(t, text, func(name string, from, to, size int64) ([]byte, error) {
			if ready {
				do(fmt.Sprint(name, from))
			}
			return s.get(name, from, to, size)
		})
		_, _, err := tab.Lookup(p)
		must.OK(t, err)
		ready = true
		return tab
	}
	for range 100 {
		p := randomPosition(g, random)
		moves, begins := g.Moves(nil, p), make(map[string]bool)
		for _, m := range moves {
			var parts []string
			_, _, err := opened(moves[0].To, func(part string) { parts = append(parts, part) }).Lookup(m.To)
			must.OK(t, err)
			if len(parts) > 0 {
				begins[parts[0]] = true
			}
		}
		if len(begins) < 2 {
			continue
		}
		var asked atomic.Int64
		two := make(chan bool)
		tab := opened(moves[0].To, func(string) {
			if asked.Add(1) == 2 {
				close(two)
			}
			<-two // never, if one request comes after the other
		})
		if got, want := must.Get(tab.Choices(p))(t), must.Get(local.Choices(p))(t); !slices.Equal(got, want) {
			t.Errorf("position %#x: %v, want %v", p, got, want)
		}
		return
	}
	t.Error("no position with two requests: a larger board is needed")
}

// TestSamePart reads the same part several times at once, with one request, and again after an error.
func TestSamePart(t *testing.T) {
	var gets atomic.Int64
	f := must.Get((&Table{Files: map[string]*File{"a": {Size: 3 * chunk}}}).FS(func(_ string, from, to, _ int64) ([]byte, error) {
		if gets.Add(1) == 1 {
			return nil, io.ErrClosedPipe
		}
		return make([]byte, to-from), nil
	}).Open("a"))(t)
	if _, err := f.ReadAt(make([]byte, 1), chunk); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
	}
	var all sync.WaitGroup
	for i := range int64(20) {
		all.Go(func() {
			if _, err := f.ReadAt(make([]byte, 1), chunk+i); err != nil {
				t.Error(err)
			}
		})
	}
	if all.Wait(); gets.Load() != 2 {
		t.Errorf("%d requests, want 2", gets.Load())
	}
}
