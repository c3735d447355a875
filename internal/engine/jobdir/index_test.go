package jobdir

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// TestIndexNext compares the runs of an index with a list of all ranges.
func TestIndexNext(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for ranges := uint64(1); ranges < 40; ranges++ {
		x := &Index{Runs: []Run{{0, "create"}}}
		model := make([]string, ranges)
		for i := range model {
			model[i] = "create"
		}
		for pass := range 10 {
			name := fmt.Sprint("mark", pass)
			share := r.Float64()
			var written []uint64
			for rng := range ranges {
				if r.Float64() < share {
					written = append(written, rng)
					model[rng] = name
				}
			}
			x = x.Next(ranges, Found{Pass: name}, written)
			for rng, want := range model {
				if got := x.dirOf(uint64(rng)); got != want {
					t.Fatalf("range %d is in %s, want %s: %v", rng, got, want, x.Runs)
				}
			}
			for i, run := range x.Runs {
				if run.First >= ranges || i > 0 && (run.First <= x.Runs[i-1].First || run.Dir == x.Runs[i-1].Dir) {
					t.Fatalf("%v", x.Runs)
				}
			}
		}
	}
}

// TestReadIndexErrors checks the errors for damaged indexes.
func TestReadIndexErrors(t *testing.T) {
	g := must.Get(quickcross.New(3, 3, 3))(t)
	for text, want := range map[string]string{
		"":   "it is empty",
		"[]": "not what treereduce writes",
		`{"game":GAME,"passes":[{"qass":"mark1"}]}`:                                        `line 8: not what treereduce writes: json: unknown field "qass"`,
		`{"game":"connectn"}`:                                                              `of another game: expected "quickcross width=3 height=3 connect=3", found "connectn"`,
		`{"game":GAME,"passes":[{}],"runs":[]}`:                                            "no ranges",
		`{"game":GAME,"passes":[],"runs":[{"first":0,"dir":"create"}]}`:                    "no passes",
		`{"game":GAME,"passes":[{}],"runs":[{"first":1,"dir":"create"}]}`:                  "not in order",
		`{"game":GAME,"passes":[{}],"runs":[{"first":0,"dir":".."}]}`:                      `beside it, found ".."`,
		`{"game":GAME,"passes":[{}],"runs":[{"first":0,"dir":"/"}]}`:                       `beside it, found "/"`,
		`{"game":GAME,"passes":[{}],"runs":[{"first":0,"dir":"a/b"}]}`:                     `beside it, found "a/b"`,
		`{"game":GAME,"passes":[{}],"runs":[{"first":0,"dir":"a"},{"first":9,"dir":"b"}]}`: "not in order",
	} {
		dir := t.TempDir()
		text = strings.ReplaceAll(text, "GAME", strconv.Quote(g.Spec()))
		summed, err := store.MarshalSummed(json.RawMessage(text))
		if err != nil {
			summed = []byte(text)
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, store.IndexFile), summed, 0o666))
		if _, err := ReadIndex(store.Local{}, dir, g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// longFS makes files seem to have a length.
type longFS struct {
	store.Local
	length int64
}

type longFile struct {
	store.File
	length int64
}

type longInfo struct {
	fs.FileInfo
	length int64
}

func (f longFS) Open(name string) (store.File, error) {
	in, err := f.Local.Open(name)
	return longFile{in, f.length}, err
}

func (f longFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return longInfo{info, f.length}, err
}

func (i longInfo) Size() int64 { return i.length }

// TestIndexLength checks that the longest index of a game that can be solved can be read: one run
// for each range.
func TestIndexLength(t *testing.T) {
	x := &Index{Game: strings.Repeat("x", 1000), Passes: make([]Found, 3*64)}
	length := func() int64 {
		text := must.Get(store.MarshalSummed(x))(t)
		return int64(len(text))
	}
	before := length()
	const runs = 10
	for range runs {
		x.Runs = append(x.Runs, Run{First: game.MaxRanges, Dir: "solve63"})
	}
	longest := before + (length()-before+runs-1)/runs*game.MaxRanges
	name := filepath.Join(t.TempDir(), store.IndexFile)
	must.OK(t, os.WriteFile(name, nil, 0o666))
	if _, err := store.ReadFile(longFS{length: longest}, name); err != nil {
		t.Errorf("%d bytes: %v", longest, err)
	}
	if _, err := store.ReadFile(longFS{length: 2 * longest}, name); !store.Damaged(err) {
		t.Errorf("%d bytes: %v", 2*longest, err)
	}
}
