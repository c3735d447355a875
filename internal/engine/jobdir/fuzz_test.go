package jobdir_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/game/quickcross"
	"github.com/treereduce/treereduce/internal/engine/jobdir"
	"github.com/treereduce/treereduce/internal/engine/store"
	"github.com/treereduce/treereduce/internal/testing/must"
)

// FuzzReadIndex checks that ReadIndex returns either an error of one line that names the
// file, or a valid index: it belongs to the game, refers only to directories with the same
// predecessor, does not change when it is written and read again, and Next can extend it.
func FuzzReadIndex(f *testing.F) {
	g := must.Get(quickcross.New(4, 3, 3))(f)
	right := &jobdir.Index{Game: g.Spec(),
		Passes: []jobdir.Found{{Pass: "create", Step: "create", Number: 1, New: game.Tally{1}}, {Pass: "mark1", Step: "mark", Number: 1, New: game.Tally{24}, Messages: 24}},
		Runs:   []jobdir.Run{{First: 0, Dir: "mark1"}, {First: 3, Dir: "create"}}}
	dir := f.TempDir()
	must.OK(f, right.Write(store.Local{}, dir))
	whole := must.Get(os.ReadFile(filepath.Join(dir, store.IndexFile)))(f)
	f.Add(whole)
	text, err := json.Marshal(right) // without its checksum, which the test adds
	must.OK(f, err)
	f.Add(text)
	for _, change := range [][2]string{
		{`"step"`, `"qtep"`}, // a flipped bit: the unknown field must not be ignored
		{`"new"`, `"new2"`}, {`"first":3`, `"first":-3`}, {`"first":3`, `"first":9`}, {`"first":3`, `"first":0`},
		{`"dir":"create"`, `"dir":"../create"`}, {`"dir":"create"`, `"dir":""`}, {`"number":1`, `"number":99999999999999999999`},
		{`"pass":"mark1"`, `"pass":"../mark1"`}, {`[24,`, `[-24,`},
	} {
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if changed == string(text) {
			f.Fatalf("%s is not in %s", change[0], text)
		}
		f.Add([]byte(changed))
	}
	f.Add(append(bytes.Clone(text), "{}"...))
	f.Add(text[:len(text)/2])
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if summed, err := store.MarshalSummed(json.RawMessage(text)); err == nil && !bytes.Contains(text, []byte(`"sum"`)) {
			text = summed
		}
		dir := t.TempDir()
		name := filepath.Join(dir, store.IndexFile)
		must.OK(t, os.WriteFile(name, text, 0o666))
		x, err := jobdir.ReadIndex(store.Local{}, dir, g)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if x.Game != g.Spec() {
			t.Errorf("%q: taken for an index of %q", text, g.Spec())
		}
		for _, dir := range x.Dirs() {
			if filepath.Base(dir) != dir || dir == "." || dir == ".." {
				t.Errorf("%q: names %q", text, dir)
			}
		}
		must.OK(t, x.Write(store.Local{}, dir))
		if again, err := jobdir.ReadIndex(store.Local{}, dir, g); err != nil || !reflect.DeepEqual(again, x) {
			t.Errorf("%q: %+v, then %+v, %v", text, x, again, err)
		}
		next := x.Next(game.Ranges(g), jobdir.Found{Pass: "next"}, []uint64{1, 2, 8})
		covered := make(map[string]bool)
		for i, r := range next.Runs {
			if i == 0 && r.First != 0 || i > 0 && r.First <= next.Runs[i-1].First || r.First >= game.Ranges(g) {
				t.Errorf("%q: goes on with %v", text, next.Runs)
			}
			covered[r.Dir] = true
		}
		if !covered["next"] {
			t.Errorf("%q: goes on with %v, without the pass itself", text, next.Runs)
		}
		if states, err := jobdir.OpenStates(store.Local{}, dir, g); err == nil {
			states.Close()
			t.Errorf("%q: opens states that are not there", text)
		} else if strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
